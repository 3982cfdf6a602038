-- A missing room as a node remembers it: the same room, all of whose places are lost for now. A room that is
-- there is left alone, and to be merged with.
--
-- ARGV   5 epoch  6 state  7 paused  8 issued  9 head  10 floor  11 base  12 version  13 room time last seen
--        14 ... the policy (nine values, '' = absent)
--        23 digest or ''  24 bitmap of the gone  25 bitmap of the done, both by ordinal - base
--        26 ... the counters, in the order of COUNTERS
-- Returns 1 if the room was restored, else 0
clock = read_clock()
if call('EXISTS', ROOM) == 1 then return answer('ok', false, 0) end
begin(14, clock)
R.clock_offset, R.clock_last = 0, clock
local seen = tonumber(ARGV[13])
if seen > clock then R.clock_offset, R.clock_last = seen - clock, seen end
now = room_time()
R.epoch, R.state, R.paused = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
if ARGV[23] ~= '' then R.digest = ARGV[23] end
for i, field in ipairs(COUNTERS) do R[field] = tonumber(ARGV[25 + i]) end
R.version, R.server, R.joins_held_until = tonumber(ARGV[12]), this_server(), now + JOIN_HOLD_MS
call('UNLINK', PLACES, ACTIVE, SINCE, ASIDE, DOOR, GONE, DONE, KEYS[9], KEYS[10], KEYS[11], LOG, KEYS[13], KEYS[14],
  IMPORTED, CLAIMED)
R.issued = tonumber(ARGV[8])
if R.state == 'deleted' then
  delete()
else
  R.head = tonumber(ARGV[9])
  R.floor, R.base = tonumber(ARGV[10]), tonumber(ARGV[11])
  if R.issued > 0 then
    R.lost_after, R.lost_until = R.head, now + math.max(R.presence_ttl, LOST_MIN_MS)
  end
  if ARGV[24] ~= '' then call('SET', GONE, ARGV[24]) end
  if ARGV[25] ~= '' then call('SET', DONE, ARGV[25]) end
end
visible = true
return done(false, 1)
