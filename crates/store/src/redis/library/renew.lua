-- Holders ask where they stand.
--
-- ARGV   8 ... for each: 'renew' (the gate: a live pass is renewed) or 'ask' (nothing is renewed), visitor, ordinal.
--          In both, a place aside comes to the door and a lost one is put back.
-- Returns for each: where it stands after settling, and the figures that `live_at` has for that

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
      if R.lost_after then confirm(ordinals[i] + 0, ordinals[i] + 0) end
    end
  end
  if at > 0 then call('ZADD', ACTIVE, unpack(renewed, 1, at)) end
  for i = 1, count do
    if not passes[i] then restore_place(visitors[i], tonumber(ordinals[i])) end
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
