-- What is done to a whole room: it begins, everybody is put out, or it is deleted.

-- An operator's word and a merge look at no more than so many places in one call.
local PART_MAX = 1000
-- From the first merge joins are held so long, and holders of lost places have at least so long to ask again.
local JOIN_HOLD_MS, LOST_MIN_MS = 1000, 60000
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
  R.lost_after, R.lost_until, R.joins_held_until, R.imported_until = nil, nil, 0, 0
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

-- Everybody out, and nothing remembered but the name and the numbers: tokens of before stay ended.
local function delete()
  if not reset() then return false end
  R.state, R.paused, R.digest = 'deleted', 0, nil
  R.stock, R.stock_version = nil, nil
  turned = true
  for i = 7, 16 do
    if i ~= 12 then call('UNLINK', KEYS[i]) end
  end
  ended_gone, ended_done, set_aside = {}, {}, {}
  return true
end
