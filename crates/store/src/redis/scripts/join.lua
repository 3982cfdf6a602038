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

local function key_of(at)
  local key = ARGV[at + 1]
  if key == '' then return nil end
  local body = call('HGET', keys_key(0), key) or call('HGET', keys_key(1), key)
  if not body then return 'fresh', key, ARGV[at + 2] end
  return body == ARGV[at + 2] and 'known' or 'reused'
end

local function join(at)
  local visitor = ARGV[at]
  local known, key, body = key_of(at)
  if known == 'reused' then return 'reused', 0 end
  local place = end_if_expired(find(visitor))
  if place then
    if sent_before and place >= first and place <= last then return 'new', place end
    if known == 'known' then return 'repeated', place end
    if is_unclaimed(place) then
      if known == 'fresh' then call('HSET', keys_key(0), key, body) end
      call('SETBIT', CLAIMED, place - R.base, 1)
      mark(place)
      claims[#claims + 1] = text(place)
      return 'claimed', place
    end
    if sent_before and string.find(note, ',' .. text(place) .. ',', 1, true) then return 'claimed', place end
    return 'already', place
  end
  if R.state ~= 'open' then return 'closed', 0 end
  if waiting >= R.waiting_max then
    -- Those before in the same batch may not have been let in yet.
    settle()
    waiting = in_line()
    if waiting >= R.waiting_max then return 'full', 0 end
  end
  if known == 'fresh' then call('HSET', keys_key(0), key, body) end
  R.issued = R.issued + 1
  call('ZADD', PLACES, R.issued, visitor)
  call('SETBIT', round_key(0), R.issued - R.base, 1)
  waiting = waiting + 1
  visible = true
  return 'new', R.issued
end

local joined = {}
for at = 7, 4 + 3 * tonumber(ARGV[6]), 3 do
  local what, ordinal = join(at)
  joined[#joined + 1] = { what, ordinal, ARGV[at] }
end
if not sent_before and (R.issued > issued_before or #claims > 0) then
  R.fresh = nil
  note = { ARGV[5], text(issued_before + 1), text(R.issued), ',' .. table.concat(claims, ',') .. ',' }
  call('SET', NOTE, table.concat(note, ' '), 'EX', NOTE_TTL_S)
end
local more = settle()
local results = {}
for _, place in ipairs(joined) do
  local state, a, b = 'unknown', 0, 0
  if place[2] > 0 then state, a, b = standing(place[3], place[2]) end
  for _, value in ipairs({ place[1], place[2], state, a, b }) do results[#results + 1] = value end
end
return done(more, results)
