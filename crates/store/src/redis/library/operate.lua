-- An operator's word, or that of the service behind the room.
--
-- KEYS   18 the node's note of its last word: its number, gone after ten minutes
-- ARGV   8 number of this word, rising per node; a word that is sent again has the same number
--        9 'pause', 'resume', 'open', 'close', 'drain', 'reset', 'delete', 'admit', 'stock', 'policy' or
--          'change'
--        10 ... 'admit': how many; 'stock': how many are left to sell, or '' if that is not told; 'policy': the policy
--          (nine values, '' = absent), then its digest or '';
--          'change': the policy that was changed, then what it is changed to
-- Returns 'done', or 'stale' if the policy is another one by now than the one that was changed

local NOTE_TTL_S = '600'

local function is_policy(at)
  for i, field in ipairs(POLICY) do
    if R[field] ~= value_at(at + i - 1, field) then return false end
  end
  return true
end

local function set_policy(at)
  local presence_ttl = value_at(at + 5, 'presence_ttl')
  if R.presence_ttl == 0 and presence_ttl > 0 then
    -- Presence matters from now on: who was there when it stopped mattering has three rounds from now.
    call('BITOP', 'OR', round_key(0), round_key(0), round_key(1), round_key(2))
    R.given0, R.given1 = R.given2, R.given2
    R.round_started = now
  end
  if not is_policy(at) then visible, turned = true, true end
  for i, field in ipairs(POLICY) do R[field] = value_at(at + i - 1, field) or nil end
end

local WORDS = {
  pause = function()
    if R.paused == 0 then visible, turned = true, true end
    R.paused = 1
  end,
  resume = function()
    if R.paused == 1 then visible, turned = true, true end
    R.paused = 0
  end,
  open = function() set_state('open') end,
  close = function() set_state('closed') end,
  drain = function() set_state('draining') end,
  reset = function() return not reset() and 'again' or nil end,
  delete = function()
    R.deleted_until = max(R.epoch, now)
    return not empty() and 'again' or nil
  end,
  admit = function()
    -- The one word that means something else when it is heard twice.
    if call('GET', KEYS[18]) == ARGV[8] then return end
    call('SET', KEYS[18], ARGV[8], 'EX', NOTE_TTL_S)
    turn_tick()
    R.tick_extra = min(R.tick_extra + tonumber(ARGV[10]), 1e15)
    visible = true
  end,
  stock = function()
    local left = value_at(10, 'stock')
    if R.stock == left then return end
    -- The version that this call makes.
    R.stock, R.stock_version, visible = left or nil, R.version + 1, true
  end,
  policy = function()
    set_policy(10)
    local digest = value_at(10 + #POLICY, 'digest')
    if digest then R.digest, turned = digest, true end
  end,
  change = function()
    if not is_policy(10) then return 'stale' end
    set_policy(10 + #POLICY)
  end,
}

register('operate', function()
  local refused = open()
  if refused then return refused end
  local what = WORDS[ARGV[9]]()
  if what == 'again' then
    done(false)
    return answer('again')
  end
  return done(settle(), what or 'done')
end, 'allow-oom')
