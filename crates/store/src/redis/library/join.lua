-- Visitors ask for a place, in this order.
--
-- KEYS   18 the node's note of its last batch in this lane: "<number> <first ordinal> <last ordinal> ,<claimed
--          ordinals>,", gone after ten minutes
-- ARGV   8 number of this batch, rising per node; a batch that is sent again has the same number
--        9 'first', or 'again' if it may have been here before
--        10 how many visitors, 11 ... the visitors
--        then for each who has an idempotency key: which visitor it is, the key, digest of the request
-- Returns for each: what became of it ('new', 'already', 'repeated', 'claimed', 'reused', 'closed',
--        'full'), its ordinal or 0, where the place stands after settling, and the figures that `live_at` has for that;
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
  note = call('GET', KEYS[18]) or ''
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
  confirm(written + 1, R.issued)
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
  local given = ARGV[8] .. ' ' .. often(issued_before + 1) .. ' ' .. often(R.issued) .. ' ,' .. claimed .. ','
  call('SET', KEYS[18], given, 'EX', NOTE_TTL_S)
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
