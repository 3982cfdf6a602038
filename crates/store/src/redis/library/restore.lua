-- A missing room as a node remembers it: the same room, all of whose places are lost for now. A room that is
-- there is left alone, and to be merged with.
--
-- ARGV   8 epoch  9 state  10 paused  11 issued  12 head  13 floor  14 base  15 version  16 room time last seen
--        17 ... the policy (nine values, '' = absent)
--        26 digest or ''  27 stock or ''  28 the version in which it was told
--        29 bitmap of the gone  30 bitmap of the done, both by ordinal - base
--        31 generation  32 deleted_until  33 admission_held_until  34 ... the counters, in the order of COUNTERS
-- Returns 1 if the room was restored, else 0
register('restore', function()
  clock = read_clock()
  if call('EXISTS', ROOM) == 1 then return answer('ok', false, 0) end
  take_fields({})
  begin(17, clock)
  R.clock_offset, R.clock_last = 0, clock
  local seen = tonumber(ARGV[16])
  if seen > clock then R.clock_offset, R.clock_last = seen - clock, seen end
  now = room_time()
  R.epoch, R.state, R.paused = tonumber(ARGV[8]), ARGV[9], tonumber(ARGV[10])
  if ARGV[26] ~= '' then R.digest = ARGV[26] end
  R.stock, R.stock_version = value_at(27, 'stock') or nil, tonumber(ARGV[28])
  R.deleted_until = tonumber(ARGV[32])
  for i, field in ipairs(COUNTERS) do R[field] = tonumber(ARGV[33 + i]) end
  R.version = tonumber(ARGV[15])
  call('UNLINK', PLACES, ACTIVE, SINCE, ASIDE, DOOR, GONE, DONE, KEYS[9], KEYS[10], KEYS[11], LOG, KEYS[13], KEYS[14],
    IMPORTED, CLAIMED, CONFIRMED)
  R.issued = tonumber(ARGV[11])
  if R.state == 'deleted' then
    empty()
  else
    R.head = tonumber(ARGV[12])
    R.floor, R.base = tonumber(ARGV[13]), tonumber(ARGV[14])
    if R.issued > 0 then
      R.lost_after, R.lost_until = R.head, now + max(R.presence_ttl, LOST_MIN_MS)
    end
    if ARGV[29] ~= '' then call('SET', GONE, ARGV[29]) end
    if ARGV[30] ~= '' then call('SET', DONE, ARGV[30]) end
  end
  R.admission_held_until = tonumber(ARGV[33])
  raise(tonumber(ARGV[31]), number(ARGV[6]))
  visible = true
  return done(false, 1)
end)
