-- The live place of a visitor, and where it stands. Changes nothing.
--
-- ARGV   8 visitor
-- Returns the ordinal or 0, where it stands, and the figures that `live_at` has for that
register('find', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  local fenced = fence()
  if fenced then return answer(fenced) end
  if R.state == 'deleted' then return answer('deleted') end
  now = room_time()
  local place = find(ARGV[8])
  if not place then return answer('ok', false, 0, 'unknown') end
  return answer('ok', false, place, live_at(place))
end, 'no-writes')
