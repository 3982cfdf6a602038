-- Holders ask where they stand.
--
-- ARGV   8 ... for each: 'renew' (the gate: a live pass is renewed) or 'ask' (nothing is renewed), visitor, ordinal.
--          In both, a place aside comes to the door and a lost one is put back.
-- Returns for each: where it stands after settling, and the times that `live_at` has for that
local refused = open()
if refused then return refused end

-- Those who are inside, nearly all who come here, are read and renewed at once; settling ends no pass that has not run
-- out. What is known of the others depends on those before them.
local visitors, ordinals = {}, {}
for at = 8, #ARGV, 3 do
  local i = #visitors + 1
  visitors[i], ordinals[i] = ARGV[at + 1], ARGV[at + 2]
end
local places, passes = call('ZMSCORE', PLACES, unpack(visitors)), call('ZMSCORE', ACTIVE, unpack(ordinals))
local since = call('HMGET', SINCE, unpack(ordinals))
local renewed, longer = {}, now + R.pass_ttl
local longer_text = text(longer)
for i = 1, #visitors do
  local expires_at = places[i] == ordinals[i] and tonumber(passes[i] or nil)
  if not expires_at or expires_at <= now then
    passes[i] = false
  else
    since[i] = tonumber(since[i] or expires_at)
    local until_then = longer
    if R.pass_max > 0 then until_then = math.min(longer, since[i] + R.pass_max) end
    if ARGV[5 + 3 * i] == 'renew' and until_then > expires_at then
      local at = #renewed
      renewed[at + 1] = until_then == longer and longer_text or text(until_then)
      renewed[at + 2] = ordinals[i]
      expires_at = until_then
    end
    passes[i] = expires_at
  end
end
if #renewed > 0 then call('ZADD', ACTIVE, unpack(renewed)) end

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

for i = 1, #visitors do
  if not passes[i] then restore(visitors[i], tonumber(ordinals[i])) end
end
local more = settle()
local results = {}
for i = 1, #visitors do
  local at = #results
  if passes[i] then
    results[at + 1], results[at + 2], results[at + 3] = 'inside', passes[i], since[i]
  else
    results[at + 1], results[at + 2], results[at + 3] = standing(visitors[i], tonumber(ordinals[i]))
  end
end
return done(more, results)
