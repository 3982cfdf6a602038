-- What a node's view needs: the room but for its places, and what ended since a version. Changes nothing.
--
-- ARGV   8 epoch of the view
-- Returns { status, ..., this server's run id, the room's fields, how many are inside, aside, at the door, when settling has
--        something to do next or -1, 'log' and what ended since as `told_ended` has it or 'snapshot' and { bitmap of
--        the gone, bitmap of the done } or 'same' }

local function since_then()
  local version = tonumber(ARGV[5])
  if version >= 0 and tonumber(ARGV[8]) == R.epoch and ARGV[7] == R.server then
    if version == R.version then return 'same', {} end
    local ended = ended_since(version)
    if ended then return 'log', ended end
  end
  return 'snapshot', { call('GET', GONE) or '', call('GET', DONE) or '' }
end

register('look', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing', false, run_id()) end
  -- Before what nodes know is merged, time stands still.
  now = is_elsewhere() and R.clock_last or room_time()
  local how, what = since_then()
  local due = next_due()
  return answer('ok', false, run_id(), fields(), call('ZCARD', ACTIVE), call('ZCARD', ASIDE), call('ZCARD', DOOR), due, how,
    what)
end, 'no-writes')
