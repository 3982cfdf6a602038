-- A holder inside has business that lasts so long from now, or has no more.
--
-- ARGV   8 visitor
--        9 ordinal
--       10 milliseconds; with 0 the pass lasts no longer than from a use at this moment
-- Returns where the holder stands after settling, and the figures that `live_at` has for that
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
