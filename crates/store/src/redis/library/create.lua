-- Makes a room where there is none, or begins a deleted one again with another epoch; one that is there stays.
--
-- ARGV   8 ... the policy (nine values, '' = absent), then its digest or '', then the ordinal behind which those of a
--          room begin that is not there at all
-- Returns 1 if it was made, else 0
register('create', function()
  clock = read_clock()
  read_room()
  local digest = value_at(8 + #POLICY, 'digest')
  if not R.version then
    begin(8, clock)
    R.version, R.clock_offset, R.clock_last, R.server = 0, 0, clock, this_server()
    R.digest, R.term = digest or nil, tonumber(ARGV[6])
    local last = tonumber(ARGV[9 + #POLICY])
    R.issued, R.head, R.given0, R.given1, R.given2 = last, last, last, last, last
    advance_clock()
    return done(settle(), 1)
  end
  if R.frozen then return answer('frozen', false, R.frozen) end
  local fenced = fence()
  if fenced then return answer(fenced) end
  advance_clock()
  turn_rounds()
  if R.state ~= 'deleted' then return done(settle(), 0) end
  local epoch = max(now, R.deleted_until + 1)
  begin(8, now)
  R.epoch, R.digest = epoch, digest or nil
  visible, turned = true, true
  return done(settle(), 1)
end)
