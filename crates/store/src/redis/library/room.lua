-- Reading a room, writing it back, and what the node is told.

-- What other files use; all else is private to this one, and does not count towards Lua's limit of 200 locals.
local text, often, number, fill, take_fields, read_room, is_elsewhere, fence, read_clock, room_time, advance_clock,
  round_key, keys_key, turn_keys, turn_rounds, bit_at, confirm, is_unclaimed, in_line, look_up_runs_out,
  runs_out_by, next_due, ended_since, answer, done, open
do
  -- A number as Redis takes it. One that Redis itself has to write out costs it several times as much.
  function text(value)
    if type(value) == 'number' then return format('%d', value) end
    return value
  end

  -- Numbers that are needed again and again, with their texts: to write one out, or to read one, takes far longer than to
  -- find it.
  local known, known_count = {}, 0
  local KNOWN_MAX = 500

  local function know(from, to)
    if known_count == KNOWN_MAX then known, known_count = {}, 0 end
    known[from], known_count = to, known_count + 1
    return to
  end

  -- As `text` has a number, for one that comes again.
  function often(value)
    local written = known[value]
    if written then return written end
    written = format('%d', value)
    know(written, value)
    return know(value, written)
  end

  -- The number that an argument is, for one that comes again.
  function number(argument)
    return known[argument] or know(argument, tonumber(argument))
  end

  local DIGITS = { [0] = '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' }

  -- Fills a list with the numbers from one to another, as `text` has each, at 1 and every `step` from there. Only every
  -- tenth is written out.
  function fill(list, step, first, last)
    local tens, digit = '', first % 10
    if first >= 10 then tens = often((first - digit) / 10) end
    local at = 1
    for ordinal = first, last do
      list[at] = tens .. DIGITS[digit]
      at = at + step
      digit = digit + 1
      if digit == 10 then tens, digit = format('%d', (ordinal + 1) / 10), 0 end
    end
    return list
  end

  -- All else of a room is changed here, so that it is packed again only where it is another one.
  local function change(_, field, value)
    if REST[field] == (value or false) then return end
    REST[field] = value
    rest_text = nil
  end

  local function take(version, issued, clock_last, rest)
    REST, rest_text = setmetatable(rest, ABSENT), nil
    R = setmetatable({ version = version, issued = issued, clock_last = clock_last }, { __index = REST, __newindex = change })
  end

  -- Takes a room from a table that has all of its fields; an empty one is a room of which nothing is known.
  function take_fields(all)
    local version, issued, clock_last = all.version or false, all.issued or false, all.clock_last or false
    all.version, all.issued, all.clock_last = nil, nil, nil
    take(version, issued, clock_last, all)
  end

  -- Rooms as they were last written, each with its text: where Redis still has that very text, there is no need to unpack
  -- it. Who reads a room takes its text away, so that nobody else takes it for what is kept while that is changed; only
  -- `save` gives one back. So a call that fails half way leaves nothing that differs from Redis.
  local kept, kept_count = {}, 0
  local KEPT_MAX = 256

  local function keep(packed)
    local mine = kept[ROOM]
    if not mine then
      if kept_count == KEPT_MAX then kept, kept_count = {}, 0 end
      mine, kept_count = {}, kept_count + 1
      kept[ROOM] = mine
    end
    mine.text, mine.room, mine.rest, mine.rest_text = packed, R, REST, rest_text
  end

  local function unpack_room(packed)
    local version, issued, clock_last, rest = unpack_packed(packed)
    if not rest then error({ err = 'WRONGTYPE this is not a room' }) end
    take(version, issued, clock_last, rest)
  end

  function read_room()
    local packed = call('GET', ROOM)
    if not packed then return take_fields({}) end
    local mine = kept[ROOM]
    if mine and mine.text == packed then
      R, REST, rest_text = mine.room, mine.rest, mine.rest_text
      mine.text = nil
    else
      unpack_room(packed)
    end
    head_before, base_before, admitted_before, lost_before = R.head, R.base, R.admitted, R.lost_after
  end

  -- Always: a `WAIT` behind a call that wrote nothing would confirm nothing.
  local function save()
    rest_text = rest_text or pack(REST)
    local packed = pack(R.version, R.issued, R.clock_last) .. rest_text
    call('SET', ROOM, packed)
    keep(packed)
  end

  -- Whether the generation began on another server than runs this call. A restart, a failover and a moved slot all
  -- give it another name, which begins with the run id.
  function is_elsewhere()
    local id = run_id()
    return sub(R.server, 1, #id) ~= id
  end

  -- The status of a call that must not be carried out before the node and the room know the same.
  function fence()
    if ARGV[7] ~= R.server or number(ARGV[6]) > R.term or is_elsewhere() then return 'fenced' end
  end

  function read_clock()
    if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
    local t = call('TIME')
    return number(t[1]) * 1000 + floor(t[2] / 1000)
  end

  -- Nodes write to a room that somebody is in more often than this, so a longer silence was an outage.
  local SILENCE_MS = 5000

  -- Room time at `clock`: never before the last transition. An outage uses up nothing: it stands still meanwhile.
  function room_time()
    local at = clock + R.clock_offset
    if at - R.clock_last > SILENCE_MS and ARGV[1] == '' and (R.runs_out or R.head < R.issued) then
      return R.clock_last
    end
    return max(at, R.clock_last)
  end

  -- Room time for a transition. If the clock went back, the offset grows and room time stands still.
  function advance_clock()
    now = room_time()
    if now == R.clock_last then R.clock_offset = R.clock_last - clock end
    R.clock_last = now
  end

  function round_key(age)
    return KEYS[9 + (R.round - age) % 3]
  end

  function keys_key(age)
    return KEYS[13 + (R.key_round - age) % 2]
  end

  function turn_keys()
    R.key_round = R.key_round + 1
    R.key_round_started = now
    call('UNLINK', keys_key(0))
  end

  local KEY_ROUND_MS = 600000

  -- Rounds end one at a time and only here, so an outage or a jump of the clock makes nobody absent. A key is remembered
  -- for one to two rounds.
  function turn_rounds()
    if R.presence_ttl > 0 and now >= R.round_started + floor(R.presence_ttl / 2) then
      R.given2, R.given1, R.given0 = R.given1, R.given0, R.issued
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

  function bit_at(key, ordinal)
    return ordinal > R.base and call('GETBIT', key, ordinal - R.base) == 1
  end

  -- Notes that places were proved, or given in this generation, which matters only while some are lost.
  function confirm(first, last)
    if not R.lost_after then return end
    for ordinal = max(first, R.base + 1), last do call('SETBIT', CONFIRMED, ordinal - R.base, 1) end
  end

  -- Whether an import gave the place and no join has asked for it yet.
  function is_unclaimed(ordinal)
    return bit_at(IMPORTED, ordinal) and not bit_at(CLAIMED, ordinal)
  end

  function in_line()
    return call('ZCOUNT', PLACES, '(' .. text(R.head), '+inf')
  end

  -- When the first pass or missed turn of a set runs out.
  local function earliest(key)
    local at = call('ZRANGE', key, '0', '0', 'WITHSCORES')[2]
    return at and tonumber(at) or INFINITY
  end

  -- No pass and no missed turn runs out before `runs_out`. It is looked up anew only when that time has come: a pass that
  -- was renewed meanwhile is then found to last longer.
  function look_up_runs_out()
    local at = min(earliest(ACTIVE), earliest(ASIDE))
    R.runs_out = at < INFINITY and at or nil
  end

  function runs_out_by(at)
    if at < (R.runs_out or INFINITY) then R.runs_out = at end
  end

  -- When settling has something to do next, or -1.
  function next_due()
    local due, held = R.runs_out or INFINITY, R.admission_held_until
    local line = R.head < R.issued
    if line or not (door_empty or call('ZCARD', DOOR) == 0) then
      if R.paused == 0 then due = min(due, R.tick_start + R.every) end
      if held > now then due = min(due, held) end
    end
    if line and R.presence_ttl > 0 then
      due = min(due, R.round_started + floor(R.presence_ttl / 2))
    end
    if R.lost_until and R.lost_until > now then due = min(due, max(R.lost_until, held)) end
    return due == INFINITY and -1 or due
  end

  -- What a node is told of endings: who is gone, done and set aside, and a letter for each of the gone and the done.
  local function told_ended(gone, were_done, aside, why_gone, why_done)
    return { concat(gone, ' '), concat(were_done, ' '), concat(aside, ' '), why_gone, why_done }
  end

  -- Entries that are read from the log at the most.
  local LOG_PAGE = 256

  -- What ended or was set aside since a version, as five texts, and whether more than numbers has changed since; nil if
  -- the log does not reach back so far. A stream that was trimmed does not say so itself, so each entry names the one
  -- before it. An entry of an earlier release does not say why places ended.
  function ended_since(version)
    if version > R.version then return end
    if version >= R.logged then return { '', '', '', '', '' }, false end
    local entries = call('XRANGE', LOG, text(version + 1) .. '-1', '+', 'COUNT', LOG_PAGE)
    local last = entries[#entries]
    if not last or last[1] ~= text(R.logged) .. '-1' or tonumber(entries[1][2][2]) > version then return end
    local ended, why, more = { gone = {}, done = {}, aside = {} }, { gone = {}, done = {} }, false
    for _, entry in ipairs(entries) do
      local fields = entry[2]
      for i = 1, #fields, 2 do
        local list = ended[fields[i]]
        if list then
          list[#list + 1] = fields[i + 1]
          if why[fields[i]] then
            local said = fields[i + 2] == 'why' and fields[i + 3]
            local whys = why[fields[i]]
            whys[#whys + 1] = said or fields[i + 1]:gsub('%d+', '?'):gsub(' ', '')
          end
        elseif fields[i] == 'turned' then
          more = true
        end
      end
    end
    return told_ended(ended.gone, ended.done, ended.aside, concat(why.gone), concat(why.done)), more
  end

  -- Whether this call gave places and did nothing else that a view shows: settling has let nobody in, and ended and set
  -- aside nobody.
  local function is_calm()
    return only_newcomers and not turned and R.head == head_before and R.base == base_before
      and R.admitted == admitted_before and R.lost_after == lost_before
      and #ended_gone + #ended_done + #set_aside == 0
  end

  -- What does not change without a new version.
  local THEN = { 'floor', 'base', 'lost_after', 'lost_until', 'joins_held_until', 'imported_until', 'stock', 'stock_version',
    'admitted', 'departed', 'expired', 'finished', 'left', 'revoked', 'stepped_over', 'missed', 'restored', 'stayed_ms' }

  -- Writes behind an answer's `told` values what a node needs to show the room as it is now, if it shows an earlier version
  -- of it: what has to do with the tick and the rounds, next due; and if more than `issued` has changed since, the fields
  -- of THEN, how many are inside, aside, at the door, what ended since, as `told_ended` has it. A field that is absent is
  -- -1. Nothing else changes without `turned`. Says how many values that are; with none, the node looks.
  local function tell(list, told)
    local shown = number(ARGV[5])
    if shown < 0 or not settled or ARGV[7] ~= R.server then return 0 end
    local behind = R.version - shown
    local ended, more
    if behind == 0 then
      more = turned
    elseif behind < 0 or shown < R.logged then
      if behind == 1 and visible then
        ended = told_ended(ended_gone, ended_done, set_aside, ended_gone.why or '', ended_done.why or '')
        more = turned
      else
        ended, more = ended_since(shown)
        if not ended then return 0 end
      end
    end
    if more then return 0 end
    list[told + 1], list[told + 2], list[told + 3] = R.tick_start, R.tick_admitted, R.tick_extra
    list[told + 4], list[told + 5] = R.round, R.round_started
    list[told + 6], list[told + 7] = R.key_round, R.key_round_started
    list[told + 8] = next_due()
    if not ended then return 8 end
    local at = told + 8
    for i = 1, #THEN do
      list[at + i] = R[THEN[i]] or -1
    end
    at = at + #THEN
    list[at + 1], list[at + 2], list[at + 3] = call('ZCARD', ACTIVE), call('ZCARD', ASIDE), call('ZCARD', DOOR)
    for i = 1, #ended do list[at + 3 + i] = ended[i] end
    return at + 3 + #ended - told
  end

  function answer(status, more, ...)
    return { status, more and 1 or 0, R.version or 0, R.head or 0, R.issued or 0, now or 0, 0, ... }
  end

  -- What the log has of this version besides numbers.
  local function happened()
    local entry, at = {}, 0
    if #ended_gone > 0 then
      entry[at + 1], entry[at + 2], entry[at + 3], entry[at + 4] = 'gone', concat(ended_gone, ' '), 'why', ended_gone.why
      at = at + 4
    end
    if #ended_done > 0 then
      entry[at + 1], entry[at + 2], entry[at + 3], entry[at + 4] = 'done', concat(ended_done, ' '), 'why', ended_done.why
      at = at + 4
    end
    if #set_aside > 0 then entry[at + 1], entry[at + 2], at = 'aside', concat(set_aside, ' '), at + 2 end
    if turned then entry[at + 1], entry[at + 2] = 'turned', R.state end
    return entry
  end

  -- Views that fall further behind take a snapshot.
  local LOG_MAX = '4096'

  -- Writes the room, tells the views, and answers; with at most two values of the command's own.
  function done(more, first, second)
    if visible then
      R.version = R.version + 1
      if not is_calm() then
        call('XADD', LOG, 'MAXLEN', '~', LOG_MAX, text(R.version) .. '-1', 'after', text(R.logged), unpack(happened()))
        R.logged = R.version
      end
    end
    local list = { 'ok', more and 1 or 0, R.version, R.head, R.issued, now or 0, 0 }
    local told = tell(list, 7)
    save()
    list[7], list[8 + told], list[9 + told] = told, first, second
    return list
  end

  -- Reads the room. Gives an answer at once if nothing may be changed.
  function open()
    clock = read_clock()
    read_room()
    if not R.version then return answer('missing') end
    if R.frozen then return answer('frozen', false, R.frozen) end
    local fenced = fence()
    if fenced then return answer(fenced) end
    if R.state == 'deleted' then return answer('deleted') end
    advance_clock()
    turn_rounds()
  end
end
