-- The live place of a visitor, and where it stands. Changes nothing.
--
-- ARGV   5 visitor
-- Returns the ordinal or 0, where it stands, and up to two times
clock = read_clock()
take(call('HGETALL', ROOM))
if not R.version then return answer('missing') end
if R.state == 'deleted' then return answer('deleted') end
now = room_time()
local place = find(ARGV[5])
if not place then return answer('ok', false, 0, 'unknown', 0, 0) end
return answer('ok', false, place, live_at(place))
