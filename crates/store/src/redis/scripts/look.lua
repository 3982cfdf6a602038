-- What a node's view needs: the room but for its places, and what ended since a version. Changes nothing.
--
-- ARGV   5 the version that the node has; -1 takes a snapshot
--        6 the epoch that it belongs to
--        7 the server that it was written on
-- Returns { status, ..., room time, this server's run id, the hash, how many are inside, aside, at the door, when
--        settling has something to do next or -1, 'log' and what ended since as { gone, done, aside, ... } or
--        'snapshot' and { bitmap of the gone, bitmap of the done } or 'same' }
-- A stream that was trimmed does not say so itself, so the first id is compared: ids have no holes.
local LOG_PAGE = 256
clock = read_clock()
local flat = call('HGETALL', ROOM)
take(flat)
if not R.version then return answer('missing', false, run_id()) end
now = room_time()
local version = tonumber(ARGV[5])

local function earliest(key)
  return tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
end

local function next_due()
  local due = math.huge
  local line = in_line()
  if R.paused == 0 and (line > 0 or call('ZCARD', DOOR) > 0) then due = R.tick_start + R.every end
  if line > 0 and R.presence_ttl > 0 then
    due = math.min(due, R.round_started + math.floor(R.presence_ttl / 2))
  end
  due = math.min(due, earliest(ACTIVE) or due, earliest(ASIDE) or due, R.lost_until or due)
  return due == math.huge and -1 or due
end

local function since_then()
  if version == R.version and tonumber(ARGV[6]) == R.epoch then return 'same', {} end
  local behind = R.version - version
  if version < 0 or behind < 0 or behind > LOG_PAGE or tonumber(ARGV[6]) ~= R.epoch or ARGV[7] ~= R.server then
    return 'snapshot', { call('GET', GONE) or '', call('GET', DONE) or '' }
  end
  local entries = call('XRANGE', LOG, text(version + 1) .. '-1', '+')
  if #entries ~= behind or entries[1][1] ~= text(version + 1) .. '-1' then
    return 'snapshot', { call('GET', GONE) or '', call('GET', DONE) or '' }
  end
  local ended = { gone = {}, done = {}, aside = {} }
  for _, entry in ipairs(entries) do
    local fields = entry[2]
    for i = 1, #fields, 2 do
      local list = ended[fields[i]]
      if list then list[#list + 1] = fields[i + 1] end
    end
  end
  local join = function(list) return table.concat(list, ' ') end
  return 'log', { join(ended.gone), join(ended.done), join(ended.aside) }
end

local how, what = since_then()
return answer('ok', false, run_id(), flat, call('ZCARD', ACTIVE), call('ZCARD', ASIDE), call('ZCARD', DOOR),
  next_due(), how, what)
