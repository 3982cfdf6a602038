#!lua name=ropeline_released
local PREFIX = 'rl_released_'
-- The rules of a room, as `ropeline-core` has them, in the words of Redis: a library of functions. Redis runs its text
-- once, when it is loaded: this file, the others in the order that `library.rs` has them in, and last one file for each
-- kind of transition, which registers the function that is called for it.
--
-- A call is one transition: it reads the room once into `R`, changes that, and `done` writes it back. Nothing here
-- looks at more than `look_max` places, so a large tick is spent by several calls; `more` in the answer asks for the
-- next one.
--
-- KEYS   1 room    string      as cmsgpack packs them: `version`, `issued`, `clock_last`, which nearly every call changes,
--                              and then a map of all else: state, policy, numbers, counters. A hash would take far longer
--                              to become a table; see `TEXT` for the fields that are not numbers
--        2 places  sorted set  visitor -> ordinal, for everybody in line, aside, at the door or inside
--        3 active  sorted set  ordinal -> when the pass runs out
--        4 since   hash        ordinal -> when the pass was given
--        5 aside   sorted set  ordinal -> when the missed turn is given up
--        6 door    sorted set  ordinal -> ordinal, served before the line
--        7 gone    bitmap      by ordinal - base: left, revoked, missed for good
--        8 done    bitmap      by ordinal - base: was inside and is no longer
--        9 seen0  10 seen1  11 seen2  bitmaps by ordinal - base: presence, round n in seen(n mod 3); but for those
--                              whom a join gave a place in that round, see `is_newly_given`
--       12 log     stream      <version>-1: what ended or moved in that version, and whether the state, a pause or
--                              the policy changed; versions that only gave places are not in it
--       13 keys0  14 keys1     hashes: idempotency key -> digest of the request, round n in keys(n mod 2)
--       15 imported 16 claimed bitmaps by ordinal - base: given by an import, and answered to a join since
-- ARGV   1 clock      milliseconds in the place of Redis's own clock, for tests; '' in production
--        2 look_max   places that one call looks at, and that it ends, at the most
--        3 base_trail how far `base`, below which no ending is remembered, trails `head`
--        4 base_step  by how much `base` moves on at a time
--        5 version    that the calling node shows, 6 its epoch, 7 its server; -1, 0 and '' if it shows none
--        8 ...        the command's own
-- Returns, packed by cmsgpack, { status, more, version, head, issued, room time, how many values of news, ... the news, ... the command's own }
--        status 'ok'; or, with nothing changed: 'missing' (no such room), 'fenced' (written on another server),
--        'frozen' (being moved; followed by why), 'deleted', 'held' (followed by milliseconds to wait), 'again' (a part
--        was done; call again)
--        news is what the node needs to show the room as it is after this call (see `tell`); with none it looks

-- While a library is loaded, it sees nothing of Lua but the means to register functions; and later, what is global is
-- found more slowly than a local variable. So the first call takes them all from here.
local function globals()
  return redis.call, tonumber, type, pairs, ipairs, unpack, setmetatable, string.format, string.match, string.sub,
    string.find, string.byte, table.concat, table.sort, math.floor, math.min, math.max, bit.band, bit.bor, bit.lshift,
    bit.rshift, cmsgpack.pack, cmsgpack.unpack, error
end
local call, tonumber, type, pairs, ipairs, unpack, setmetatable, format, match, sub, find_text, byte_at, concat, sort,
  floor, min, max, band, bor, lshift, rshift, pack, unpack_packed, error
local INFINITY = 1 / 0

-- The stock is a number, but may be larger than Lua can count to.
local TEXT = { state = true, server = true, digest = true, identity = true, frozen = true, stock = true }
-- What a room does not have is false. What is often asked for and seldom there is found without a call.
local NOTHING = { frozen = false, lost_after = false, lost_until = false, fresh = false, runs_out = false }
local ABSENT = { __index = NOTHING }

-- What belongs to one call. Variables of a library outlive it, also where it fails half way, so `start_call` sets every
-- one of them.
local KEYS, ARGV
local ROOM, PLACES, ACTIVE, SINCE, ASIDE, DOOR, GONE, DONE, LOG, IMPORTED, CLAIMED
-- The room, once it is read: what nearly every call changes, and all else, which is found and changed through it as well;
-- with the text of all else as long as nothing of it has changed.
local R, REST, rest_text
-- What it was then, of what settling may change for those who wait.
local head_before, base_before, admitted_before, lost_before
-- Room time, and the clock that it comes from.
local now, clock
-- Whether anything has changed that a view shows, whether that is the state, a pause or the policy, and what ended or
-- was set aside.
local visible, turned, ended_gone, ended_done, set_aside
-- Whether places were given: the last one is in line unless `head` has reached it.
local newcomers
-- Whether nothing else was done before settling.
local only_newcomers
-- Whether the room was settled, and whether nobody is at the door, if that was looked at.
local settled, door_empty

local function start_call(keys, args)
  if not call then
    call, tonumber, type, pairs, ipairs, unpack, setmetatable, format, match, sub, find_text, byte_at, concat, sort,
      floor, min, max, band, bor, lshift, rshift, pack, unpack_packed, error = globals()
    setmetatable(NOTHING, { __index = function() return false end })
  end
  KEYS, ARGV = keys, args
  ROOM, PLACES, ACTIVE, SINCE, ASIDE, DOOR = keys[1], keys[2], keys[3], keys[4], keys[5], keys[6]
  GONE, DONE, LOG, IMPORTED, CLAIMED = keys[7], keys[8], keys[12], keys[15], keys[16]
  R, REST, rest_text = nil, nil, nil
  head_before, base_before, admitted_before, lost_before = nil, nil, nil, nil
  now, clock = nil, nil
  visible, turned, ended_gone, ended_done, set_aside = false, false, {}, {}, {}
  newcomers, only_newcomers = false, false
  settled, door_empty = false, nil
end

-- Registers a function of the library, which is called by the prefix of this very text and its name. Redis refuses a
-- call beforehand where it could not write, unless a flag says that it may go on: 'no-writes', that it writes nothing;
-- 'allow-oom', that it may write where memory is short.
local function register(name, body, flag)
  redis.register_function{
    function_name = PREFIX .. name,
    callback = function(keys, args)
      start_call(keys, args)
      -- As one value, which is read far sooner than a list of them.
      return pack(body())
    end,
    flags = { flag },
  }
end

-- Which server this is.

-- A process has one run id from its start to its end, and Lua variables of its own: replicas are told what functions
-- wrote and run none themselves, and a library that comes with a log or a snapshot is loaded anew. So what was learnt
-- once is true for as long as it is remembered.
local known_run_id

-- The server that runs this call. A restart, a failover and a moved slot all change it.
local function run_id()
  known_run_id = known_run_id or match(call('INFO', 'server'), 'run_id:(%x+)')
  return known_run_id
end

-- The name under which the state is written from now on. The time makes two merges on one server distinct, so
-- that a node notices a merge that it had no part in.
local function this_server()
  local t = call('TIME')
  return run_id() .. '@' .. t[1] .. format('%06d', tonumber(t[2]))
end

-- Reading a room, writing it back, and what the node is told.

-- A number as Redis takes it. One that Redis itself has to write out costs it several times as much.
local function text(value)
  if type(value) == 'number' then return format('%d', value) end
  return value
end

-- Numbers that are needed again and again, with their texts: to write one out, or to read one, takes far longer than to
-- find it.
local known, known_count = {}, 0
local KNOWN_MAX = 500

local function know(from, to)
  if known_count == KNOWN_MAX then known, known_count = {}, 0 end
  known[from], known_count = to, known_count + 1
  return to
end

-- As `text` has a number, for one that comes again.
local function often(value)
  local written = known[value]
  if written then return written end
  written = format('%d', value)
  know(written, value)
  return know(value, written)
end

-- The number that an argument is, for one that comes again.
local function number(argument)
  return known[argument] or know(argument, tonumber(argument))
end

local DIGITS = { [0] = '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' }

-- Fills a list with the numbers from one to another, as `text` has each, at 1 and every `step` from there. Only every
-- tenth is written out.
local function fill(list, step, first, last)
  local tens, digit = '', first % 10
  if first >= 10 then tens = often((first - digit) / 10) end
  local at = 1
  for ordinal = first, last do
    list[at] = tens .. DIGITS[digit]
    at = at + step
    digit = digit + 1
    if digit == 10 then tens, digit = format('%d', (ordinal + 1) / 10), 0 end
  end
  return list
end

-- All else of a room is changed here, so that it is packed again only where it is another one.
local function change(_, field, value)
  if REST[field] == (value or false) then return end
  REST[field] = value
  rest_text = nil
end

local function take(version, issued, clock_last, rest)
  REST, rest_text = setmetatable(rest, ABSENT), nil
  R = setmetatable({ version = version, issued = issued, clock_last = clock_last }, { __index = REST, __newindex = change })
end

-- Takes a room from a table that has all of its fields; an empty one is a room of which nothing is known.
local function take_fields(all)
  local version, issued, clock_last = all.version or false, all.issued or false, all.clock_last or false
  all.version, all.issued, all.clock_last = nil, nil, nil
  take(version, issued, clock_last, all)
end

-- Rooms as they were last written, each with its text: where Redis still has that very text, there is no need to unpack
-- it. Who reads a room takes its text away, so that nobody else takes it for what is kept while that is changed; only
-- `save` gives one back. So a call that fails half way leaves nothing that differs from Redis.
local kept, kept_count = {}, 0
local KEPT_MAX = 256

local function keep(packed)
  local mine = kept[ROOM]
  if not mine then
    if kept_count == KEPT_MAX then kept, kept_count = {}, 0 end
    mine, kept_count = {}, kept_count + 1
    kept[ROOM] = mine
  end
  mine.text, mine.room, mine.rest, mine.rest_text = packed, R, REST, rest_text
end

local function unpack_room(packed)
  local version, issued, clock_last, rest = unpack_packed(packed)
  if not rest then error({ err = 'WRONGTYPE this is not a room' }) end
  take(version, issued, clock_last, rest)
end

local function read_room()
  local packed = call('GET', ROOM)
  if not packed then return take_fields({}) end
  local mine = kept[ROOM]
  if mine and mine.text == packed then
    R, REST, rest_text = mine.room, mine.rest, mine.rest_text
    mine.text = nil
  else
    unpack_room(packed)
  end
  head_before, base_before, admitted_before, lost_before = R.head, R.base, R.admitted, R.lost_after
end

-- Always: a `WAIT` behind a call that wrote nothing would confirm nothing.
local function save()
  rest_text = rest_text or pack(REST)
  local packed = pack(R.version, R.issued, R.clock_last) .. rest_text
  call('SET', ROOM, packed)
  keep(packed)
end

-- Whether the room was last written on another server than runs this call. A restart, a failover and a moved slot all
-- give it another name, which begins with the run id.
local function is_fenced()
  local id = run_id()
  return sub(R.server, 1, #id) ~= id
end

local function read_clock()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local t = call('TIME')
  return number(t[1]) * 1000 + floor(t[2] / 1000)
end

-- Room time at `clock`: never before the last transition.
local function room_time()
  return max(clock + R.clock_offset, R.clock_last)
end

-- Room time for a transition. If the clock went back, the offset grows and room time stands still.
local function advance_clock()
  now = room_time()
  if now == R.clock_last then R.clock_offset = R.clock_last - clock end
  R.clock_last = now
end

local function round_key(age)
  return KEYS[9 + (R.round - age) % 3]
end

local function keys_key(age)
  return KEYS[13 + (R.key_round - age) % 2]
end

local function turn_keys()
  R.key_round = R.key_round + 1
  R.key_round_started = now
  call('UNLINK', keys_key(0))
end

local KEY_ROUND_MS = 600000

-- Rounds end one at a time and only here, so an outage or a jump of the clock makes nobody absent. A key is remembered
-- for one to two rounds.
local function turn_rounds()
  if R.presence_ttl > 0 and now >= R.round_started + floor(R.presence_ttl / 2) then
    R.given2, R.given1, R.given0 = R.given1, R.given0, R.issued
    R.round = R.round + 1
    R.round_started = now
    call('UNLINK', round_key(0))
  end
  if now >= R.key_round_started + KEY_ROUND_MS then
    local silent = now >= R.key_round_started + KEY_ROUND_MS * 2
    turn_keys()
    if silent then turn_keys() end
  end
end

local function bit_at(key, ordinal)
  return ordinal > R.base and call('GETBIT', key, ordinal - R.base) == 1
end

-- Whether an import gave the place and no join has asked for it yet.
local function is_unclaimed(ordinal)
  return bit_at(IMPORTED, ordinal) and not bit_at(CLAIMED, ordinal)
end

local function in_line()
  return call('ZCOUNT', PLACES, '(' .. text(R.head), '+inf')
end

-- When the first pass or missed turn of a set runs out.
local function earliest(key)
  local at = call('ZRANGE', key, '0', '0', 'WITHSCORES')[2]
  return at and tonumber(at) or INFINITY
end

-- No pass and no missed turn runs out before `runs_out`. It is looked up anew only when that time has come: a pass that
-- was renewed meanwhile is then found to last longer.
local function look_up_runs_out()
  local at = min(earliest(ACTIVE), earliest(ASIDE))
  R.runs_out = at < INFINITY and at or nil
end

local function runs_out_by(at)
  if at < (R.runs_out or INFINITY) then R.runs_out = at end
end

-- When settling has something to do next, or -1.
local function next_due()
  local due = R.runs_out or INFINITY
  local line = R.head < R.issued
  if R.paused == 0 and (line or not (door_empty or call('ZCARD', DOOR) == 0)) then due = min(due, R.tick_start + R.every) end
  if line and R.presence_ttl > 0 then
    due = min(due, R.round_started + floor(R.presence_ttl / 2))
  end
  due = min(due, R.lost_until or due)
  return due == INFINITY and -1 or due
end

-- Entries that are read from the log at the most.
local LOG_PAGE = 256

-- What ended or was set aside since a version, as three texts, and whether more than numbers has changed since; nil if
-- the log does not reach back so far. A stream that was trimmed does not say so itself, so each entry names the one
-- before it.
local function ended_since(version)
  if version > R.version then return end
  if version >= R.logged then return { '', '', '' }, false end
  local entries = call('XRANGE', LOG, text(version + 1) .. '-1', '+', 'COUNT', LOG_PAGE)
  local last = entries[#entries]
  if not last or last[1] ~= text(R.logged) .. '-1' or tonumber(entries[1][2][2]) > version then return end
  local ended, more = { gone = {}, done = {}, aside = {} }, false
  for _, entry in ipairs(entries) do
    local fields = entry[2]
    for i = 1, #fields, 2 do
      local list = ended[fields[i]]
      if list then
        list[#list + 1] = fields[i + 1]
      elseif fields[i] == 'turned' then
        more = true
      end
    end
  end
  return { concat(ended.gone, ' '), concat(ended.done, ' '), concat(ended.aside, ' ') }, more
end

-- Whether this call gave places and did nothing else that a view shows: settling has let nobody in, and ended and set
-- aside nobody.
local function is_calm()
  return only_newcomers and not turned and R.head == head_before and R.base == base_before
    and R.admitted == admitted_before and R.lost_after == lost_before
    and #ended_gone + #ended_done + #set_aside == 0
end

-- What does not change without a new version.
local THEN = { 'floor', 'base', 'lost_after', 'lost_until', 'joins_held_until', 'imported_until', 'stock', 'stock_version',
  'admitted', 'departed', 'expired', 'finished', 'left', 'revoked', 'stepped_over', 'missed', 'restored', 'stayed_ms' }

-- Writes behind an answer's `told` values what a node needs to show the room as it is now, if it shows an earlier version
-- of it: what has to do with the tick and the rounds, next due; and if more than `issued` has changed since, the fields
-- of THEN, how many are inside, aside, at the door, what ended since: gone, done, set aside. A field that is absent is
-- -1. Nothing else changes without `turned`. Says how many values that are; with none, the node looks.
local function tell(list, told)
  local shown = number(ARGV[5])
  if shown < 0 or not settled or ARGV[7] ~= R.server or number(ARGV[6]) ~= R.epoch then return 0 end
  local behind = R.version - shown
  local ended, more
  if behind == 0 then
    more = turned
  elseif behind < 0 or shown < R.logged then
    if behind == 1 and visible then
      ended, more = { concat(ended_gone, ' '), concat(ended_done, ' '), concat(set_aside, ' ') }, turned
    else
      ended, more = ended_since(shown)
      if not ended then return 0 end
    end
  end
  if more then return 0 end
  list[told + 1], list[told + 2], list[told + 3] = R.tick_start, R.tick_admitted, R.tick_extra
  list[told + 4], list[told + 5] = R.round, R.round_started
  list[told + 6], list[told + 7] = R.key_round, R.key_round_started
  list[told + 8] = next_due()
  if not ended then return 8 end
  local at = told + 8
  for i = 1, #THEN do
    list[at + i] = R[THEN[i]] or -1
  end
  at = at + #THEN
  list[at + 1], list[at + 2], list[at + 3] = call('ZCARD', ACTIVE), call('ZCARD', ASIDE), call('ZCARD', DOOR)
  list[at + 4], list[at + 5], list[at + 6] = ended[1], ended[2], ended[3]
  return at + 6 - told
end

local function answer(status, more, ...)
  return { status, more and 1 or 0, R.version or 0, R.head or 0, R.issued or 0, now or 0, 0, ... }
end

-- What the log has of this version besides numbers.
local function happened()
  local entry, at = {}, 0
  if #ended_gone > 0 then entry[at + 1], entry[at + 2], at = 'gone', concat(ended_gone, ' '), at + 2 end
  if #ended_done > 0 then entry[at + 1], entry[at + 2], at = 'done', concat(ended_done, ' '), at + 2 end
  if #set_aside > 0 then entry[at + 1], entry[at + 2], at = 'aside', concat(set_aside, ' '), at + 2 end
  if turned then entry[at + 1], entry[at + 2] = 'turned', R.state end
  return entry
end

-- Views that fall further behind take a snapshot.
local LOG_MAX = '4096'

-- Writes the room, tells the views, and answers; with at most two values of the command's own.
local function done(more, first, second)
  if visible then
    R.version = R.version + 1
    if not is_calm() then
      call('XADD', LOG, 'MAXLEN', '~', LOG_MAX, text(R.version) .. '-1', 'after', text(R.logged), unpack(happened()))
      R.logged = R.version
    end
  end
  local list = { 'ok', more and 1 or 0, R.version, R.head, R.issued, now or 0, 0 }
  local told = tell(list, 7)
  save()
  list[7], list[8 + told], list[9 + told] = told, first, second
  return list
end

-- Reads the room. Gives an answer at once if nothing may be changed.
local function open()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  if R.frozen then return answer('frozen', false, R.frozen) end
  if is_fenced() then return answer('fenced') end
  if R.state == 'deleted' then return answer('deleted') end
  advance_clock()
  turn_rounds()
end

-- The room itself, for whom numbers about it are not enough.

-- Its fields, each followed by its value; none that is absent.
local function fields()
  local flat = { 'version', R.version, 'issued', R.issued, 'clock_last', R.clock_last }
  local at = #flat
  for field, value in pairs(REST) do
    flat[at + 1], flat[at + 2] = field, value
    at = at + 2
  end
  return flat
end

-- Settling, which ends every transition: what ran out is ended, and those whose turn it is are let in.

-- Arguments of commands. A list that grows takes time, so these are filled anew by each call and never emptied: who
-- fills one says how far it goes, and what lies behind that is not looked at.
local set, passes, since = {}, {}, {}

-- Writes down how many places ended. Neighbours are dropped together.
local function end_many(ordinals, how)
  local bits, list = GONE, ended_gone
  if how == 'done' then bits, list = DONE, ended_done end
  for i = 1, #ordinals do ordinals[i] = tonumber(ordinals[i]) end
  sort(ordinals)
  local base, from, at, ended = R.base, 1, 0, #list
  for i = 1, #ordinals do
    local ordinal = ordinals[i]
    set[at + 1] = 'SET'
    set[at + 2] = 'u1'
    set[at + 3] = text(ordinal - base)
    set[at + 4] = '1'
    at = at + 4
    list[ended + i] = text(ordinal)
    if ordinals[i + 1] ~= ordinal + 1 then
      call('ZREMRANGEBYSCORE', PLACES, text(ordinals[from]), text(ordinal))
      from = i + 1
    end
  end
  call('BITFIELD', bits, unpack(set, 1, at))
  visible = true
end

-- Ends up to `most` passes that ran out; says how many.
local function expire_due(most)
  local due = call('ZRANGEBYSCORE', ACTIVE, '-inf', now, 'LIMIT', 0, most)
  if #due == 0 then return 0 end
  call('ZREM', ACTIVE, unpack(due))
  for _, since in ipairs(call('HMGET', SINCE, unpack(due))) do
    if since then
      R.inside_since = R.inside_since - (tonumber(since) - R.epoch)
      R.stayed_ms = R.stayed_ms + max(0, now - tonumber(since))
    end
  end
  call('HDEL', SINCE, unpack(due))
  R.expired = R.expired + #due
  R.departed = R.departed + #due
  end_many(due, 'done')
  return #due
end

-- Ends up to `most` missed turns that are given up; says how many.
local function miss_due(most)
  local due = call('ZRANGEBYSCORE', ASIDE, '-inf', now, 'LIMIT', 0, most)
  if #due == 0 then return 0 end
  call('ZREM', ASIDE, unpack(due))
  R.missed = R.missed + #due
  end_many(due, 'gone')
  return #due
end

-- Ends passes and missed turns that ran out; says whether that was all of them.
local function sweep()
  if (R.runs_out or INFINITY) > now then return true end
  local most = number(ARGV[2])
  local looked = expire_due(most)
  if looked < most then miss_due(most - looked) end
  look_up_runs_out()
  return (R.runs_out or INFINITY) > now
end

-- One tick, however many were missed: no burst makes up for a pause or an outage.
local function turn_tick()
  local passed = floor(max(0, now - R.tick_start) / R.every)
  if passed > 0 then
    R.tick_start = R.tick_start + passed * R.every
    R.tick_admitted = 0
    R.tick_extra = 0
  end
end

-- How many may be admitted at this instant.
local function budget()
  if R.paused == 1 then return 0 end
  local by_tick, by_cap = INFINITY, INFINITY
  if R.batch then by_tick = max(0, R.batch + R.tick_extra - R.tick_admitted) end
  if by_tick > 0 and R.active_max then by_cap = max(0, R.active_max - call('ZCARD', ACTIVE)) end
  return min(by_tick, by_cap)
end

local function enter(ordinals)
  local count = #ordinals
  if count == 0 then return end
  local expires_at, admitted_at = text(now + R.pass_ttl), text(now)
  for i = 1, count do
    local ordinal = ordinals[i]
    passes[2 * i - 1] = expires_at
    passes[2 * i] = ordinal
    since[2 * i - 1] = ordinal
    since[2 * i] = admitted_at
  end
  call('ZADD', ACTIVE, unpack(passes, 1, 2 * count))
  call('HSET', SINCE, unpack(since, 1, 2 * count))
  runs_out_by(now + R.pass_ttl)
  R.inside_since = R.inside_since + count * (now - R.epoch)
  R.tick_admitted = R.tick_admitted + count
  R.admitted = R.admitted + count
end

-- Whose turn it is: the door comes first, then the line, up to where places may be lost. At most `most`
-- ordinals, whether they are at the door, and the first of them if they are neighbours.
local function next_ones(most)
  local door = call('ZRANGE', DOOR, 0, most - 1)
  if #door > 0 then return door, true end
  local first, last = R.head + 1, min(R.head + most, R.lost_after or R.issued)
  if first > last then return {}, false end
  -- Where nobody has left, the next ones are neighbours, whom it is enough to count.
  local width = last - first + 1
  if call('ZCOUNT', PLACES, text(first), text(last)) == width then return fill({}, 1, first, last), false, first end
  local to = '+inf'
  if R.lost_after then to = text(R.lost_after) end
  local line = call('ZRANGEBYSCORE', PLACES, text(first), to, 'WITHSCORES', 'LIMIT', 0, most)
  local ordinals = {}
  for i = 2, #line, 2 do ordinals[i / 2] = line[i] end
  return ordinals, false
end

-- Who was heard of in the last three rounds, a byte for eight neighbours. Those whose turn it is are mostly close
-- together, so the rounds are read in stretches. Each time that people are let in begins with none, since marks may
-- have come in between.
local STRETCH = 64
local stretch_from, round0, round1, round2

local function forget_stretch()
  stretch_from, round0, round1, round2 = INFINITY, nil, nil, nil
end

local function read_stretch(from)
  local first, last = text(from), text(from + STRETCH - 1)
  round0 = call('GETRANGE', round_key(0), first, last)
  round1 = call('GETRANGE', round_key(1), first, last)
  round2 = call('GETRANGE', round_key(2), first, last)
  stretch_from = from
end

-- Eight neighbours at a time: who of them was heard of.
local function heard_of(byte_no)
  if byte_no < stretch_from or byte_no >= stretch_from + STRETCH then read_stretch(byte_no) end
  local at = byte_no - stretch_from + 1
  return bor(byte_at(round0, at) or 0, byte_at(round1, at) or 0, byte_at(round2, at) or 0)
end

-- Whether a join gave the place in the last three rounds: its holder was there then, and no bit says so.
local function is_newly_given(ordinal)
  return ordinal > R.given2 and not (ordinal <= R.imported_last and bit_at(IMPORTED, ordinal))
end

-- Whether all from one ordinal to another are there.
local function all_there(first, last)
  if first > R.given2 and first > R.imported_last then return true end
  local first_bit, last_bit = first - R.base, last - R.base
  local first_byte, last_byte = floor(first_bit / 8), floor(last_bit / 8)
  for byte_no = first_byte, last_byte do
    local wanted = 255
    if byte_no == first_byte then wanted = rshift(255, first_bit % 8) end
    if byte_no == last_byte then wanted = band(wanted, lshift(255, 7 - last_bit % 8)) end
    if band(heard_of(byte_no), wanted) ~= wanted then return false end
  end
  return true
end

-- Splits ordinals, of which the first is `first` if they are neighbours, into those who are there and those who are
-- not.
local function by_presence(ordinals, first)
  if R.presence_ttl == 0 then return ordinals, {} end
  if first and all_there(first, first + #ordinals - 1) then return ordinals, {} end
  local imports, present, absent = now < R.imported_until, {}, {}
  local last, heard = -1, 0
  for i = 1, #ordinals do
    local bit_no = ordinals[i] - R.base
    local in_byte = bit_no % 8
    local byte_no = (bit_no - in_byte) / 8
    if byte_no ~= last then last, heard = byte_no, heard_of(byte_no) end
    local there = band(heard, rshift(128, in_byte)) ~= 0 or is_newly_given(bit_no + R.base)
    local list = (there or (imports and is_unclaimed(bit_no + R.base))) and present or absent
    list[#list + 1] = ordinals[i]
  end
  return present, absent
end

-- A missed turn is kept for `missed_turn_ttl`; with none, the place is gone at once.
local function step_aside(ordinals)
  if #ordinals == 0 then return end
  R.stepped_over = R.stepped_over + #ordinals
  if R.missed_turn_ttl == 0 then
    R.missed = R.missed + #ordinals
    return end_many(ordinals, 'gone')
  end
  local turns, given_up = {}, now + R.missed_turn_ttl
  for _, ordinal in ipairs(ordinals) do
    turns[#turns + 1] = text(given_up)
    turns[#turns + 1] = ordinal
    set_aside[#set_aside + 1] = ordinal
  end
  call('ZADD', ASIDE, unpack(turns))
  runs_out_by(given_up)
end

-- Takes the next ones while budget is left; says whether it stopped for having looked at enough.
local function admit()
  -- Where nobody is in line, the door alone says whether there is anybody to let in.
  if R.head >= (R.lost_after or R.issued) then
    door_empty = call('ZCARD', DOOR) == 0
    if door_empty then return false end
  end
  local left = budget()
  if left == 0 then return false end
  forget_stretch()
  local looks = number(ARGV[2])
  while looks > 0 and left > 0 do
    local ordinals, at_door, first = next_ones(min(left, looks))
    if #ordinals == 0 then return false end
    looks = looks - #ordinals
    visible = true
    if at_door then
      call('ZREM', DOOR, unpack(ordinals))
    else
      R.head = tonumber(ordinals[#ordinals])
    end
    local present, absent = by_presence(ordinals, first)
    enter(present)
    step_aside(absent)
    left = budget()
  end
  return left > 0 and #next_ones(1) > 0
end

local function set_state(state)
  if R.state ~= state then visible, turned = true, true end
  R.state = state
end

local function shift(key, bytes)
  local rest = call('GETRANGE', key, bytes, -1)
  if rest == '' then call('UNLINK', key) else call('SET', key, rest) end
end

-- Moves all bitmaps to another `base`.
local function set_base(base)
  local bytes = (base - R.base) / 8
  if bytes == 0 then return end
  for i = 7, 11 do shift(KEYS[i], bytes) end
  shift(IMPORTED, bytes)
  shift(CLAIMED, bytes)
  R.base = base
end

-- With nobody in line, what lies above `head` is gone, or lost and past its time: `head` catches up. The line runs
-- empty by nothing that is not visible.
local function step_over_an_empty_line()
  if visible and R.head < R.issued and not R.lost_after and not newcomers and in_line() == 0 then
    R.head = R.issued
    visible = true
  end
end

-- Endings of places far below `head` are forgotten, but never those above a place that is live.
local function advance_base()
  local trail, step = number(ARGV[3]), number(ARGV[4])
  while R.head - R.base >= trail + step do
    local lowest = call('ZRANGE', PLACES, 0, 0, 'WITHSCORES')[2]
    if lowest and tonumber(lowest) <= R.base + step then return end
    set_base(R.base + step)
  end
end

-- The end of every transition, and the one place where people are let in. Says whether more is to be done.
local function settle()
  -- A mark may have brought somebody to the door since the call settled last.
  door_empty = nil
  local swept = sweep()
  turn_tick()
  if R.lost_after and now >= R.lost_until then
    R.lost_after, R.lost_until = nil, nil
    visible = true
  end
  -- Passes that ran out but are not swept yet would count against the cap.
  local more = not swept or admit()
  settled = true
  step_over_an_empty_line()
  if R.state == 'draining' and call('ZCARD', PLACES) == 0 then set_state('closed') end
  advance_base()
  return more
end

-- As `open`, for a call that gives places: while joins are held it settles and does nothing else.
local function open_for_newcomers()
  local refused = open()
  if refused then return refused end
  if now >= R.joins_held_until then return end
  local wait = R.joins_held_until - now
  local more = settle()
  done(more)
  return answer('held', more, wait)
end

-- What is true of one place, and what may become of it.

local function find(visitor)
  return tonumber(call('ZSCORE', PLACES, visitor) or nil)
end

local function holds(ordinal)
  return call('ZCOUNT', PLACES, ordinal, ordinal) > 0
end

-- A live place: its state, and the times that this state has: inside, when the pass runs out and when it was given;
-- aside, when the missed turn is given up.
local function live_at(ordinal)
  if ordinal > R.head then return 'line' end
  local expires_at = tonumber(call('ZSCORE', ACTIVE, ordinal) or nil)
  if expires_at then
    if expires_at <= now then return 'done' end
    return 'inside', expires_at, tonumber(call('HGET', SINCE, ordinal) or expires_at)
  end
  local given_up = tonumber(call('ZSCORE', ASIDE, ordinal) or nil)
  if given_up then
    if given_up <= now then return 'gone' end
    return 'aside', given_up
  end
  return 'door'
end

-- Where a holder stands: a live state, 'gone', 'done', 'lost' (a write was lost) or 'unknown' (never given).
local function standing(visitor, ordinal)
  if find(visitor) == ordinal then return live_at(ordinal) end
  -- From the ordinal alone: below `base` all are long done, up to `floor` a reset put everybody out.
  if ordinal <= R.base or bit_at(DONE, ordinal) then return 'done' end
  if ordinal <= R.floor or bit_at(GONE, ordinal) then return 'gone' end
  if ordinal > R.issued then return 'unknown' end
  -- Given to somebody else: a node that was cut off while the others merged has signed it too. Who ran out is done,
  -- whether or not settling has come to them.
  if holds(ordinal) then return live_at(ordinal) == 'done' and 'done' or 'gone' end
  return 'lost'
end

-- `inside_since` is the sum of all times of admission, counted from the epoch, so that a reset knows how long
-- everybody stayed without looking at anybody.
local function note_stay(ordinal)
  local since = tonumber(call('HGET', SINCE, ordinal) or nil)
  if not since then return end
  call('HDEL', SINCE, ordinal)
  R.inside_since = R.inside_since - (since - R.epoch)
  R.stayed_ms = R.stayed_ms + max(0, now - since)
end

-- Ends a place in whatever live state it is, or a lost one.
local function end_place(ordinal, how)
  if call('ZREM', ACTIVE, ordinal) == 1 then
    note_stay(ordinal)
    R.departed = R.departed + 1
  elseif call('ZREM', ASIDE, ordinal) == 0 then
    call('ZREM', DOOR, ordinal)
  end
  call('ZREMRANGEBYSCORE', PLACES, ordinal, ordinal)
  local bits, list = GONE, ended_gone
  if how == 'done' then bits, list = DONE, ended_done end
  if ordinal > R.base then call('SETBIT', bits, ordinal - R.base, 1) end
  list[#list + 1] = text(ordinal)
  visible = true
end

-- A pass that ran out is no place, even before it was swept.
local function end_if_expired(place)
  if not place or place > R.head then return place end
  local expires_at = tonumber(call('ZSCORE', ACTIVE, place) or nil)
  if not expires_at or expires_at > now then return place end
  R.expired = R.expired + 1
  end_place(place, 'done')
end

-- Notes that the holder of a live place is there; one who missed a turn is at the door again.
local function mark(ordinal)
  local given_up
  if ordinal <= R.head then
    if call('ZSCORE', ACTIVE, ordinal) then return end
    given_up = tonumber(call('ZSCORE', ASIDE, ordinal) or nil)
    if given_up and given_up <= now then return end
  end
  call('SETBIT', round_key(0), ordinal - R.base, 1)
  if given_up then
    call('ZREM', ASIDE, ordinal)
    call('ZADD', DOOR, ordinal, ordinal)
    visible = true
  end
end

-- What is done to a whole room: it begins, everybody is put out, or it is deleted.

-- An operator's word and a merge look at no more than so many places in one call.
local PART_MAX = 1000
-- From the first merge joins are held so long, and holders of lost places have at least so long to ask again.
local JOIN_HOLD_MS, LOST_MIN_MS = 1000, 60000
local COUNTERS = { 'admitted', 'departed', 'expired', 'finished', 'left', 'revoked', 'stepped_over', 'missed',
  'restored', 'stayed_ms' }
local POLICY = { 'every', 'batch', 'active_max', 'pass_ttl', 'pass_max', 'presence_ttl', 'missed_turn_ttl',
  'waiting_max', 'identity' }

-- The value of a field as an argument has it; '' is absent.
local function value_at(at, field)
  local value = ARGV[at]
  if value == '' then return false end
  if TEXT[field] then return value end
  return tonumber(value)
end

-- A room that begins now. `from` is where its policy starts in ARGV.
local function begin(from, at)
  for i, field in ipairs(POLICY) do R[field] = value_at(from + i - 1, field) or nil end
  for _, field in ipairs(COUNTERS) do R[field] = 0 end
  R.epoch, R.state, R.paused, R.digest = at, 'open', 0, nil
  R.stock, R.stock_version = nil, nil
  R.issued, R.head, R.floor, R.base, R.inside_since = 0, 0, 0, 0, 0
  R.tick_start, R.tick_admitted, R.tick_extra = at, 0, 0
  R.round, R.round_started, R.key_round, R.key_round_started = 0, at, 0, at
  R.given0, R.given1, R.given2, R.imported_last = 0, 0, 0, 0
  R.logged, R.runs_out = R.logged or 0, nil
  R.lost_after, R.lost_until, R.joins_held_until, R.imported_until = nil, nil, 0, 0
end

-- Everybody out, whatever the length of the line, by one number: `floor`. Says whether it was done; passes
-- that ran out are ended as such first, and there may be too many of them for one call.
local function reset()
  if expire_due(PART_MAX) == PART_MAX then return false end
  local inside = call('ZCARD', ACTIVE)
  R.departed = R.departed + inside
  R.stayed_ms = R.stayed_ms + inside * (now - R.epoch) - R.inside_since
  R.revoked = R.revoked + call('ZCARD', PLACES)
  R.inside_since = 0
  R.floor, R.head = R.issued, R.issued
  R.lost_after, R.lost_until = nil, nil
  call('UNLINK', PLACES, ACTIVE, SINCE, ASIDE, DOOR)
  visible = true
  return true
end

-- Everybody out, and nothing remembered but the name and the numbers: tokens of before stay ended.
local function delete()
  if not reset() then return false end
  R.state, R.paused, R.digest = 'deleted', 0, nil
  R.stock, R.stock_version = nil, nil
  turned = true
  for i = 7, 16 do
    if i ~= 12 then call('UNLINK', KEYS[i]) end
  end
  ended_gone, ended_done, set_aside = {}, {}, {}
  return true
end

do
-- Visitors ask for a place, in this order.
--
-- KEYS   17 the node's note of its last batch in this lane: "<number> <first ordinal> <last ordinal> ,<claimed
--          ordinals>,", gone after ten minutes
-- ARGV   8 number of this batch, rising per node; a batch that is sent again has the same number
--        9 'first', or 'again' if it may have been here before
--        10 how many visitors, 11 ... the visitors
--        then for each who has an idempotency key: which visitor it is, the key, digest of the request
-- Returns for each: what became of it ('new', 'already', 'repeated', 'claimed', 'reused', 'closed',
--        'full'), its ordinal or 0, where the place stands after settling, and the times that `live_at` has for that;
--        in a list; or, if all are new and in line, which is usual, without one: 'all', the first ordinal

-- A batch's note is kept for ten minutes, and a round of keys that is full ends early.
local NOTE_TTL_S, KEYS_MAX = '600', 2000000
-- Where the visitors begin in ARGV.
local FIRST = 11

-- What belongs to one batch; `start_batch` sets all of it.
local count
-- What the first sending of this batch gave out, if its answer was lost on the way: those are new.
local sent_before, note, first, last
local issued_before
-- No more than these wait; they are counted once it matters.
local waiting, counted
-- New places up to this one are written.
local written
-- What is not there where all are taken in at once, which is usual; `start_lists` makes it. The keys that are asked for,
-- by which visitor each and with which body:
local asked, key_of, body_of
-- Who has a place, and which keys are known, read for all at once:
local held, bodies
-- Visitors with new places, which are neighbours and in this order, and new keys, written for all at once:
local placed, keys
-- Places of an import that were claimed:
local claims

local function start_batch()
  count = number(ARGV[10])
  sent_before, note, first, last = false, '', 0, -1
  issued_before = R.issued
  waiting, counted = R.issued - R.head, false
  written = R.issued
  asked, key_of, body_of, held, bodies, placed, keys, claims = nil, nil, nil, nil, nil, nil, nil, nil
end

local function start_lists()
  asked, key_of, body_of, held, bodies, placed, keys, claims = {}, {}, {}, {}, {}, {}, {}, {}
end

local function read_note()
  note = call('GET', KEYS[17]) or ''
  local noted, from, to = match(note, '^(%d+) (%d+) (%d+) ')
  sent_before = noted == ARGV[8]
  if sent_before then first, last = tonumber(from), tonumber(to) end
end

local function has_keys()
  return #ARGV >= FIRST + count
end

local function read_keys()
  for at = FIRST + count, #ARGV, 3 do
    local i = tonumber(ARGV[at])
    key_of[i], body_of[i] = ARGV[at + 1], ARGV[at + 2]
    asked[#asked + 1] = ARGV[at + 1]
  end
  if call('HLEN', keys_key(0)) >= KEYS_MAX then turn_keys() end
  local current, previous = call('HMGET', keys_key(0), unpack(asked)), call('HMGET', keys_key(1), unpack(asked))
  for i = 1, #asked do bodies[asked[i]] = current[i] or previous[i] or nil end
end

local function read_places()
  local found = call('ZMSCORE', PLACES, unpack(ARGV, FIRST, FIRST + count - 1))
  held = {}
  for i = 1, count do
    local place = found[i]
    if place then held[ARGV[FIRST - 1 + i]] = tonumber(place) end
  end
end

-- Arguments of a command; see `settling.lua`.
local places = {}

-- Writes the new places, whose visitors begin at `from` of a list. Says whether all of them are in line now, which they
-- are unless somebody has a place already or is among them twice.
local function write_places(visitors, from)
  local new = R.issued - written
  if new == 0 then return true end
  fill(places, 2, written + 1, R.issued)
  for i = 1, new do places[2 * i] = visitors[from - 1 + i] end
  if call('ZADD', PLACES, 'NX', unpack(places, 1, 2 * new)) < new then return false end
  newcomers, visible, written = true, true, R.issued
  return true
end

local function write()
  write_places(placed, 1)
  if #keys > 0 then call('HSET', keys_key(0), unpack(keys)) end
  placed, keys = {}, {}
end

local function remember(key, body)
  if not key then return end
  bodies[key] = body
  local at = #keys
  keys[at + 1], keys[at + 2] = key, body
end

local function is_full()
  if waiting >= R.waiting_max and not counted then
    write()
    waiting, counted = in_line(), true
  end
  if waiting >= R.waiting_max then
    -- Those before in the same batch may not have been let in yet.
    write()
    settle()
    read_places()
    waiting = in_line()
  end
  return waiting >= R.waiting_max
end

-- The visitor has a place.
local function again(place, key, body)
  if sent_before and place >= first and place <= last then return 'new', place end
  if bodies[key] then return 'repeated', place end
  if is_unclaimed(place) then
    remember(key, body)
    call('SETBIT', CLAIMED, place - R.base, 1)
    mark(place)
    claims[#claims + 1] = text(place)
    return 'claimed', place
  end
  if sent_before and find_text(note, ',' .. text(place) .. ',', 1, true) then return 'claimed', place end
  return 'already', place
end

local function join(visitor, key, body)
  local known = bodies[key]
  if known and known ~= body then return 'reused', 0 end
  -- A place of this very batch cannot have run out.
  local place = held[visitor]
  if place then
    if place <= issued_before then place = end_if_expired(place) end
    held[visitor] = place
    if place then return again(place, key, body) end
  end
  if R.state ~= 'open' then return 'closed', 0 end
  if is_full() then return 'full', 0 end
  remember(key, body)
  waiting = waiting + 1
  place = R.issued + 1
  R.issued, held[visitor], placed[place - written] = place, place, visitor
  return 'new', place
end

-- What is usual: there are no keys, nobody has a place yet, and there is room for all. Says whether it was so, which
-- shows when they are written.
local function take_in_all()
  if has_keys() or R.state ~= 'open' or waiting + count > R.waiting_max then return false end
  R.issued = issued_before + count
  only_newcomers = write_places(ARGV, FIRST)
  if only_newcomers then return true end
  call('ZREMRANGEBYSCORE', PLACES, '(' .. text(issued_before), '+inf')
  R.issued = issued_before
  return false
end

-- What became of each, and the ordinal of each.
local function take_in_each()
  start_lists()
  if has_keys() then read_keys() end
  read_places()
  local what, ordinals = {}, {}
  for i = 1, count do what[i], ordinals[i] = join(ARGV[FIRST - 1 + i], key_of[i], body_of[i]) end
  write()
  return what, ordinals
end

local function write_note()
  local claimed = claims and concat(claims, ',') or ''
  if R.issued == issued_before and claimed == '' then return end
  if R.fresh then R.fresh = nil end
  local given = ARGV[8] .. ' ' .. often(issued_before + 1) .. ' ' .. often(R.issued) .. ' ,' .. claimed .. ','
  call('SET', KEYS[17], given, 'EX', NOTE_TTL_S)
end

register('join', function()
  local refused = open_for_newcomers()
  if refused then return refused end
  start_batch()
  if ARGV[9] == 'again' then read_note() end
  local what, ordinals
  if not take_in_all() then what, ordinals = take_in_each() end
  if not sent_before then write_note() end
  local more = settle()
  if R.issued - issued_before == count and issued_before >= R.head then
    return done(more, 'all', issued_before + 1)
  end
  local results, at, head = {}, 0, R.head
  for i = 1, count do
    local ordinal = ordinals and ordinals[i] or issued_before + i
    results[at + 1], results[at + 2] = what and what[i] or 'new', ordinal
    if ordinal > head then
      results[at + 3] = 'line'
      at = at + 3
    elseif ordinal == 0 then
      results[at + 3] = 'unknown'
      at = at + 3
    else
      results[at + 3], results[at + 4], results[at + 5] = standing(ARGV[FIRST - 1 + i], ordinal)
      at = #results
    end
  end
  return done(more, results)
end)
end
do
-- Holders ask where they stand.
--
-- ARGV   8 ... for each: 'renew' (the gate: a live pass is renewed) or 'ask' (nothing is renewed), visitor, ordinal.
--          In both, a place aside comes to the door and a lost one is put back.
-- Returns for each: where it stands after settling, and the times that `live_at` has for that

-- Puts a lost place back. It was counted as waiting all the time, so nobody's `ahead` changes. If the visitor
-- has joined again meanwhile, the lower ordinal stays and the other is gone; but whoever is inside stays.
local function put_back(visitor, ordinal)
  local other = end_if_expired(find(visitor))
  if other then
    if other < ordinal or call('ZSCORE', ACTIVE, other) then return end_place(ordinal, 'gone') end
    end_place(other, 'gone')
  end
  call('ZADD', PLACES, ordinal, visitor)
  if ordinal <= R.head then call('ZADD', DOOR, ordinal, ordinal) end
  R.restored = R.restored + 1
  mark(ordinal)
  visible = true
end

-- A holder is heard of: a place aside comes to the door, a lost one is put back.
local function restore(visitor, ordinal)
  local state = standing(visitor, ordinal)
  if state == 'lost' then
    put_back(visitor, ordinal)
  elseif state ~= 'gone' and state ~= 'done' and state ~= 'unknown' then
    mark(ordinal)
  end
end

-- Arguments of commands; see `settling.lua`.
local visitors, ordinals, renewed = {}, {}, {}

register('renew', function()
  local refused = open()
  if refused then return refused end

  -- Those who are inside, nearly all who come here, are read and renewed at once; settling ends no pass that has not run
  -- out. What is known of the others depends on those before them.
  local count = (#ARGV - 7) / 3
  for i = 1, count do
    visitors[i] = ARGV[6 + 3 * i]
    ordinals[i] = ARGV[7 + 3 * i]
  end
  local places = call('ZMSCORE', PLACES, unpack(visitors, 1, count))
  local passes = call('ZMSCORE', ACTIVE, unpack(ordinals, 1, count))
  local since = call('HMGET', SINCE, unpack(ordinals, 1, count))
  local at, longer, pass_max = 0, now + R.pass_ttl, R.pass_max
  local longer_text = text(longer)
  for i = 1, count do
    local expires_at = places[i] == ordinals[i] and passes[i] and passes[i] + 0
    if not expires_at or expires_at <= now then
      passes[i] = false
    else
      since[i] = since[i] or expires_at
      local until_then, until_text = longer, longer_text
      if pass_max > 0 and since[i] + pass_max < longer then
        until_then = since[i] + pass_max
        until_text = text(until_then)
      end
      if ARGV[5 + 3 * i] == 'renew' and until_then > expires_at then
        renewed[at + 1] = until_text
        renewed[at + 2] = ordinals[i]
        at = at + 2
        expires_at = until_then
      end
      passes[i] = expires_at
    end
  end
  if at > 0 then call('ZADD', ACTIVE, unpack(renewed, 1, at)) end
  for i = 1, count do
    if not passes[i] then restore(visitors[i], tonumber(ordinals[i])) end
  end
  local more = settle()
  local results = {}
  at = 0
  for i = 1, count do
    if passes[i] then
      results[at + 1] = 'inside'
      results[at + 2] = passes[i]
      results[at + 3] = since[i]
      at = at + 3
    else
      results[at + 1], results[at + 2], results[at + 3] = standing(visitors[i], tonumber(ordinals[i]))
      at = #results
    end
  end
  return done(more, results)
end)
end
do
-- A holder inside has business that lasts so long from now, or has no more.
--
-- ARGV   8 visitor
--        9 ordinal
--       10 milliseconds; with 0 the pass lasts no longer than from a use at this moment
-- Returns where the holder stands after settling, and the times that `live_at` has for that
register('keep', function()
  local refused = open()
  if refused then return refused end
  local visitor, ordinal, business = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
  local state, expires_at, since = standing(visitor, ordinal)
  if state == 'inside' then
    local kept = now + business
    if R.pass_max > 0 then kept = min(kept, since + R.pass_max) end
    kept = max(kept, expires_at)
    if business == 0 then kept = min(expires_at, now + R.pass_ttl) end
    if kept ~= expires_at then
      call('ZADD', ACTIVE, kept, ordinal)
      runs_out_by(kept)
    end
  end
  local more = settle()
  return done(more, { standing(visitor, ordinal) })
end)
end
do
-- The holders of these places are there.
--
-- ARGV   8 ... ordinals, at most 1,000
register('mark', function()
  local refused = open()
  if refused then return refused end

  -- Above `head` a mark is one bit and nothing else, so all of them are one command.
  local bits, n = {}, 0
  for at = 8, #ARGV do
    local ordinal = tonumber(ARGV[at])
    if ordinal > R.head and ordinal <= R.issued then
      bits[n + 1], bits[n + 2], bits[n + 3], bits[n + 4] = 'SET', 'u1', text(ordinal - R.base), '1'
      n = n + 4
    elseif ordinal <= R.head and holds(ordinal) then
      mark(ordinal)
    end
  end
  if n > 0 then call('BITFIELD', round_key(0), unpack(bits)) end
  return done(settle())
end)
end
do
-- A holder leaves or finishes, or a visitor is put out.
--
-- ARGV   8 'leave' (gives up a place, or is done with a pass), 'finish' (business inside is done), 'revoke'
--        9 visitor
--       10 ordinal; '' for 'revoke'
-- Returns what it did: 'left', 'finished', 'nothing', 'not inside'; for 'revoke' the ordinal that ended, or 0

local function give_up(ordinal)
  R.left = R.left + 1
  end_place(ordinal, 'gone')
  return 'left'
end

local function end_pass(ordinal)
  R.finished = R.finished + 1
  end_place(ordinal, 'done')
  return 'finished'
end

local function leave(visitor, ordinal)
  local state = standing(visitor, ordinal)
  if state == 'inside' then return end_pass(ordinal) end
  if state == 'gone' or state == 'done' or state == 'unknown' then return 'nothing' end
  return give_up(ordinal)
end

local function finish(visitor, ordinal)
  local state = standing(visitor, ordinal)
  if state == 'line' or state == 'aside' then return 'not inside' end
  -- Above the head there is only "gone": whether it was inside has been forgotten with it.
  if state == 'lost' and ordinal > R.head then return give_up(ordinal) end
  -- A place that was lost, or put back at the door, was inside when its business was done.
  if state == 'inside' or state == 'door' or state == 'lost' then return end_pass(ordinal) end
  return 'nothing'
end

local function revoke(visitor)
  local place = end_if_expired(find(visitor))
  if not place then return 0 end
  R.revoked = R.revoked + 1
  end_place(place, 'gone')
  return place
end

local WAYS = { leave = leave, finish = finish, revoke = revoke }

register('depart', function()
  local refused = open()
  if refused then return refused end
  local what = WAYS[ARGV[8]](ARGV[9], tonumber(ARGV[10]))
  return done(settle(), what)
end, 'allow-oom')
end
do
-- Nothing but the settling that ends every transition.
register('settle', function()
  local refused = open()
  if refused then return refused end
  return done(settle())
end, 'allow-oom')
end
do
-- An operator's word, or that of the service behind the room.
--
-- KEYS   17 the node's note of its last word: its number, gone after ten minutes
-- ARGV   8 number of this word, rising per node; a word that is sent again has the same number
--        9 'pause', 'resume', 'open', 'close', 'drain', 'reset', 'delete', 'admit', 'stock', 'policy' or
--          'change'
--        10 ... 'admit': how many; 'stock': how many are left to sell, or '' if that is not told; 'policy': the policy
--          (nine values, '' = absent), then its digest or '';
--          'change': the policy that was changed, then what it is changed to
-- Returns 'done', or 'stale' if the policy is another one by now than the one that was changed

local NOTE_TTL_S = '600'

local function is_policy(at)
  for i, field in ipairs(POLICY) do
    if R[field] ~= value_at(at + i - 1, field) then return false end
  end
  return true
end

local function set_policy(at)
  local presence_ttl = value_at(at + 5, 'presence_ttl')
  if R.presence_ttl == 0 and presence_ttl > 0 then
    -- Presence matters from now on: who was there when it stopped mattering has three rounds from now.
    call('BITOP', 'OR', round_key(0), round_key(0), round_key(1), round_key(2))
    R.given0, R.given1 = R.given2, R.given2
    R.round_started = now
  end
  if not is_policy(at) then visible, turned = true, true end
  for i, field in ipairs(POLICY) do R[field] = value_at(at + i - 1, field) or nil end
end

local WORDS = {
  pause = function()
    if R.paused == 0 then visible, turned = true, true end
    R.paused = 1
  end,
  resume = function()
    if R.paused == 1 then visible, turned = true, true end
    R.paused = 0
  end,
  open = function() set_state('open') end,
  close = function() set_state('closed') end,
  drain = function() set_state('draining') end,
  reset = function() return not reset() and 'again' or nil end,
  delete = function() return not delete() and 'again' or nil end,
  admit = function()
    -- The one word that means something else when it is heard twice.
    if call('GET', KEYS[17]) == ARGV[8] then return end
    call('SET', KEYS[17], ARGV[8], 'EX', NOTE_TTL_S)
    turn_tick()
    R.tick_extra = min(R.tick_extra + tonumber(ARGV[10]), 1e15)
    visible = true
  end,
  stock = function()
    local left = value_at(10, 'stock')
    if R.stock == left then return end
    -- The version that this call makes.
    R.stock, R.stock_version, visible = left or nil, R.version + 1, true
  end,
  policy = function()
    set_policy(10)
    local digest = value_at(10 + #POLICY, 'digest')
    if digest then R.digest, turned = digest, true end
  end,
  change = function()
    if not is_policy(10) then return 'stale' end
    set_policy(10 + #POLICY)
  end,
}

register('operate', function()
  local refused = open()
  if refused then return refused end
  local what = WORDS[ARGV[9]]()
  if what == 'again' then
    done(false)
    return answer('again')
  end
  return done(settle(), what or 'done')
end, 'allow-oom')
end
do
-- Makes a room where there is none, or begins a deleted one again with another epoch; one that is there stays.
--
-- ARGV   8 ... the policy (nine values, '' = absent), then its digest or '', then for how many milliseconds a room
--          that was not there at all holds joins: a node that remembers it may be about to restore it
-- Returns 1 if it was made, else 0
register('create', function()
  clock = read_clock()
  read_room()
  local digest = value_at(8 + #POLICY, 'digest')
  if not R.version then
    begin(8, clock)
    R.version, R.clock_offset, R.clock_last, R.server = 0, 0, clock, this_server()
    R.digest = digest or nil
    R.fresh = 1
    if ARGV[9 + #POLICY] ~= '0' then R.joins_held_until = clock + tonumber(ARGV[9 + #POLICY]) end
    advance_clock()
    return done(settle(), 1)
  end
  if R.frozen then return answer('frozen', false, R.frozen) end
  if is_fenced() then return answer('fenced') end
  advance_clock()
  turn_rounds()
  if R.state ~= 'deleted' then return done(settle(), 0) end
  local epoch = max(now, R.epoch + 1)
  begin(8, now)
  R.epoch, R.digest = epoch, digest or nil
  visible = true
  return done(settle(), 1)
end)
end
do
-- Takes in what a node knows of the room, and lifts the fence with the last part of it.
--
-- ARGV   8 'part' or 'last'
--        9 epoch  10 state  11 issued  12 head  13 floor  14 base  15 version
--        16 ... the policy (nine values, '' = absent), for a room that was created again
--        25 stock or ''  26 the version in which it was told
--        27 how many gone ordinals follow, then these, then the done ones; at most 1,000 in all
-- Returns nothing of its own; status 'again' if there is more to do before the fence can be lifted

-- Ends up to `most` places with an ordinal up to `last`; says how many.
local function end_up_to(last, how, most)
  local below = call('ZRANGEBYSCORE', PLACES, '-inf', last, 'WITHSCORES', 'LIMIT', 0, most)
  for i = 2, #below, 2 do end_place(tonumber(below[i]), how) end
  return #below / 2
end

-- Takes in what a node knows, where the store may have forgotten: maximum and union, which commute, so that
-- there is no leader and no order among the nodes. `M` has the fields of a room; `M.gone` and `M.done` list
-- ordinals that ended. Says whether all of it was taken in.
local function merge(M, first)
  visible = true
  -- Whatever became of the room meanwhile: nobody who has seen a version is shown a lower one.
  R.version = max(R.version, M.version)
  if first then R.joins_held_until = now + JOIN_HOLD_MS end
  -- The empty room of this epoch gave way to this one when it came from another store.
  if R.replaced == M.epoch then return true end
  -- A node without memory has made the room anew after all was lost; nobody has joined that one.
  local made_anew = R.fresh == 1 and M.epoch < R.epoch
  if M.epoch < R.epoch and not made_anew then return true end
  if M.epoch > R.epoch or made_anew then
    -- The store has gone back to before the room was deleted and created again.
    if not reset() then return false end
    call('UNLINK', GONE, DONE, IMPORTED, CLAIMED)
    for _, field in ipairs(POLICY) do R[field] = M[field] or nil end
    R.epoch, R.state = M.epoch, M.state
    R.issued, R.head, R.floor, R.base, R.imported_until = 0, 0, 0, 0, 0
    R.given0, R.given1, R.given2, R.imported_last = 0, 0, 0, 0
    R.stock, R.stock_version = nil, nil
    R.fresh = nil
  end
  if R.state == 'deleted' or M.state == 'deleted' then
    R.issued = max(R.issued, M.issued)
    return delete()
  end
  if M.issued > R.issued then
    R.lost_after = min(R.lost_after or R.issued, R.issued)
    R.lost_until = now + max(R.presence_ttl, LOST_MIN_MS)
    R.issued = M.issued
  end
  R.floor = max(R.floor, M.floor)
  set_base(max(R.base, M.base))
  -- What was told last; of two that were told in the same version, while the nodes were apart, the larger.
  local told = R.stock_version or 0
  if M.stock_version > told or (M.stock_version == told and (tonumber(M.stock) or -1) > (tonumber(R.stock) or -1)) then
    R.stock, R.stock_version = M.stock or nil, M.stock_version
  end
  for _, ordinal in ipairs(M.gone) do end_place(ordinal, 'gone') end
  for _, ordinal in ipairs(M.done) do end_place(ordinal, 'done') end
  local looked = end_up_to(R.base, 'done', PART_MAX)
  looked = looked + end_up_to(R.floor, 'gone', PART_MAX - looked)
  -- Places in line that the nodes saw pass by go to the door.
  local head = max(R.head, M.head)
  local passed = call('ZRANGEBYSCORE', PLACES, '(' .. text(R.head), head, 'WITHSCORES', 'LIMIT', 0, PART_MAX)
  for i = 2, #passed, 2 do
    call('ZADD', DOOR, passed[i], passed[i])
    head = max(R.head, tonumber(passed[i]))
  end
  local whole = looked < PART_MAX and #passed < PART_MAX * 2
  if whole then head = max(R.head, M.head) end
  R.head = head
  if R.lost_after then R.lost_after = max(R.lost_after, R.head) end
  return whole
end

-- What the node knows, as the arguments have it.
local function memory()
  local M = { epoch = tonumber(ARGV[9]), state = ARGV[10], issued = tonumber(ARGV[11]), head = tonumber(ARGV[12]),
    floor = tonumber(ARGV[13]), base = tonumber(ARGV[14]), version = tonumber(ARGV[15]),
    stock = value_at(25, 'stock'), stock_version = tonumber(ARGV[26]), gone = {}, done = {} }
  for i, field in ipairs(POLICY) do M[field] = value_at(15 + i, field) end
  local gone_last = 27 + tonumber(ARGV[27])
  for at = 28, #ARGV do
    local list = at <= gone_last and M.gone or M.done
    list[#list + 1] = tonumber(ARGV[at])
  end
  return M
end

register('merge', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  if R.frozen then return answer('frozen', false, R.frozen) end
  advance_clock()
  turn_rounds()
  local fenced = is_fenced()
  local whole = merge(memory(), fenced)
  if ARGV[8] == 'part' or not whole then
    -- Behind the fence nobody is let in; without one, settling is due as ever.
    local more = not fenced and settle()
    done(more)
    return answer(whole and 'ok' or 'again', more)
  end
  if fenced then R.server = this_server() end
  return done(settle())
end)
end
do
-- A missing room as a node remembers it: the same room, all of whose places are lost for now. A room that is
-- there is left alone, and to be merged with.
--
-- ARGV   8 epoch  9 state  10 paused  11 issued  12 head  13 floor  14 base  15 version  16 room time last seen
--        17 ... the policy (nine values, '' = absent)
--        26 digest or ''  27 stock or ''  28 the version in which it was told
--        29 bitmap of the gone  30 bitmap of the done, both by ordinal - base
--        31 ... the counters, in the order of COUNTERS
-- Returns 1 if the room was restored, else 0
register('restore', function()
  clock = read_clock()
  if call('EXISTS', ROOM) == 1 then return answer('ok', false, 0) end
  take_fields({})
  begin(17, clock)
  R.clock_offset, R.clock_last = 0, clock
  local seen = tonumber(ARGV[16])
  if seen > clock then R.clock_offset, R.clock_last = seen - clock, seen end
  now = room_time()
  R.epoch, R.state, R.paused = tonumber(ARGV[8]), ARGV[9], tonumber(ARGV[10])
  if ARGV[26] ~= '' then R.digest = ARGV[26] end
  R.stock, R.stock_version = value_at(27, 'stock') or nil, tonumber(ARGV[28])
  for i, field in ipairs(COUNTERS) do R[field] = tonumber(ARGV[30 + i]) end
  R.version, R.server, R.joins_held_until = tonumber(ARGV[15]), this_server(), now + JOIN_HOLD_MS
  call('UNLINK', PLACES, ACTIVE, SINCE, ASIDE, DOOR, GONE, DONE, KEYS[9], KEYS[10], KEYS[11], LOG, KEYS[13], KEYS[14],
    IMPORTED, CLAIMED)
  R.issued = tonumber(ARGV[11])
  if R.state == 'deleted' then
    delete()
  else
    R.head = tonumber(ARGV[12])
    R.floor, R.base = tonumber(ARGV[13]), tonumber(ARGV[14])
    if R.issued > 0 then
      R.lost_after, R.lost_until = R.head, now + max(R.presence_ttl, LOST_MIN_MS)
    end
    if ARGV[29] ~= '' then call('SET', GONE, ARGV[29]) end
    if ARGV[30] ~= '' then call('SET', DONE, ARGV[30]) end
  end
  visible = true
  return done(false, 1)
end)
end
do
-- What a node's view needs: the room but for its places, and what ended since a version. Changes nothing.
--
-- Returns { status, ..., this server's run id, the room's fields, how many are inside, aside, at the door, when settling has
--        something to do next or -1, 'log' and what ended since as { gone, done, aside } or 'snapshot' and { bitmap of
--        the gone, bitmap of the done } or 'same' }

local function since_then()
  local version = tonumber(ARGV[5])
  if version >= 0 and tonumber(ARGV[6]) == R.epoch then
    if version == R.version then return 'same', {} end
    local ended = ARGV[7] == R.server and ended_since(version)
    if ended then return 'log', ended end
  end
  return 'snapshot', { call('GET', GONE) or '', call('GET', DONE) or '' }
end

register('look', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing', false, run_id()) end
  now = room_time()
  local how, what = since_then()
  local due = next_due()
  return answer('ok', false, run_id(), fields(), call('ZCARD', ACTIVE), call('ZCARD', ASIDE), call('ZCARD', DOOR), due, how,
    what)
end, 'no-writes')
end
do
-- The room as it is kept, whatever its state, for who moves it. Changes nothing.
--
-- Returns its fields, each followed by its value
register('read', function()
  read_room()
  if not R.version then return answer('missing') end
  return answer('ok', false, fields())
end, 'no-writes')
end
do
-- The live place of a visitor, and where it stands. Changes nothing.
--
-- ARGV   8 visitor
-- Returns the ordinal or 0, where it stands, and the times that `live_at` has for that
register('find', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  if R.state == 'deleted' then return answer('deleted') end
  now = room_time()
  local place = find(ARGV[8])
  if not place then return answer('ok', false, 0, 'unknown') end
  return answer('ok', false, place, live_at(place))
end, 'no-writes')
end
do
-- Lets nothing change a room any more, because it goes to another store; or lets it go on.
--
-- ARGV   8 why, as the nodes read it; '' lets it go on from the time at which it was frozen
-- Returns why it was frozen before, or ''
register('freeze', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  if R.state == 'deleted' then return answer('deleted') end
  local before = R.frozen or ''
  if ARGV[8] == '' then
    if R.frozen then
      R.frozen = nil
      R.clock_offset = R.clock_last - clock
      now = R.clock_last
      -- Those in line have the whole of the current round to be heard of again.
      R.round_started = now
      visible = true
    end
  elseif not R.frozen then
    -- Whoever must merge first does so now: a frozen room takes nothing in.
    if is_fenced() then return answer('fenced') end
    advance_clock()
    turn_rounds()
    R.frozen = ARGV[8]
  else
    R.frozen = ARGV[8]
  end
  return done(false, before)
end)
end
do
-- Begins to take in a room from another store: all of it but the places and what belongs to them, which follow. It
-- stays frozen until they are there. Its time goes on from where it was.
--
-- ARGV   8 why it is frozen
--        9 'empty' if it may take the place of a room in which nobody has joined, or of a later one that was deleted;
--          else ''
--        10 ... fields of the room and their values
-- Returns 1, or 0 if there is a room whose place it must not take

local function may_replace(arriving)
  if not R.version then return true end
  local empty = ARGV[9] == 'empty' and R.issued == 0
  local why = R.frozen or ''
  if match(why, '^arriving ') then return true end
  if match(why, '^left ') then return R.epoch == arriving.epoch or empty end
  if R.state == 'deleted' then return R.epoch <= arriving.epoch or ARGV[9] == 'empty' end
  return empty
end

register('adopt', function()
  clock = read_clock()
  read_room()
  local arriving = {}
  for at = 10, #ARGV, 2 do
    local value = ARGV[at + 1]
    if not TEXT[ARGV[at]] then value = tonumber(value) end
    arriving[ARGV[at]] = value
  end
  if not may_replace(arriving) then return answer('ok', false, 0) end
  arriving.version = max(arriving.version, R.version or 0)
  call('UNLINK', unpack(KEYS))
  -- A node that knows the other one would take its later epoch for a reason to start over.
  if R.epoch and R.epoch > arriving.epoch then arriving.replaced = R.epoch end
  take_fields(arriving)
  -- Who was there is all in the bitmaps that follow, and when the first pass runs out is looked up once it is there.
  R.given0, R.given1, R.given2, R.imported_last, R.logged, R.runs_out = R.issued, R.issued, R.issued, 0, 0, 0
  R.frozen = ARGV[8]
  R.server = this_server()
  R.clock_offset = R.clock_last - clock
  now = R.clock_last
  visible = true
  return done(false, 1)
end)
end
do
-- Places of another queue are taken over, in this order; those who were inside there come first. The rule is
-- core's `Command::Import`.
--
-- ARGV   8 for how many milliseconds those who have not joined yet count as present
--        9 ... for each: visitor, 'waiting' or 'inside'
-- Returns for each: what became of it ('placed', 'repeated', 'already', 'full', 'line ahead'), its ordinal or 0

-- How many are in line; every call counts them anew.
local waiting

local function is_full()
  if waiting >= R.waiting_max then
    settle()
    waiting = in_line()
  end
  return waiting >= R.waiting_max
end

local function take_place(visitor)
  R.issued = R.issued + 1
  R.imported_last = R.issued
  R.fresh = nil
  call('ZADD', PLACES, R.issued, visitor)
  call('SETBIT', IMPORTED, R.issued - R.base, 1)
  visible = true
end

-- Whoever was inside takes nothing of the batch of this tick: the service bears them already.
local function take_place_inside(visitor)
  take_place(visitor)
  R.head = R.issued
  if not R.active_max or call('ZCARD', ACTIVE) < R.active_max then
    R.tick_extra = R.tick_extra + 1
    enter({ text(R.issued) })
  else
    call('ZADD', DOOR, R.issued, R.issued)
  end
end

local function import(visitor, was)
  local place = end_if_expired(find(visitor))
  if place then return is_unclaimed(place) and 'repeated' or 'already', place end
  if was == 'waiting' then
    if is_full() then return 'full', 0 end
    take_place(visitor)
    waiting = waiting + 1
  elseif R.head ~= R.issued then
    -- A place at or below the head of the line must not come behind anybody in it.
    return 'line ahead', 0
  else
    take_place_inside(visitor)
  end
  return 'placed', R.issued
end

register('import', function()
  local refused = open_for_newcomers()
  if refused then return refused end
  local imported_until = max(R.imported_until, now + tonumber(ARGV[8]))
  if imported_until ~= R.imported_until then visible = true end
  R.imported_until = imported_until
  turn_tick()
  waiting = in_line()
  local results = {}
  for at = 9, #ARGV, 2 do
    local what, ordinal = import(ARGV[at], ARGV[at + 1])
    results[#results + 1] = what
    results[#results + 1] = ordinal
  end
  return done(settle(), results)
end)
end
do
-- Which server this is, for who wants to know whether the library is there and may ask. Has neither KEYS nor ARGV.
--
-- Returns its run id
register('which', function()
  return run_id()
end, 'no-writes')
end
