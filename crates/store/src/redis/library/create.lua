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
