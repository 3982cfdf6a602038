-- The rules of a room, as `ropeline-core` has them, in the words of Redis. Every script begins with this file.
--
-- A script is one transition: it reads the room's hash once, changes a copy of it in `R`, and `done` writes
-- back what differs. Nothing here looks at more than `look_max` places, so a large tick is spent by several
-- calls; `more` in the answer asks for the next one.
--
-- KEYS   1 room    hash        state, policy, numbers, counters; see `TEXT` for the fields that are not numbers
--        2 places  sorted set  visitor -> ordinal, for everybody in line, aside, at the door or inside
--        3 active  sorted set  ordinal -> when the pass runs out
--        4 since   hash        ordinal -> when the pass was given
--        5 aside   sorted set  ordinal -> when the missed turn is given up
--        6 door    sorted set  ordinal -> ordinal, served before the line
--        7 gone    bitmap      by ordinal - base: left, revoked, missed for good
--        8 done    bitmap      by ordinal - base: was inside and is no longer
--        9 seen0  10 seen1  11 seen2  bitmaps by ordinal - base: presence, round n in seen(n mod 3)
--       12 log     stream      <version>-1: what ended or moved in that version
--       13 keys0  14 keys1     hashes: idempotency key -> digest of the request, round n in keys(n mod 2)
--       15 imported 16 claimed bitmaps by ordinal - base: given by an import, and answered to a join since
-- ARGV   1 clock      milliseconds in the place of Redis's own clock, for tests; '' in production
--        2 look_max   places that one call looks at, and that it ends, at the most
--        3 base_trail how far `base`, below which no ending is remembered, trails `head`
--        4 base_step  by how much `base` moves on at a time
--        5 ...        the command's own
-- Returns { status, more, version, head, issued, room time, ... the command's own }
--        status 'ok'; or, with nothing changed: 'missing' (no such hash), 'fenced' (written on another server),
--        'frozen' (being moved; room time is followed by why), 'deleted', 'held' (room time is followed by milliseconds to wait),
--        'again' (a part was done; call again)

local call = redis.call
local ROOM, PLACES, ACTIVE, SINCE, ASIDE, DOOR = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local GONE, DONE, LOG, IMPORTED, CLAIMED = KEYS[7], KEYS[8], KEYS[12], KEYS[15], KEYS[16]
local LOOK_MAX, BASE_TRAIL, BASE_STEP = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
-- An operator's word and a merge look at no more than so many places in one call.
local PART_MAX = 1000
-- Views that fall further behind take a snapshot.
local LOG_MAX = 4096
-- A key is remembered for one to two rounds of this length; a full round ends early.
local KEY_ROUND_MS, KEYS_MAX = 600000, 2000000
-- From the first merge joins are held so long, and holders of lost places have at least so long to ask again.
local JOIN_HOLD_MS, LOST_MIN_MS = 1000, 60000

local TEXT = { state = true, server = true, digest = true, identity = true, frozen = true }
local COUNTERS = { 'admitted', 'departed', 'expired', 'finished', 'left', 'revoked', 'stepped_over', 'missed',
  'restored', 'stayed_ms' }
local POLICY = { 'every', 'batch', 'active_max', 'pass_ttl', 'pass_max', 'presence_ttl', 'missed_turn_ttl',
  'waiting_max', 'identity' }

-- The room as it is changed, and as it was read.
local R, was = {}, {}
-- Room time, and the clock that it comes from.
local now, clock
-- Whether anything has changed that a view shows, and what ended or was set aside.
local visible, ended_gone, ended_done, set_aside = false, {}, {}, {}

local function text(value)
  if type(value) == 'number' then return string.format('%.0f', value) end
  return value
end

local function take(flat)
  for i = 1, #flat, 2 do
    local field, value = flat[i], flat[i + 1]
    if not TEXT[field] then value = tonumber(value) end
    R[field], was[field] = value, value
  end
end

local function save()
  -- Always something: a `WAIT` behind a call that wrote nothing would confirm nothing.
  local set, del = { 'clock_last', text(R.clock_last) }, {}
  for field, value in pairs(R) do
    if was[field] ~= value then
      set[#set + 1] = field
      set[#set + 1] = text(value)
    end
  end
  for field in pairs(was) do
    if R[field] == nil then del[#del + 1] = field end
  end
  if #set > 0 then call('HSET', ROOM, unpack(set)) end
  if #del > 0 then call('HDEL', ROOM, unpack(del)) end
end

-- The server that runs this script. A restart, a failover and a moved slot all change it.
local function run_id()
  return string.match(call('INFO', 'server'), 'run_id:(%x+)')
end

-- The name under which the state is written from now on. The time makes two merges on one server distinct, so
-- that a node notices a merge that it had no part in.
local function this_server()
  local t = call('TIME')
  return run_id() .. '@' .. t[1] .. string.format('%06d', tonumber(t[2]))
end

local function read_clock()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local t = call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

-- Room time at `clock`: never before the last transition.
local function room_time()
  return math.max(clock + R.clock_offset, R.clock_last)
end

-- Room time for a transition. If the clock went back, the offset grows and room time stands still.
local function advance_clock()
  now = room_time()
  if now == R.clock_last then R.clock_offset = R.clock_last - clock end
  R.clock_last = now
end

local function answer(status, more, ...)
  return { status, more and 1 or 0, R.version or 0, R.head or 0, R.issued or 0, now or 0, ... }
end

local function round_key(age)
  return KEYS[9 + (R.round - age) % 3]
end

local function keys_key(age)
  return KEYS[13 + (R.key_round - age) % 2]
end

local function in_line()
  return call('ZCOUNT', PLACES, '(' .. text(R.head), '+inf')
end

local function bit_at(key, ordinal)
  return ordinal > R.base and call('GETBIT', key, ordinal - R.base) == 1
end

-- Whether an import gave the place and no join has asked for it yet.
local function is_unclaimed(ordinal)
  return bit_at(IMPORTED, ordinal) and not bit_at(CLAIMED, ordinal)
end

-- How a place ended, from its ordinal alone: below `base` all are long done, up to `floor` a reset put
-- everybody out.
local function ending(ordinal)
  if ordinal <= R.base or bit_at(DONE, ordinal) then return 'done' end
  if ordinal <= R.floor or bit_at(GONE, ordinal) then return 'gone' end
end

-- A live place: its state and up to two times.
local function live_at(ordinal)
  if ordinal > R.head then return 'line', 0, 0 end
  local expires_at = tonumber(call('ZSCORE', ACTIVE, ordinal) or nil)
  if expires_at then
    if expires_at <= now then return 'done', 0, 0 end
    return 'inside', expires_at, tonumber(call('HGET', SINCE, ordinal) or expires_at)
  end
  local given_up = tonumber(call('ZSCORE', ASIDE, ordinal) or nil)
  if given_up then
    if given_up <= now then return 'gone', 0, 0 end
    return 'aside', given_up, 0
  end
  return 'door', 0, 0
end

local function find(visitor)
  return tonumber(call('ZSCORE', PLACES, visitor) or nil)
end

local function holds(ordinal)
  return call('ZCOUNT', PLACES, ordinal, ordinal) > 0
end

-- Where a holder stands: a live state, 'gone', 'done', 'lost' (a write was lost) or 'unknown' (never given).
local function standing(visitor, ordinal)
  if find(visitor) == ordinal then return live_at(ordinal) end
  local ended = ending(ordinal)
  if ended then return ended, 0, 0 end
  if ordinal > R.issued then return 'unknown', 0, 0 end
  -- Given to somebody else: a node that was cut off while the others merged has signed it too.
  if holds(ordinal) then return 'gone', 0, 0 end
  return 'lost', 0, 0
end

-- `inside_since` is the sum of all times of admission, counted from the epoch, so that a reset knows how long
-- everybody stayed without looking at anybody.
local function note_stay(ordinal)
  local since = tonumber(call('HGET', SINCE, ordinal) or nil)
  if not since then return end
  call('HDEL', SINCE, ordinal)
  R.inside_since = R.inside_since - (since - R.epoch)
  R.stayed_ms = R.stayed_ms + math.max(0, now - since)
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

local function expire(ordinal)
  R.expired = R.expired + 1
  end_place(ordinal, 'done')
end

-- A pass that ran out is no place, even before it was swept.
local function end_if_expired(place)
  if not place or place > R.head then return place end
  local expires_at = tonumber(call('ZSCORE', ACTIVE, place) or nil)
  if expires_at and expires_at <= now then
    expire(place)
    return nil
  end
  return place
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

-- Renews a live pass; says whether there was one.
local function renew(visitor, ordinal)
  if find(visitor) ~= ordinal then return false end
  local state, expires_at, since = live_at(ordinal)
  if state ~= 'inside' then return false end
  local renewed = now + R.pass_ttl
  if R.pass_max > 0 then renewed = math.min(renewed, since + R.pass_max) end
  if renewed > expires_at then call('ZADD', ACTIVE, renewed, ordinal) end
  return true
end

local function turn_keys()
  R.key_round = R.key_round + 1
  R.key_round_started = now
  call('UNLINK', keys_key(0))
end

-- Rounds end one at a time and only here, so an outage or a jump of the clock makes nobody absent.
local function turn_rounds()
  local length = math.floor(R.presence_ttl / 2)
  if R.presence_ttl > 0 and now >= R.round_started + length then
    R.round = R.round + 1
    R.round_started = now
    call('UNLINK', round_key(0))
  end
  local silent = now >= R.key_round_started + KEY_ROUND_MS * 2
  if now >= R.key_round_started + KEY_ROUND_MS or call('HLEN', keys_key(0)) >= KEYS_MAX then turn_keys() end
  if silent then turn_keys() end
end

-- One tick, however many were missed: no burst makes up for a pause or an outage.
local function turn_tick()
  local passed = math.floor(math.max(0, now - R.tick_start) / R.every)
  if passed > 0 then
    R.tick_start = R.tick_start + passed * R.every
    R.tick_admitted = 0
    R.tick_extra = 0
  end
end

-- Writes down how many places ended. Neighbours are dropped together.
local function end_many(ordinals, how)
  local bits, list = GONE, ended_gone
  if how == 'done' then bits, list = DONE, ended_done end
  for i, ordinal in ipairs(ordinals) do ordinals[i] = tonumber(ordinal) end
  table.sort(ordinals)
  local set, from = {}, 1
  for i, ordinal in ipairs(ordinals) do
    local at = #set
    set[at + 1], set[at + 2], set[at + 3], set[at + 4] = 'SET', 'u1', ordinal - R.base, 1
    list[#list + 1] = text(ordinal)
    if ordinals[i + 1] ~= ordinal + 1 then
      call('ZREMRANGEBYSCORE', PLACES, ordinals[from], ordinal)
      from = i + 1
    end
  end
  call('BITFIELD', bits, unpack(set))
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
      R.stayed_ms = R.stayed_ms + math.max(0, now - tonumber(since))
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
  local looked = expire_due(LOOK_MAX)
  if looked < LOOK_MAX then looked = looked + miss_due(LOOK_MAX - looked) end
  if looked < LOOK_MAX then return true end
  return call('ZCOUNT', ACTIVE, '-inf', now) == 0 and call('ZCOUNT', ASIDE, '-inf', now) == 0
end

-- How many may be admitted at this instant.
local function budget()
  if R.paused == 1 then return 0 end
  local by_tick, by_cap = math.huge, math.huge
  if R.batch then by_tick = math.max(0, R.batch + R.tick_extra - R.tick_admitted) end
  if R.active_max then by_cap = math.max(0, R.active_max - call('ZCARD', ACTIVE)) end
  return math.min(by_tick, by_cap)
end

-- Whose turn it is: the door comes first, then the line, up to where places may be lost. At most `most`
-- ordinals, and whether they are at the door.
local function next_ones(most)
  local door = call('ZRANGE', DOOR, 0, most - 1)
  if #door > 0 then return door, true end
  local to = '+inf'
  if R.lost_after then to = text(R.lost_after) end
  local line = call('ZRANGEBYSCORE', PLACES, '(' .. text(R.head), to, 'WITHSCORES', 'LIMIT', 0, most)
  local ordinals = {}
  for i = 2, #line, 2 do ordinals[#ordinals + 1] = line[i] end
  return ordinals, false
end

-- Those who are not there yet in `there`, asked for in one round of presence.
local function look_round(key, ordinals, there)
  local absent, ask = {}, {}
  for i, ordinal in ipairs(ordinals) do
    if not there[i] then
      absent[#absent + 1] = i
      local at = #ask
      ask[at + 1], ask[at + 2], ask[at + 3] = 'GET', 'u1', ordinal - R.base
    end
  end
  if #absent == 0 then return end
  local bits = call('BITFIELD_RO', key, unpack(ask))
  for j, i in ipairs(absent) do there[i] = bits[j] == 1 end
end

-- Splits ordinals into those who are there and those who are not.
local function by_presence(ordinals)
  if R.presence_ttl == 0 then return ordinals, {} end
  local there, present, absent = {}, {}, {}
  for age = 0, 2 do look_round(round_key(age), ordinals, there) end
  for i, ordinal in ipairs(ordinals) do
    local list = absent
    if there[i] or (now < R.imported_until and is_unclaimed(tonumber(ordinal))) then list = present end
    list[#list + 1] = ordinal
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
  local turns, given_up = {}, text(now + R.missed_turn_ttl)
  for _, ordinal in ipairs(ordinals) do
    turns[#turns + 1] = given_up
    turns[#turns + 1] = ordinal
    set_aside[#set_aside + 1] = ordinal
  end
  call('ZADD', ASIDE, unpack(turns))
end

local function enter(ordinals)
  if #ordinals == 0 then return end
  local passes, since = {}, {}
  local expires_at, admitted_at = text(now + R.pass_ttl), text(now)
  for i, ordinal in ipairs(ordinals) do
    passes[2 * i - 1], passes[2 * i] = expires_at, ordinal
    since[2 * i - 1], since[2 * i] = ordinal, admitted_at
  end
  call('ZADD', ACTIVE, unpack(passes))
  call('HSET', SINCE, unpack(since))
  R.inside_since = R.inside_since + #ordinals * (now - R.epoch)
  R.tick_admitted = R.tick_admitted + #ordinals
  R.admitted = R.admitted + #ordinals
end

-- Takes the next ones while budget is left; says whether it stopped for having looked at enough.
local function admit()
  local looks = LOOK_MAX
  while looks > 0 do
    local left = budget()
    if left == 0 then return false end
    local ordinals, at_door = next_ones(math.min(left, looks))
    if #ordinals == 0 then return false end
    looks = looks - #ordinals
    visible = true
    if at_door then
      call('ZREM', DOOR, unpack(ordinals))
    else
      R.head = tonumber(ordinals[#ordinals])
    end
    local present, absent = by_presence(ordinals)
    enter(present)
    step_aside(absent)
  end
  return budget() > 0 and #next_ones(1) > 0
end

-- With nobody in line, what lies above `head` is gone, or lost and past its time: `head` catches up.
local function step_over_an_empty_line()
  if R.head < R.issued and not R.lost_after and in_line() == 0 then
    R.head = R.issued
    visible = true
  end
end

local function set_state(state)
  if R.state ~= state then visible = true end
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

-- Endings of places far below `head` are forgotten, but never those above a place that is live.
local function advance_base()
  while R.head - R.base >= BASE_TRAIL + BASE_STEP do
    local lowest = call('ZRANGE', PLACES, 0, 0, 'WITHSCORES')[2]
    if lowest and tonumber(lowest) <= R.base + BASE_STEP then return end
    set_base(R.base + BASE_STEP)
  end
end

-- The end of every transition, and the one place where people are let in. Says whether more is to be done.
local function settle()
  local swept = sweep()
  turn_tick()
  if R.lost_after and now >= R.lost_until then
    R.lost_after, R.lost_until = nil, nil
    visible = true
  end
  -- Passes that ran out but are not swept yet would count against the cap.
  local more = not swept or admit()
  step_over_an_empty_line()
  if R.state == 'draining' and call('ZCARD', PLACES) == 0 then set_state('closed') end
  advance_base()
  return more
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
  for i = 7, 16 do
    if i ~= 12 then call('UNLINK', KEYS[i]) end
  end
  ended_gone, ended_done, set_aside = {}, {}, {}
  return true
end

-- A room that begins now. `from` is where its policy starts in ARGV.
local function begin(from, at)
  for i, field in ipairs(POLICY) do
    local value = ARGV[from + i - 1]
    if value == '' then value = nil end
    if value and not TEXT[field] then value = tonumber(value) end
    R[field] = value
  end
  for _, field in ipairs(COUNTERS) do R[field] = 0 end
  R.epoch, R.state, R.paused, R.digest = at, 'open', 0, nil
  R.issued, R.head, R.floor, R.base, R.inside_since = 0, 0, 0, 0, 0
  R.tick_start, R.tick_admitted, R.tick_extra = at, 0, 0
  R.round, R.round_started, R.key_round, R.key_round_started = 0, at, 0, at
  R.lost_after, R.lost_until, R.joins_held_until, R.imported_until = nil, nil, 0, 0
end

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
  R.version = math.max(R.version, M.version)
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
    for _, field in ipairs(POLICY) do R[field] = M[field] end
    R.epoch, R.state = M.epoch, M.state
    R.issued, R.head, R.floor, R.base, R.imported_until = 0, 0, 0, 0, 0
    R.fresh = nil
  end
  if R.state == 'deleted' or M.state == 'deleted' then
    R.issued = math.max(R.issued, M.issued)
    return delete()
  end
  if M.issued > R.issued then
    R.lost_after = math.min(R.lost_after or R.issued, R.issued)
    R.lost_until = now + math.max(R.presence_ttl, LOST_MIN_MS)
    R.issued = M.issued
  end
  R.floor = math.max(R.floor, M.floor)
  set_base(math.max(R.base, M.base))
  for _, ordinal in ipairs(M.gone) do end_place(ordinal, 'gone') end
  for _, ordinal in ipairs(M.done) do end_place(ordinal, 'done') end
  local looked = end_up_to(R.base, 'done', PART_MAX)
  looked = looked + end_up_to(R.floor, 'gone', PART_MAX - looked)
  -- Places in line that the nodes saw pass by go to the door.
  local head = math.max(R.head, M.head)
  local passed = call('ZRANGEBYSCORE', PLACES, '(' .. text(R.head), head, 'WITHSCORES', 'LIMIT', 0, PART_MAX)
  for i = 2, #passed, 2 do
    call('ZADD', DOOR, passed[i], passed[i])
    head = math.max(R.head, tonumber(passed[i]))
  end
  local whole = looked < PART_MAX and #passed < PART_MAX * 2
  if whole then head = math.max(R.head, M.head) end
  R.head = head
  if R.lost_after then R.lost_after = math.max(R.lost_after, R.head) end
  return whole
end

-- Writes the room, tells the views, and answers.
local function done(more, ...)
  if visible then
    R.version = R.version + 1
    local entry = { 'head', text(R.head), 'issued', text(R.issued) }
    for field, list in pairs({ gone = ended_gone, done = ended_done, aside = set_aside }) do
      if #list > 0 then
        entry[#entry + 1] = field
        entry[#entry + 1] = table.concat(list, ' ')
      end
    end
    call('XADD', LOG, 'MAXLEN', '~', LOG_MAX, text(R.version) .. '-1', unpack(entry))
  end
  save()
  return answer('ok', more, ...)
end

-- Reads the room. Gives an answer at once if nothing may be changed.
local function open()
  clock = read_clock()
  take(call('HGETALL', ROOM))
  if not R.version then return answer('missing') end
  if R.frozen then return answer('frozen', false, R.frozen) end
  if string.match(R.server, '^%x+') ~= run_id() then return answer('fenced') end
  if R.state == 'deleted' then return answer('deleted') end
  advance_clock()
  turn_rounds()
end
