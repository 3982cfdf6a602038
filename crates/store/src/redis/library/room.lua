-- Reading a room, writing it back, and what the node is told.

-- A number as Redis takes it. One that Redis itself has to write out costs it several times as much.
local function text(value)
  if type(value) == 'number' then return string.format('%d', value) end
  return value
end

-- The numbers from one to another, as `text` has each. Only every tenth is written out.
local function texts(first, last)
  local DIGITS = { [0] = '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' }
  local list, tens, format = {}, '', string.format
  local digit = first % 10
  if first >= 10 then tens = format('%d', (first - digit) / 10) end
  for i = 1, last - first + 1 do
    list[i] = tens .. DIGITS[digit]
    digit = digit + 1
    if digit == 10 then tens, digit = format('%d', (first + i) / 10), 0 end
  end
  return list
end

local function read_room()
  local packed = call('GET', ROOM)
  if not packed then return end
  R = setmetatable(cmsgpack.unpack(packed), ABSENT)
  head_before, base_before, admitted_before, lost_before = R.head, R.base, R.admitted, R.lost_after
end

-- Always: a `WAIT` behind a call that wrote nothing would confirm nothing.
local function save()
  call('SET', ROOM, cmsgpack.pack(R))
end

-- Whether the room was last written on another server than runs this script. A restart, a failover and a moved slot
-- all give it another name.
local function is_fenced()
  local writer = string.match(R.server, '^%x+') or R.server
  return not string.find(call('INFO', 'server'), 'run_id:' .. writer .. '\r', 1, true)
end

local function read_clock()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local t = call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Room time at `clock`: never before the last transition.
local function room_time()
  return math.max(clock + R.clock_offset, R.clock_last)
end

-- Room time for a transition. If the clock went back, the offset grows and room time stands still.
local function advance_clock()
  now = room_time()
  if now == R.clock_last then R.clock_offset = R.clock_last - clock end
  R.clock_last = now
end

local function round_key(age)
  return KEYS[9 + (R.round - age) % 3]
end

local function keys_key(age)
  return KEYS[13 + (R.key_round - age) % 2]
end

local function turn_keys()
  R.key_round = R.key_round + 1
  R.key_round_started = now
  call('UNLINK', keys_key(0))
end

-- Rounds end one at a time and only here, so an outage or a jump of the clock makes nobody absent. A key is remembered
-- for one to two rounds.
local function turn_rounds()
  local KEY_ROUND_MS = 600000
  if R.presence_ttl > 0 and now >= R.round_started + math.floor(R.presence_ttl / 2) then
    R.round = R.round + 1
    R.round_started = now
    call('UNLINK', round_key(0))
  end
  if now >= R.key_round_started + KEY_ROUND_MS then
    local silent = now >= R.key_round_started + KEY_ROUND_MS * 2
    turn_keys()
    if silent then turn_keys() end
  end
end

local function bit_at(key, ordinal)
  return ordinal > R.base and call('GETBIT', key, ordinal - R.base) == 1
end

-- Whether an import gave the place and no join has asked for it yet.
local function is_unclaimed(ordinal)
  return bit_at(IMPORTED, ordinal) and not bit_at(CLAIMED, ordinal)
end

local function in_line()
  return call('ZCOUNT', PLACES, '(' .. text(R.head), '+inf')
end

-- When the first pass or missed turn of a set runs out.
local function earliest(key)
  return tonumber(call('ZRANGE', key, '0', '0', 'WITHSCORES')[2]) or math.huge
end

-- When settling has something to do next, or -1.
local function next_due()
  local due = runs_out
  local line = R.head < R.issued
  if R.paused == 0 and (line or call('ZCARD', DOOR) > 0) then due = math.min(due, R.tick_start + R.every) end
  if line and R.presence_ttl > 0 then
    due = math.min(due, R.round_started + math.floor(R.presence_ttl / 2))
  end
  due = math.min(due, R.lost_until or due)
  return due == math.huge and -1 or due
end

-- What ended or was set aside since a version, as three texts, and whether more than numbers has changed since; nil if
-- the log does not reach back so far. A stream that was trimmed does not say so itself, so the first id is compared: ids
-- have no holes.
local function ended_since(version)
  local LOG_PAGE = 256
  local behind = R.version - version
  if behind < 0 or behind > LOG_PAGE then return end
  local entries = call('XRANGE', LOG, text(version + 1) .. '-1', '+')
  if #entries ~= behind or entries[1][1] ~= text(version + 1) .. '-1' then return end
  local ended, more = { gone = {}, done = {}, aside = {} }, false
  for _, entry in ipairs(entries) do
    local fields = entry[2]
    for i = 1, #fields, 2 do
      local list = ended[fields[i]]
      if list then
        list[#list + 1] = fields[i + 1]
      elseif fields[i] == 'turned' then
        more = true
      end
    end
  end
  local join = function(list) return table.concat(list, ' ') end
  return { join(ended.gone), join(ended.done), join(ended.aside) }, more
end

-- Whether this call gave places and did nothing else that a view shows: settling has let nobody in, and ended and set
-- aside nobody.
local function is_calm()
  return only_newcomers and not turned and R.head == head_before and R.base == base_before
    and R.admitted == admitted_before and R.lost_after == lost_before
    and #ended_gone + #ended_done + #set_aside == 0
end

-- What a node needs to show the room as it is now, if it shows an earlier version of it:
-- { the fields of EVER, next due }, and if more than `issued` has changed since { ... the fields of THEN, how many are
-- inside, aside, at the door, what ended since: gone, done, set aside }. A field that is absent is -1. Nothing else
-- changes without `turned`, nor do the fields of THEN without a new version.
local function news()
  local EVER = { 'tick_start', 'tick_admitted', 'tick_extra', 'round', 'round_started', 'key_round',
    'key_round_started' }
  local known = tonumber(ARGV[5])
  if known < 0 or not runs_out or ARGV[7] ~= R.server or tonumber(ARGV[6]) ~= R.epoch then return {} end
  local told, at = {}, #EVER + 1
  for i = 1, #EVER do told[i] = R[EVER[i]] end
  told[at] = next_due()
  local behind = R.version - known
  if behind == 0 then return turned and {} or told end
  if behind > 0 and R.calm_at == R.version and known >= R.calm then return told end
  local ended, more
  if behind == 1 and visible then
    ended, more = { table.concat(ended_gone, ' '), table.concat(ended_done, ' '), table.concat(set_aside, ' ') }, turned
  else
    ended, more = ended_since(known)
  end
  if not ended or more then return {} end
  local THEN = { 'floor', 'base', 'lost_after', 'lost_until', 'joins_held_until', 'imported_until', 'stock', 'stock_version',
    'admitted', 'departed', 'expired', 'finished', 'left', 'revoked', 'stepped_over', 'missed', 'restored', 'stayed_ms' }
  for i = 1, #THEN do
    told[at + i] = R[THEN[i]] or -1
  end
  at = at + #THEN
  told[at + 1], told[at + 2], told[at + 3] = call('ZCARD', ACTIVE), call('ZCARD', ASIDE), call('ZCARD', DOOR)
  told[at + 4], told[at + 5], told[at + 6] = ended[1], ended[2], ended[3]
  return told
end

local function answer(status, more, ...)
  return { status, more and 1 or 0, R.version or 0, R.head or 0, R.issued or 0, now or 0, {}, ... }
end

-- Writes the room, tells the views, and answers.
local function done(more, ...)
  -- Views that fall further behind take a snapshot.
  local LOG_MAX = '4096'
  if visible then
    -- Versions after `calm` only gave places, if `calm_at` is the last one: a node of another release may have made it.
    local calm = is_calm() and (R.calm_at == R.version and R.calm or R.version)
    R.version = R.version + 1
    R.calm, R.calm_at = calm or R.version, R.version
    local entry = { 'head', text(R.head), 'issued', text(R.issued) }
    local function add(field, list)
      entry[#entry + 1] = field
      entry[#entry + 1] = table.concat(list, ' ')
    end
    if #ended_gone > 0 then add('gone', ended_gone) end
    if #ended_done > 0 then add('done', ended_done) end
    if #set_aside > 0 then add('aside', set_aside) end
    if turned then add('turned', { R.state }) end
    call('XADD', LOG, 'MAXLEN', '~', LOG_MAX, text(R.version) .. '-1', unpack(entry))
  end
  local told = news()
  save()
  return { 'ok', more and 1 or 0, R.version, R.head, R.issued, now or 0, told, ... }
end

-- Reads the room. Gives an answer at once if nothing may be changed.
local function open()
  clock = read_clock()
  read_room()
  if not R.version then return answer('missing') end
  if R.frozen then return answer('frozen', false, R.frozen) end
  if is_fenced() then return answer('fenced') end
  if R.state == 'deleted' then return answer('deleted') end
  advance_clock()
  turn_rounds()
end
