-- What is true of one place, and what may become of it.

local function find(visitor)
  return tonumber(call('ZSCORE', PLACES, visitor) or nil)
end

local function holds(ordinal)
  return call('ZCOUNT', PLACES, ordinal, ordinal) > 0
end

-- A live place: its state, and the figures that this state has: inside, when the pass runs out and when it was given;
-- aside, when the missed turn is given up; at the door, how many go in first.
local function live_at(ordinal)
  if ordinal > R.head then return 'line' end
  local expires_at = tonumber(call('ZSCORE', ACTIVE, ordinal) or nil)
  if expires_at then
    if expires_at <= now then return 'done' end
    return 'inside', expires_at, tonumber(call('HGET', SINCE, ordinal) or expires_at)
  end
  local given_up = tonumber(call('ZSCORE', ASIDE, ordinal) or nil)
  if given_up then
    if given_up <= now then return 'gone' end
    return 'aside', given_up
  end
  return 'door', call('ZRANK', DOOR, ordinal) or 0
end

-- Where a holder stands: a live state, 'gone', 'done', 'lost' (a write was lost) or 'unknown' (never given).
local function standing(visitor, ordinal)
  if find(visitor) == ordinal then return live_at(ordinal) end
  -- From the ordinal alone: below `base` all are long done, up to `floor` a reset put everybody out.
  if ordinal <= R.base or bit_at(DONE, ordinal) then return 'done' end
  if ordinal <= R.floor or bit_at(GONE, ordinal) then return 'gone' end
  if ordinal > R.issued then return 'unknown' end
  -- Given to somebody else: a node that was cut off while the others merged has signed it too. Who ran out is done,
  -- whether or not settling has come to them.
  if holds(ordinal) then return live_at(ordinal) == 'done' and 'done' or 'gone' end
  return 'lost'
end

-- `inside_since` is the sum of all times of admission, counted from the epoch, so that a reset knows how long
-- everybody stayed without looking at anybody.
local function note_stay(ordinal)
  local since = tonumber(call('HGET', SINCE, ordinal) or nil)
  if not since then return end
  call('HDEL', SINCE, ordinal)
  R.inside_since = R.inside_since - (since - R.epoch)
  R.stayed_ms = R.stayed_ms + max(0, now - since)
end

-- Ends a place in whatever live state it is, or a lost one. `why` is a letter for the log: l left, r removed,
-- m missed, f finished, e expired; without it nobody can be told why.
local function end_place(ordinal, how, why)
  if call('ZREM', ACTIVE, ordinal) == 1 then
    note_stay(ordinal)
    R.departed = R.departed + 1
  elseif call('ZREM', ASIDE, ordinal) == 0 then
    call('ZREM', DOOR, ordinal)
  end
  call('ZREMRANGEBYSCORE', PLACES, ordinal, ordinal)
  local bits, list = GONE, ended_gone
  if how == 'done' then bits, list = DONE, ended_done end
  if ordinal > R.base then call('SETBIT', bits, ordinal - R.base, 1) end
  list[#list + 1] = text(ordinal)
  list.why = (list.why or '') .. (why or '?')
  visible = true
end

-- A pass that ran out is no place, even before it was swept.
local function end_if_expired(place)
  if not place or place > R.head then return place end
  local expires_at = tonumber(call('ZSCORE', ACTIVE, place) or nil)
  if not expires_at or expires_at > now then return place end
  R.expired = R.expired + 1
  end_place(place, 'done', 'e')
end

-- Notes that the holder of a live place is there; one who missed a turn is at the door again.
local function mark(ordinal)
  local given_up
  if ordinal <= R.head then
    if call('ZSCORE', ACTIVE, ordinal) then return end
    given_up = tonumber(call('ZSCORE', ASIDE, ordinal) or nil)
    if given_up and given_up <= now then return end
  end
  call('SETBIT', round_key(0), ordinal - R.base, 1)
  if given_up then
    call('ZREM', ASIDE, ordinal)
    call('ZADD', DOOR, ordinal, ordinal)
    visible = true
  end
end

-- A holder is there: a place aside comes to the door, a lost one is put back. And the same for a place that a node has
-- acknowledged or whose token it has seen, which somebody may hold who was never told of it.
local restore_place, retell_place
do
  local function lacks_proof(ordinal)
    return R.generation > 0 and R.lost_after and holds(ordinal) and not bit_at(CONFIRMED, ordinal)
  end

  -- Whether a place that waits is held by a visitor who may never have received it: a server that was replaced gave it,
  -- and came back without knowing that another server had given it meanwhile.
  local function is_unproven(ordinal)
    return lacks_proof(ordinal) and not call('ZSCORE', ACTIVE, ordinal)
  end

  -- The same for a place inside.
  local function is_inside_unproven(ordinal)
    return lacks_proof(ordinal) and call('ZSCORE', ACTIVE, ordinal)
  end

  -- Drops a place without ending it: another visitor may have been told of it.
  local function forget(ordinal)
    if call('ZREM', ASIDE, ordinal) == 0 then call('ZREM', DOOR, ordinal) end
    call('ZREMRANGEBYSCORE', PLACES, ordinal, ordinal)
    visible = true
  end

  -- Puts a lost place back. It was counted as waiting all the time, so nobody's `ahead` changes. If the visitor
  -- has joined again meanwhile, the lower ordinal stays and the other is gone; but whoever is inside stays. A place of
  -- theirs that nobody has proved gives way in any case.
  local function put_back(visitor, ordinal)
    local other = end_if_expired(find(visitor))
    if other then
      if is_inside_unproven(other) then
        end_place(other, 'done')
      elseif is_unproven(other) then
        forget(other)
      elseif other < ordinal or call('ZSCORE', ACTIVE, other) then
        return end_place(ordinal, 'gone')
      else
        end_place(other, 'gone')
      end
    end
    -- A holder who gives way stood where this one stands now.
    local displaced = call('ZREMRANGEBYSCORE', PLACES, ordinal, ordinal) > 0
    call('ZADD', PLACES, ordinal, visitor)
    if ordinal <= R.head and not displaced then call('ZADD', DOOR, ordinal, ordinal) end
    R.restored = R.restored + 1
    confirm(ordinal, ordinal)
    mark(ordinal)
    visible = true
  end

  function restore_place(visitor, ordinal)
    local state = standing(visitor, ordinal)
    if state == 'lost' then
      put_back(visitor, ordinal)
    elseif state ~= 'gone' and state ~= 'done' and state ~= 'unknown' then
      confirm(ordinal, ordinal)
      mark(ordinal)
    end
  end

  function retell_place(visitor, ordinal)
    if find(visitor) ~= ordinal and is_unproven(ordinal) then
      put_back(visitor, ordinal)
    else
      restore_place(visitor, ordinal)
    end
  end
end
