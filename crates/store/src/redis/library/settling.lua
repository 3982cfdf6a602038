-- Settling, which ends every transition: what ran out is ended, and those whose turn it is are let in.

-- What other files use; all else is private to this one, and does not count towards Lua's limit of 200 locals.
local expire_due, turn_tick, enter, set_state, set_base, settle, open_for_newcomers
do
  -- Arguments of commands. A list that grows takes time, so these are filled anew by each call and never emptied: who
  -- fills one says how far it goes, and what lies behind that is not looked at.
  local set, passes, since = {}, {}, {}

  -- Writes down that places ended, and why. Neighbours are dropped together.
  local function end_many(ordinals, how, why)
    local bits, list = GONE, ended_gone
    if how == 'done' then bits, list = DONE, ended_done end
    for i = 1, #ordinals do ordinals[i] = tonumber(ordinals[i]) end
    sort(ordinals)
    local base, from, at, ended = R.base, 1, 0, #list
    for i = 1, #ordinals do
      local ordinal = ordinals[i]
      set[at + 1] = 'SET'
      set[at + 2] = 'u1'
      set[at + 3] = text(ordinal - base)
      set[at + 4] = '1'
      at = at + 4
      list[ended + i] = text(ordinal)
      if ordinals[i + 1] ~= ordinal + 1 then
        call('ZREMRANGEBYSCORE', PLACES, text(ordinals[from]), text(ordinal))
        from = i + 1
      end
    end
    list.why = (list.why or '') .. why:rep(#ordinals)
    call('BITFIELD', bits, unpack(set, 1, at))
    visible = true
  end

  -- Ends up to `most` passes that ran out; says how many.
  function expire_due(most)
    local due = call('ZRANGEBYSCORE', ACTIVE, '-inf', now, 'LIMIT', 0, most)
    if #due == 0 then return 0 end
    call('ZREM', ACTIVE, unpack(due))
    for _, admitted_at in ipairs(call('HMGET', SINCE, unpack(due))) do
      if admitted_at then
        R.inside_since = R.inside_since - (tonumber(admitted_at) - R.epoch)
        R.stayed_ms = R.stayed_ms + max(0, now - tonumber(admitted_at))
      end
    end
    call('HDEL', SINCE, unpack(due))
    R.expired = R.expired + #due
    R.departed = R.departed + #due
    end_many(due, 'done', 'e')
    return #due
  end

  -- Ends up to `most` missed turns that are given up; says how many.
  local function miss_due(most)
    local due = call('ZRANGEBYSCORE', ASIDE, '-inf', now, 'LIMIT', 0, most)
    if #due == 0 then return 0 end
    call('ZREM', ASIDE, unpack(due))
    R.missed = R.missed + #due
    end_many(due, 'gone', 'm')
    return #due
  end

  -- Ends passes and missed turns that ran out; says whether that was all of them.
  local function sweep()
    if (R.runs_out or INFINITY) > now then return true end
    local most = number(ARGV[2])
    local looked = expire_due(most)
    if looked < most then miss_due(most - looked) end
    look_up_runs_out()
    return (R.runs_out or INFINITY) > now
  end

  -- One tick, however many were missed: no burst makes up for a pause or an outage.
  function turn_tick()
    local passed = floor(max(0, now - R.tick_start) / R.every)
    if passed > 0 then
      R.tick_start = R.tick_start + passed * R.every
      R.tick_admitted = 0
      R.tick_extra = 0
    end
  end

  -- How many may be admitted at this instant.
  local function budget()
    if R.paused == 1 then return 0 end
    local by_tick, by_cap = INFINITY, INFINITY
    if R.batch then by_tick = max(0, R.batch + R.tick_extra - R.tick_admitted) end
    if by_tick > 0 and R.active_max then by_cap = max(0, R.active_max - call('ZCARD', ACTIVE)) end
    return min(by_tick, by_cap)
  end

  function enter(ordinals)
    local count = #ordinals
    if count == 0 then return end
    local expires_at, admitted_at = text(now + R.pass_ttl), text(now)
    for i = 1, count do
      local ordinal = ordinals[i]
      passes[2 * i - 1] = expires_at
      passes[2 * i] = ordinal
      since[2 * i - 1] = ordinal
      since[2 * i] = admitted_at
    end
    call('ZADD', ACTIVE, unpack(passes, 1, 2 * count))
    call('HSET', SINCE, unpack(since, 1, 2 * count))
    runs_out_by(now + R.pass_ttl)
    R.inside_since = R.inside_since + count * (now - R.epoch)
    R.tick_admitted = R.tick_admitted + count
    R.admitted = R.admitted + count
  end

  -- Admission does not pass this ordinal while it waits for the holders of lost places; false if it does not wait.
  local barrier

  local function set_barrier()
    barrier = R.lost_after and now < R.lost_until and R.lost_after
  end

  -- Lost places may be put back for as long as any is missing, also once admission has stopped waiting for them.
  local function end_lost_range()
    if not R.lost_after or barrier then return end
    local gone = call('BITCOUNT', GONE, text(R.head + 1 - R.base), text(R.issued - R.base), 'BIT')
    if R.issued - R.head - gone - in_line() > 0 then return end
    R.lost_after, R.lost_until = nil, nil
    visible = true
  end

  -- Whose turn it is: the door comes first, then the line, up to where places may be lost. At most `most`
  -- ordinals, whether they are at the door, and the first of them if they are neighbours.
  local function next_ones(most)
    local door = call('ZRANGE', DOOR, 0, most - 1)
    if #door > 0 then return door, true end
    local first, last = R.head + 1, min(R.head + most, barrier or R.issued)
    if first > last then return {}, false end
    -- Where nobody has left, the next ones are neighbours, whom it is enough to count.
    local width = last - first + 1
    if call('ZCOUNT', PLACES, text(first), text(last)) == width then return fill({}, 1, first, last), false, first end
    local to = '+inf'
    if barrier then to = text(barrier) end
    local line = call('ZRANGEBYSCORE', PLACES, text(first), to, 'WITHSCORES', 'LIMIT', 0, most)
    local ordinals = {}
    for i = 2, #line, 2 do ordinals[i / 2] = line[i] end
    return ordinals, false
  end

  -- Who was heard of in the last three rounds, a byte for eight neighbours. Those whose turn it is are mostly close
  -- together, so the rounds are read in stretches. Each time that people are let in begins with none, since marks may
  -- have come in between.
  local STRETCH = 64
  local stretch_from, round0, round1, round2

  local function forget_stretch()
    stretch_from, round0, round1, round2 = INFINITY, nil, nil, nil
  end

  local function read_stretch(from)
    local first, last = text(from), text(from + STRETCH - 1)
    round0 = call('GETRANGE', round_key(0), first, last)
    round1 = call('GETRANGE', round_key(1), first, last)
    round2 = call('GETRANGE', round_key(2), first, last)
    stretch_from = from
  end

  -- Eight neighbours at a time: who of them was heard of.
  local function heard_of(byte_no)
    if byte_no < stretch_from or byte_no >= stretch_from + STRETCH then read_stretch(byte_no) end
    local at = byte_no - stretch_from + 1
    return bor(byte_at(round0, at) or 0, byte_at(round1, at) or 0, byte_at(round2, at) or 0)
  end

  -- Whether a join gave the place in the last three rounds: its holder was there then, and no bit says so.
  local function is_newly_given(ordinal)
    return ordinal > R.given2 and not (ordinal <= R.imported_last and bit_at(IMPORTED, ordinal))
  end

  -- Whether all from one ordinal to another are there.
  local function all_there(first, last)
    if first > R.given2 and first > R.imported_last then return true end
    local first_bit, last_bit = first - R.base, last - R.base
    local first_byte, last_byte = floor(first_bit / 8), floor(last_bit / 8)
    for byte_no = first_byte, last_byte do
      local wanted = 255
      if byte_no == first_byte then wanted = rshift(255, first_bit % 8) end
      if byte_no == last_byte then wanted = band(wanted, lshift(255, 7 - last_bit % 8)) end
      if band(heard_of(byte_no), wanted) ~= wanted then return false end
    end
    return true
  end

  -- Splits ordinals, of which the first is `first` if they are neighbours, into those who are there and those who are
  -- not.
  local function by_presence(ordinals, first)
    if R.presence_ttl == 0 then return ordinals, {} end
    if first and all_there(first, first + #ordinals - 1) then return ordinals, {} end
    local imports, present, absent = now < R.imported_until, {}, {}
    local last, heard = -1, 0
    for i = 1, #ordinals do
      local bit_no = ordinals[i] - R.base
      local in_byte = bit_no % 8
      local byte_no = (bit_no - in_byte) / 8
      if byte_no ~= last then last, heard = byte_no, heard_of(byte_no) end
      local there = band(heard, rshift(128, in_byte)) ~= 0 or is_newly_given(bit_no + R.base)
      local list = (there or (imports and is_unclaimed(bit_no + R.base))) and present or absent
      list[#list + 1] = ordinals[i]
    end
    return present, absent
  end

  -- A missed turn is kept for `missed_turn_ttl`; with none, the place is gone at once.
  local function step_aside(ordinals)
    if #ordinals == 0 then return end
    R.stepped_over = R.stepped_over + #ordinals
    if R.missed_turn_ttl == 0 then
      R.missed = R.missed + #ordinals
      return end_many(ordinals, 'gone', 'm')
    end
    local turns, given_up = {}, now + R.missed_turn_ttl
    for _, ordinal in ipairs(ordinals) do
      turns[#turns + 1] = text(given_up)
      turns[#turns + 1] = ordinal
      set_aside[#set_aside + 1] = ordinal
    end
    call('ZADD', ASIDE, unpack(turns))
    runs_out_by(given_up)
  end

  -- Takes the next ones while budget is left; says whether it stopped for having looked at enough.
  local function admit()
    -- Where nobody is in line, the door alone says whether there is anybody to let in.
    if R.head >= (barrier or R.issued) then
      door_empty = call('ZCARD', DOOR) == 0
      if door_empty then return false end
    end
    local left = budget()
    if left == 0 then return false end
    forget_stretch()
    local looks = number(ARGV[2])
    while looks > 0 and left > 0 do
      local ordinals, at_door, first = next_ones(min(left, looks))
      if #ordinals == 0 then return false end
      looks = looks - #ordinals
      visible = true
      if at_door then
        call('ZREM', DOOR, unpack(ordinals))
      else
        R.head = tonumber(ordinals[#ordinals])
      end
      local present, absent = by_presence(ordinals, first)
      enter(present)
      step_aside(absent)
      left = budget()
    end
    return left > 0 and #next_ones(1) > 0
  end

  function set_state(state)
    if R.state ~= state then visible, turned = true, true end
    R.state = state
  end

  local function shift(key, bytes)
    local rest = call('GETRANGE', key, bytes, -1)
    if rest == '' then call('UNLINK', key) else call('SET', key, rest) end
  end

  -- Moves all bitmaps to another `base`.
  function set_base(base)
    local bytes = (base - R.base) / 8
    if bytes == 0 then return end
    for i = 7, 11 do shift(KEYS[i], bytes) end
    shift(IMPORTED, bytes)
    shift(CLAIMED, bytes)
    shift(CONFIRMED, bytes)
    R.base = base
  end

  -- With nobody in line, what lies above `head` is gone, or lost and past its time: `head` catches up. Unless places are
  -- lost, the line runs empty by nothing that is not visible.
  local function step_over_an_empty_line()
    if (visible or R.lost_after) and R.head < R.issued and not barrier and not newcomers and in_line() == 0 then
      R.head = R.issued
      visible = true
    end
  end

  -- Endings of places far below `head` are forgotten, but never those above a place that is live.
  local function advance_base()
    local trail, step = number(ARGV[3]), number(ARGV[4])
    while R.head - R.base >= trail + step do
      local lowest = call('ZRANGE', PLACES, 0, 0, 'WITHSCORES')[2]
      if lowest and tonumber(lowest) <= R.base + step then return end
      set_base(R.base + step)
    end
  end

  -- The end of every transition, and the one place where people are let in. Says whether more is to be done.
  function settle()
    -- A mark may have brought somebody to the door since the call settled last.
    door_empty = nil
    set_barrier()
    local swept = sweep()
    turn_tick()
    -- Passes that ran out but are not swept yet would count against the cap.
    local more = not swept
    if now >= R.admission_held_until then
      more = more or admit()
      step_over_an_empty_line()
      end_lost_range()
    end
    settled = true
    if R.state == 'draining' and call('ZCARD', PLACES) == 0 then set_state('closed') end
    advance_base()
    return more
  end

  -- As `open`, for a call that gives places: while joins are held it settles and does nothing else.
  function open_for_newcomers()
    local refused = open()
    if refused then return refused end
    if now >= R.joins_held_until then return end
    local wait = R.joins_held_until - now
    local more = settle()
    done(more)
    return answer('held', more, wait)
  end
end
