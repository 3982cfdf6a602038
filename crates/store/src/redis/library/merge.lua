-- Takes in what a node knows of the room, and begins another generation with the last part of it if this server, or the
-- node, may have missed something. The rule is core's `Command::Merge`.
--
-- ARGV   8 'part' or 'last'
--        9 epoch  10 state  11 issued  12 head  13 floor  14 base  15 version  16 generation  17 deleted_until
--        18 lost_after or ''  19 lost_until or ''  20 room time last seen
--        21 ... the policy (nine values, '' = absent), for a room that was created again
--        30 stock or ''  31 the version in which it was told  32 admission_held_until
--        33 how many gone ordinals follow, then these, then the done ones; at most 1,000 in all
-- Returns nothing of its own; status 'again' if there is more to do before the generation can begin

-- Ends up to `most` places with an ordinal up to `last`; says how many.
local function end_up_to(last, how, most)
  local below = call('ZRANGEBYSCORE', PLACES, '-inf', last, 'WITHSCORES', 'LIMIT', 0, most)
  for i = 2, #below, 2 do end_place(tonumber(below[i]), how) end
  return #below / 2
end

-- The sum of all times of admission is counted from the epoch.
local function set_epoch(epoch)
  R.inside_since = R.inside_since + call('ZCARD', ACTIVE) * (R.epoch - epoch)
  R.epoch = epoch
end

-- Two accounts of what was lost: it begins with the first place that anybody misses, and nobody's time is cut short.
local function join_lost(after, lost_until)
  if not after then return end
  R.lost_after = min(R.lost_after or after, after)
  R.lost_until = max(R.lost_until or lost_until, lost_until)
end

-- The server has gone back to before the room was deleted, or to before it was created again. Says whether it was done.
local function start_over(M)
  if not reset() then return false end
  call('UNLINK', GONE, DONE, IMPORTED, CLAIMED)
  for _, field in ipairs(POLICY) do R[field] = M[field] or nil end
  R.epoch, R.deleted_until, R.state = M.epoch, M.deleted_until, M.state
  R.issued, R.head, R.floor, R.base, R.imported_until = 0, 0, 0, 0, 0
  R.given0, R.given1, R.given2, R.imported_last = 0, 0, 0, 0
  R.stock, R.stock_version = nil, nil
  return true
end

-- Takes in what a node knows, where the store may have forgotten: maximum and union, which commute, so that
-- there is no leader and no order among the nodes. `M` has the fields of a room; `M.gone` and `M.done` list
-- ordinals that ended. Says whether all of it was taken in.
local function merge(M)
  visible = true
  -- Whatever became of the room meanwhile: nobody who has seen a version is shown a lower one.
  R.version = max(R.version, M.version)
  -- The room of this epoch gave way to this one, which came from another store.
  if R.replaced == M.epoch or M.epoch <= R.deleted_until then return true end
  -- The node remembers that the room was deleted, which was before this one was created.
  if M.state == 'deleted' and R.state ~= 'deleted' and R.epoch > M.deleted_until then
    R.deleted_until = max(R.deleted_until, M.deleted_until)
    return true
  end
  local created_since = R.state == 'deleted' and M.state ~= 'deleted'
  if R.epoch <= M.deleted_until or created_since then
    local deleted_until = max(R.deleted_until, M.deleted_until)
    if not start_over(M) then return false end
    R.deleted_until = deleted_until
  end
  if R.state == 'deleted' or M.state == 'deleted' then
    R.issued = max(R.issued, M.issued)
    return empty()
  end
  if M.issued > R.issued then
    R.lost_after = min(R.lost_after or R.issued, R.issued)
    R.lost_until = now + max(R.presence_ttl, LOST_MIN_MS)
    R.issued = M.issued
  end
  -- A node that knew nothing has created the room again; the older one goes on. Its places are behind the head, so
  -- admission waits for their holders as it does for a lost range.
  if M.epoch ~= R.epoch then
    R.admission_held_until = max(R.admission_held_until, now + max(R.presence_ttl, LOST_MIN_MS))
    turned = true
  end
  R.admission_held_until = max(R.admission_held_until, M.admission_held_until)
  set_epoch(min(R.epoch, M.epoch))
  R.deleted_until = max(R.deleted_until, M.deleted_until)
  join_lost(M.lost_after, M.lost_until)
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
    generation = tonumber(ARGV[16]), deleted_until = tonumber(ARGV[17]), lost_after = tonumber(ARGV[18]),
    lost_until = tonumber(ARGV[19]), as_of = tonumber(ARGV[20]), stock = value_at(30, 'stock'),
    stock_version = tonumber(ARGV[31]), admission_held_until = tonumber(ARGV[32]), gone = {}, done = {} }
  for i, field in ipairs(POLICY) do M[field] = value_at(20 + i, field) end
  local gone_last = 33 + tonumber(ARGV[33])
  for at = 34, #ARGV do
    local list = at <= gone_last and M.gone or M.done
    list[#list + 1] = tonumber(ARGV[at])
  end
  return M
end

-- Whether this merge begins another generation. Nobody raises against a higher number on the server that was raised
-- last, so each reason raises once.
local function must_raise(M)
  return is_elsewhere() or M.generation > R.generation or (M.generation == R.generation and ARGV[7] ~= R.server)
    or number(ARGV[6]) > R.term
end

-- Another server has run the room for so long, and this one knows nothing of it: what it knows of passes and missed turns
-- must not run out by that.
local function put_off_deadlines(by)
  for _, key in ipairs({ ACTIVE, ASIDE }) do
    local all = call('ZRANGE', key, '0', '-1', 'WITHSCORES')
    for i = 1, #all, 2 do call('ZADD', key, text(tonumber(all[i + 1]) + by), all[i]) end
  end
  look_up_runs_out()
end

-- Room time goes on from the last that anybody has seen, so that an outage uses up no pass.
local function skip_outage(M, raises)
  if not raises and M.as_of <= room_time() then return end
  local before = R.clock_last
  R.clock_last = max(R.clock_last, M.as_of)
  R.clock_offset = R.clock_last - clock
  if raises and M.generation > R.generation then put_off_deadlines(R.clock_last - before) end
end

register('merge', function()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  if R.frozen then return answer('frozen', false, R.frozen) end
  local M = memory()
  local raises = must_raise(M)
  skip_outage(M, raises)
  advance_clock()
  turn_rounds()
  local whole = merge(M)
  if ARGV[8] == 'part' or not whole then
    -- Nobody is let in before all of it is known; otherwise settling is due as ever.
    local more = not raises and settle()
    done(more)
    return answer(whole and 'ok' or 'again', more)
  end
  if raises then raise(M.generation, number(ARGV[6])) end
  return done(settle())
end)
