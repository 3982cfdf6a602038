-- Takes in what a node knows of the room, and lifts the fence with the last part of it.
--
-- ARGV   5 'part' or 'last'
--        6 epoch  7 state  8 issued  9 head  10 floor  11 base  12 version
--        13 ... the policy (nine values, '' = absent), for a room that was created again
--        22 how many gone ordinals follow, then these, then the done ones; at most 1,000 in all
-- Returns nothing of its own; status 'again' if there is more to do before the fence can be lifted
clock = read_clock()
take(call('HGETALL', ROOM))
if not R.version then return answer('missing') end
if R.frozen then return answer('frozen', false, R.frozen) end
advance_clock()
turn_rounds()

local M = { epoch = tonumber(ARGV[6]), state = ARGV[7], issued = tonumber(ARGV[8]), head = tonumber(ARGV[9]),
  floor = tonumber(ARGV[10]), base = tonumber(ARGV[11]), version = tonumber(ARGV[12]), gone = {}, done = {} }
for i, field in ipairs(POLICY) do
  local value = ARGV[12 + i]
  if value == '' then value = nil end
  if value and not TEXT[field] then value = tonumber(value) end
  M[field] = value
end
local gone_last = 22 + tonumber(ARGV[22])
for at = 23, #ARGV do
  local list = at <= gone_last and M.gone or M.done
  list[#list + 1] = tonumber(ARGV[at])
end

local fenced = string.match(R.server, '^%x+') ~= run_id()
local whole = merge(M, fenced)
if ARGV[5] == 'part' or not whole then
  -- Behind the fence nobody is let in; without one, settling is due as ever.
  local more = not fenced and settle()
  done(more)
  return answer(whole and 'ok' or 'again', more)
end
if fenced then R.server = this_server() end
return done(settle())
