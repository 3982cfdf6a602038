-- Lets nothing change a room any more, because it goes to another store; or lets it go on.
--
-- ARGV   8 why, as the nodes read it; '' lets it go on from the time at which it was frozen
-- Returns why it was frozen before, or ''
register('freeze', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  if R.state == 'deleted' then return answer('deleted') end
  local before = R.frozen or ''
  if ARGV[8] == '' then
    if R.frozen then
      R.frozen = nil
      R.clock_offset = R.clock_last - clock
      now = R.clock_last
      -- Those in line have the whole of the current round to be heard of again.
      R.round_started = now
      visible = true
    end
  elseif not R.frozen then
    -- What nodes know is merged first: a frozen room takes nothing in.
    local fenced = fence()
    if fenced then return answer(fenced) end
    advance_clock()
    turn_rounds()
    R.frozen = ARGV[8]
  else
    R.frozen = ARGV[8]
  end
  return done(false, before)
end)
