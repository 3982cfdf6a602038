-- What is done to a whole room: it begins, everybody is put out, or it is deleted.

-- An operator's command and a merge look at no more places than this in one call.
local PART_MAX = 1000
-- Holders of lost places have at least this long to ask again.
local LOST_MIN_MS = 60000
local COUNTERS = { 'admitted', 'departed', 'expired', 'finished', 'left', 'revoked', 'stepped_over', 'missed',
  'restored', 'stayed_ms' }
local POLICY = { 'every', 'batch', 'active_max', 'pass_ttl', 'pass_max', 'presence_ttl', 'missed_turn_ttl',
  'waiting_max', 'identity' }

-- The value of a field as an argument has it; '' is absent.
local function value_at(at, field)
  local value = ARGV[at]
  if value == '' then return false end
  if TEXT[field] then return value end
  return tonumber(value)
end

-- A room that begins now. `from` is where its policy starts in ARGV.
local function begin(from, at)
  for i, field in ipairs(POLICY) do R[field] = value_at(from + i - 1, field) or nil end
  for _, field in ipairs(COUNTERS) do R[field] = 0 end
  R.epoch, R.state, R.paused, R.digest = at, 'open', 0, nil
  R.stock, R.stock_version = nil, nil
  R.issued, R.head, R.floor, R.base, R.inside_since = 0, 0, 0, 0, 0
  R.tick_start, R.tick_admitted, R.tick_extra = at, 0, 0
  R.round, R.round_started, R.key_round, R.key_round_started = 0, at, 0, at
  R.given0, R.given1, R.given2, R.imported_last = 0, 0, 0, 0
  R.logged, R.runs_out = R.logged or 0, nil
  R.lost_after, R.lost_until, R.joins_held_until, R.admission_held_until, R.imported_until = nil, nil, 0, 0, 0
end

-- Everybody out, whatever the length of the line, by one number: `floor`. Says whether it was done; passes
-- that ran out are ended as such first, and there may be too many of them for one call.
local function reset()
  if expire_due(PART_MAX) == PART_MAX then return false end
  local inside = call('ZCARD', ACTIVE)
  R.departed = R.departed + inside
  R.stayed_ms = R.stayed_ms + inside * (now - R.epoch) - R.inside_since
  R.revoked = R.revoked + call('ZCARD', PLACES)
  R.inside_since = 0
  R.floor, R.head = R.issued, R.issued
  R.lost_after, R.lost_until = nil, nil
  call('UNLINK', PLACES, ACTIVE, SINCE, ASIDE, DOOR)
  visible = true
  return true
end

-- Everybody out, and nothing remembered but the name and the numbers: tokens given so far stay ended.
local function empty()
  if not reset() then return false end
  R.state, R.paused, R.digest = 'deleted', 0, nil
  R.stock, R.stock_version = nil, nil
  turned = true
  for i = 7, 17 do
    if i ~= 12 then call('UNLINK', KEYS[i]) end
  end
  ended_gone, ended_done, set_aside = {}, {}, {}
  return true
end

-- Begins another generation, since this server or the node may have missed something. The rule is core's `Room::raise`.
local raise
do
  -- Joins are held so long, and so is admission; behind those who may replace a server longer, as a node that was cut
  -- off with the former server opens the gate for a while.
  local JOIN_HOLD_MS, ADMISSION_HOLD_MS = 1000, 2500
  -- So that versions of a generation are higher than those of the one before, wherever that was shown.
  local VERSION_JUMP = 1048576

  function raise(generation, term)
    R.generation, R.term = max(R.generation, generation) + 1, max(R.term, term)
    R.version, R.server = R.version + VERSION_JUMP, this_server()
    R.joins_held_until = now + JOIN_HOLD_MS
    local hold = R.term > 0 and ADMISSION_HOLD_MS or JOIN_HOLD_MS
    R.admission_held_until = max(R.admission_held_until, now + hold)
    if R.lost_after then R.lost_until = now + max(R.presence_ttl, LOST_MIN_MS) end
    call('UNLINK', CONFIRMED)
  end
end
