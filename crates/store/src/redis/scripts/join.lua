-- Visitors ask for a place, in this order.
--
-- KEYS   17 the node's note of its last batch: "<number> <first ordinal> <last ordinal> ,<claimed ordinals>,", gone
--          after ten minutes
-- ARGV   5 number of this batch, rising per node; a batch that is sent again has the same number
--        6 how many visitors, then for each: visitor, idempotency key or '', digest of the request or ''
-- Returns for each: what became of it ('new', 'already', 'repeated', 'claimed', 'reused', 'closed',
--        'full'), its ordinal or 0,
--        where the place stands after settling, and up to two times
local NOTE, NOTE_TTL_S = KEYS[17], 600

local refused = open()
if refused then return refused end
if now < R.joins_held_until then
  local wait = R.joins_held_until - now
  local more = settle()
  done(more)
  return answer('held', more, wait)
end

-- What the first sending of this batch gave out, if its answer was lost on the way: those are new.
local note = call('GET', NOTE) or ''
local number, first, last = string.match(note, '^(%d+) (%d+) (%d+) ')
local sent_before = number == ARGV[5]
first, last = tonumber(first or 0), tonumber(last or -1)
local issued_before = R.issued
local waiting = in_line()
local claims = {}

-- Who has a place, which keys are known, and what is to be written: read and written for all at once.
local visitors, held, bodies = {}, {}, {}
local places, marks, keys = {}, {}, {}

local function read()
  for i, place in ipairs(call('ZMSCORE', PLACES, unpack(visitors))) do
    held[visitors[i]] = tonumber(place or nil)
  end
end

local function write()
  if #places > 0 then
    call('ZADD', PLACES, unpack(places))
    call('BITFIELD', round_key(0), unpack(marks))
  end
  if #keys > 0 then call('HSET', keys_key(0), unpack(keys)) end
  places, marks, keys = {}, {}, {}
end

local function remember(key, body)
  if key == '' then return end
  bodies[key] = body
  keys[#keys + 1] = key
  keys[#keys + 1] = body
end

local function is_full()
  if waiting >= R.waiting_max then
    -- Those before in the same batch may not have been let in yet.
    write()
    settle()
    read()
    waiting = in_line()
  end
  return waiting >= R.waiting_max
end

local function take_place(visitor)
  R.issued = R.issued + 1
  held[visitor] = R.issued
  places[#places + 1] = R.issued
  places[#places + 1] = visitor
  local at = #marks
  marks[at + 1], marks[at + 2], marks[at + 3], marks[at + 4] = 'SET', 'u1', R.issued - R.base, 1
  waiting = waiting + 1
  visible = true
  return 'new', R.issued
end

local function claim(place, key, body)
  remember(key, body)
  call('SETBIT', CLAIMED, place - R.base, 1)
  mark(place)
  claims[#claims + 1] = text(place)
  return 'claimed', place
end

local function join(visitor, key, body)
  local known = bodies[key]
  if known and known ~= body then return 'reused', 0 end
  -- A place of this very batch cannot have run out.
  local place = held[visitor]
  if place and place <= issued_before then place = end_if_expired(place) end
  held[visitor] = place
  if place then
    if sent_before and place >= first and place <= last then return 'new', place end
    if known then return 'repeated', place end
    if is_unclaimed(place) then return claim(place, key, body) end
    if sent_before and string.find(note, ',' .. text(place) .. ',', 1, true) then return 'claimed', place end
    return 'already', place
  end
  if R.state ~= 'open' then return 'closed', 0 end
  if is_full() then return 'full', 0 end
  remember(key, body)
  return take_place(visitor)
end

local last_at = 4 + 3 * tonumber(ARGV[6])
local asked = {}
for at = 7, last_at, 3 do
  visitors[#visitors + 1] = ARGV[at]
  if ARGV[at + 1] ~= '' then asked[#asked + 1] = ARGV[at + 1] end
end
read()
if #asked > 0 then
  local current, previous = call('HMGET', keys_key(0), unpack(asked)), call('HMGET', keys_key(1), unpack(asked))
  for i, key in ipairs(asked) do bodies[key] = current[i] or previous[i] or nil end
end

local joined = {}
for at = 7, last_at, 3 do
  local what, ordinal = join(ARGV[at], ARGV[at + 1], ARGV[at + 2])
  joined[#joined + 1] = { what, ordinal, ARGV[at] }
end
write()
if not sent_before and (R.issued > issued_before or #claims > 0) then
  R.fresh = nil
  note = { ARGV[5], text(issued_before + 1), text(R.issued), ',' .. table.concat(claims, ',') .. ',' }
  call('SET', NOTE, table.concat(note, ' '), 'EX', NOTE_TTL_S)
end
local more = settle()
local results = {}
for _, place in ipairs(joined) do
  local state, a, b = 'unknown', 0, 0
  if place[2] > R.head then
    state = 'line'
  elseif place[2] > 0 then
    state, a, b = standing(place[3], place[2])
  end
  local at = #results
  results[at + 1], results[at + 2] = place[1], place[2]
  results[at + 3], results[at + 4], results[at + 5] = state, a, b
end
return done(more, results)
