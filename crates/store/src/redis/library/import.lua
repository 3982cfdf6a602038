-- Places of another queue are taken over, in this order; those who were inside there come first. The rule is
-- core's `Command::Import`.
--
-- ARGV   8 for how many milliseconds those who have not joined yet count as present
--        9 ... for each: visitor, 'waiting' or 'inside'
-- Returns for each: what became of it ('placed', 'repeated', 'already', 'full', 'line ahead'), its ordinal or 0

-- How many are in line; every call counts them anew.
local waiting

local function is_full()
  if waiting >= R.waiting_max then
    settle()
    waiting = in_line()
  end
  return waiting >= R.waiting_max
end

local function take_place(visitor)
  R.issued = R.issued + 1
  R.imported_last = R.issued
  call('ZADD', PLACES, R.issued, visitor)
  call('SETBIT', IMPORTED, R.issued - R.base, 1)
  confirm(R.issued, R.issued)
  visible = true
end

-- Whoever was inside takes nothing of the batch of this tick: the service bears them already.
local function take_place_inside(visitor)
  take_place(visitor)
  R.head = R.issued
  if not R.active_max or call('ZCARD', ACTIVE) < R.active_max then
    R.tick_extra = R.tick_extra + 1
    enter({ text(R.issued) })
  else
    call('ZADD', DOOR, R.issued, R.issued)
  end
end

local function import(visitor, was)
  local place = end_if_expired(find(visitor))
  if place then return is_unclaimed(place) and 'repeated' or 'already', place end
  if was == 'waiting' then
    if is_full() then return 'full', 0 end
    take_place(visitor)
    waiting = waiting + 1
  elseif R.head ~= R.issued then
    -- A place at or below the head of the line must not come behind anybody in it.
    return 'line ahead', 0
  else
    take_place_inside(visitor)
  end
  return 'placed', R.issued
end

register('import', function()
  local refused = open_for_newcomers()
  if refused then return refused end
  local imported_until = max(R.imported_until, now + tonumber(ARGV[8]))
  if imported_until ~= R.imported_until then visible = true end
  R.imported_until = imported_until
  turn_tick()
  waiting = in_line()
  local results = {}
  for at = 9, #ARGV, 2 do
    local what, ordinal = import(ARGV[at], ARGV[at + 1])
    results[#results + 1] = what
    results[#results + 1] = ordinal
  end
  return done(settle(), results)
end)
