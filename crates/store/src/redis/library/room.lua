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

-- A room of which nothing is known.
local function no_room()
  return setmetatable({}, ABSENT)
end

-- Rooms as they were last written, each with its text: where Redis still has that very text, there is no need to unpack
-- it. Who reads a room takes its text away, so that nobody else takes it for what is in `rooms_kept` while that is
-- changed; only `save` gives one back. So a call that fails half way leaves nothing that differs from Redis.
local texts_kept, rooms_kept, kept_count = {}, {}, 0
local KEPT_MAX = 256

local function keep(packed)
  if not rooms_kept[ROOM] then
    if kept_count == KEPT_MAX then texts_kept, rooms_kept, kept_count = {}, {}, 0 end
    kept_count = kept_count + 1
  end
  texts_kept[ROOM], rooms_kept[ROOM] = packed, R
end

local function read_room()
  local packed = call('GET', ROOM)
  if not packed then
    R = no_room()
    return
  end
  local is_kept = texts_kept[ROOM] == packed
  texts_kept[ROOM] = nil
  R = is_kept and rooms_kept[ROOM] or setmetatable(unpack_packed(packed), ABSENT)
  head_before, base_before, admitted_before, lost_before = R.head, R.base, R.admitted, R.lost_after
end

-- Always: a `WAIT` behind a call that wrote nothing would confirm nothing.
local function save()
  local packed = pack(R)
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
  return at and number(at) or INFINITY
end

-- When settling has something to do next, or -1.
local function next_due()
  local due = runs_out
  local line = R.head < R.issued
  if R.paused == 0 and (line or not (door_empty or call('ZCARD', DOOR) == 0)) then due = min(due, R.tick_start + R.every) end
  if line and R.presence_ttl > 0 then
    due = min(due, R.round_started + floor(R.presence_ttl / 2))
  end
  due = min(due, R.lost_until or due)
  return due == INFINITY and -1 or due
end

-- Versions that are read from the log at the most.
local LOG_PAGE = 256

-- What ended or was set aside since a version, as three texts, and whether more than numbers has changed since; nil if
-- the log does not reach back so far. A stream that was trimmed does not say so itself, so the first id is compared: ids
-- have no holes.
local function ended_since(version)
  local behind = R.version - version
  if behind < 0 or behind > LOG_PAGE then return end
  local entries = call('XRANGE', LOG, text(version + 1) .. '-1', '+')
  if #entries ~= behind or entries[1][1] ~= text(version + 1) .. '-1' then return end
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

-- What a node needs to show the room as it is now, if it shows an earlier version of it:
-- { what has to do with the tick and the rounds, next due }, and if more than `issued` has changed since { ... the fields
-- of THEN, how many are inside, aside, at the door, what ended since: gone, done, set aside }. A field that is absent is
-- -1. Nothing else changes without `turned`.
local function news()
  local shown = number(ARGV[5])
  if shown < 0 or not runs_out or ARGV[7] ~= R.server or number(ARGV[6]) ~= R.epoch then return {} end
  local told = { R.tick_start, R.tick_admitted, R.tick_extra, R.round, R.round_started, R.key_round,
    R.key_round_started, next_due() }
  local behind = R.version - shown
  if behind == 0 then return turned and {} or told end
  if behind > 0 and R.calm_at == R.version and shown >= R.calm then return told end
  local ended, more
  if behind == 1 and visible then
    ended, more = { concat(ended_gone, ' '), concat(ended_done, ' '), concat(set_aside, ' ') }, turned
  else
    ended, more = ended_since(shown)
  end
  if not ended or more then return {} end
  local at = #told
  for i = 1, #THEN do
    told[at + i] = R[THEN[i]] or -1
  end
  at = at + #THEN
  told[at + 1], told[at + 2], told[at + 3] = call('ZCARD', ACTIVE), call('ZCARD', ASIDE), call('ZCARD', DOOR)
  told[at + 4], told[at + 5], told[at + 6] = ended[1], ended[2], ended[3]
  return told
end

local function answer(status, more, ...)
  return { status, more and 1 or 0, R.version or 0, R.head or 0, R.issued or 0, now or 0, {}, ... }
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

-- Writes the room, tells the views, and answers.
local function done(more, ...)
  if visible then
    -- Versions after `calm` only gave places, if `calm_at` is the last one: a node of another release may have made it.
    local calm = is_calm() and (R.calm_at == R.version and R.calm or R.version)
    R.version = R.version + 1
    R.calm, R.calm_at = calm or R.version, R.version
    local id, head, issued = often(R.version) .. '-1', often(R.head), often(R.issued)
    call('XADD', LOG, 'MAXLEN', '~', LOG_MAX, id, 'head', head, 'issued', issued, unpack(happened()))
  end
  local told = news()
  save()
  return { 'ok', more and 1 or 0, R.version, R.head, R.issued, now or 0, told, ... }
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
