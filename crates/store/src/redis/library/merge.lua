-- Takes in what a node knows of the room, and lifts the fence with the last part of it.
--
-- ARGV   8 'part' or 'last'
--        9 epoch  10 state  11 issued  12 head  13 floor  14 base  15 version
--        16 ... the policy (nine values, '' = absent), for a room that was created again
--        25 stock or ''  26 the version in which it was told
--        27 how many gone ordinals follow, then these, then the done ones; at most 1,000 in all
-- Returns nothing of its own; status 'again' if there is more to do before the fence can be lifted

-- Ends up to `most` places with an ordinal up to `last`; says how many.
local function end_up_to(last, how, most)
  local below = call('ZRANGEBYSCORE', PLACES, '-inf', last, 'WITHSCORES', 'LIMIT', 0, most)
  for i = 2, #below, 2 do end_place(tonumber(below[i]), how) end
  return #below / 2
end

-- Takes in what a node knows, where the store may have forgotten: maximum and union, which commute, so that
-- there is no leader and no order among the nodes. `M` has the fields of a room; `M.gone` and `M.done` list
-- ordinals that ended. Says whether all of it was taken in.
local function merge(M, first)
  visible = true
  -- Whatever became of the room meanwhile: nobody who has seen a version is shown a lower one.
  R.version = max(R.version, M.version)
  if first then R.joins_held_until = now + JOIN_HOLD_MS end
  -- The empty room of this epoch gave way to this one when it came from another store.
  if R.replaced == M.epoch then return true end
  -- A node without memory has made the room anew after all was lost; nobody has joined that one.
  local made_anew = R.fresh == 1 and M.epoch < R.epoch
  if M.epoch < R.epoch and not made_anew then return true end
  if M.epoch > R.epoch or made_anew then
    -- The store has gone back to before the room was deleted and created again.
    if not reset() then return false end
    call('UNLINK', GONE, DONE, IMPORTED, CLAIMED)
    for _, field in ipairs(POLICY) do R[field] = M[field] or nil end
    R.epoch, R.state = M.epoch, M.state
    R.issued, R.head, R.floor, R.base, R.imported_until = 0, 0, 0, 0, 0
    R.given0, R.given1, R.given2, R.imported_last = 0, 0, 0, 0
    R.stock, R.stock_version = nil, nil
    R.fresh = nil
  end
  if R.state == 'deleted' or M.state == 'deleted' then
    R.issued = max(R.issued, M.issued)
    return delete()
  end
  if M.issued > R.issued then
    R.lost_after = min(R.lost_after or R.issued, R.issued)
    R.lost_until = now + max(R.presence_ttl, LOST_MIN_MS)
    R.issued = M.issued
  end
  R.floor = max(R.floor, M.floor)
  set_base(max(R.base, M.base))
  -- What was told last; of two that were told in the same version, while the nodes were apart, the larger.
  local told = R.stock_version or 0
  if M.stock_version > told or (M.stock_version == told and (tonumber(M.stock) or -1) > (tonumber(R.stock) or -1)) then
    R.stock, R.stock_version = M.stock or nil, M.stock_version
  end
  for _, ordinal in ipairs(M.gone) do end_place(ordinal, 'gone') end
  for _, ordinal in ipairs(M.done) do end_place(ordinal, 'done') end
  local looked = end_up_to(R.base, 'done', PART_MAX)
  looked = looked + end_up_to(R.floor, 'gone', PART_MAX - looked)
  -- Places in line that the nodes saw pass by go to the door.
  local head = max(R.head, M.head)
  local passed = call('ZRANGEBYSCORE', PLACES, '(' .. text(R.head), head, 'WITHSCORES', 'LIMIT', 0, PART_MAX)
  for i = 2, #passed, 2 do
    call('ZADD', DOOR, passed[i], passed[i])
    head = max(R.head, tonumber(passed[i]))
  end
  local whole = looked < PART_MAX and #passed < PART_MAX * 2
  if whole then head = max(R.head, M.head) end
  R.head = head
  if R.lost_after then R.lost_after = max(R.lost_after, R.head) end
  return whole
end

-- What the node knows, as the arguments have it.
local function memory()
  local M = { epoch = tonumber(ARGV[9]), state = ARGV[10], issued = tonumber(ARGV[11]), head = tonumber(ARGV[12]),
    floor = tonumber(ARGV[13]), base = tonumber(ARGV[14]), version = tonumber(ARGV[15]),
    stock = value_at(25, 'stock'), stock_version = tonumber(ARGV[26]), gone = {}, done = {} }
  for i, field in ipairs(POLICY) do M[field] = value_at(15 + i, field) end
  local gone_last = 27 + tonumber(ARGV[27])
  for at = 28, #ARGV do
    local list = at <= gone_last and M.gone or M.done
    list[#list + 1] = tonumber(ARGV[at])
  end
  return M
end

register('merge', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  if R.frozen then return answer('frozen', false, R.frozen) end
  advance_clock()
  turn_rounds()
  local fenced = is_fenced()
  local whole = merge(memory(), fenced)
  if ARGV[8] == 'part' or not whole then
    -- Behind the fence nobody is let in; without one, settling is due as ever.
    local more = not fenced and settle()
    done(more)
    return answer(whole and 'ok' or 'again', more)
  end
  if fenced then R.server = this_server() end
  return done(settle())
end)
