-- A holder leaves or finishes, or a visitor is put out.
--
-- ARGV   8 'leave' (gives up a place, or is done with a pass), 'finish' (business inside is done), 'revoke'
--        9 visitor
--       10 ordinal; '' for 'revoke'
-- Returns what it did: 'left', 'finished', 'nothing', 'not inside'; for 'revoke' the ordinal that ended, or 0

local function give_up(ordinal)
  R.left = R.left + 1
  end_place(ordinal, 'gone', 'l')
  return 'left'
end

local function end_pass(ordinal)
  R.finished = R.finished + 1
  end_place(ordinal, 'done', 'f')
  return 'finished'
end

local function leave(visitor, ordinal)
  local state = standing(visitor, ordinal)
  if state == 'inside' then return end_pass(ordinal) end
  if state == 'gone' or state == 'done' or state == 'unknown' then return 'nothing' end
  return give_up(ordinal)
end

local function finish(visitor, ordinal)
  local state = standing(visitor, ordinal)
  if state == 'line' or state == 'aside' then return 'not inside' end
  -- Above the head there is only "gone": whether it was inside has been forgotten with it.
  if state == 'lost' and ordinal > R.head then return give_up(ordinal) end
  -- A place that was lost, or put back at the door, was inside when its business was done.
  if state == 'inside' or state == 'door' or state == 'lost' then return end_pass(ordinal) end
  return 'nothing'
end

local function revoke(visitor)
  local place = end_if_expired(find(visitor))
  if not place then return 0 end
  R.revoked = R.revoked + 1
  end_place(place, 'gone', 'r')
  return place
end

local WAYS = { leave = leave, finish = finish, revoke = revoke }

register('depart', function()
  local refused = open()
  if refused then return refused end
  local what = WAYS[ARGV[8]](ARGV[9], tonumber(ARGV[10]))
  return done(settle(), what)
end, 'allow-oom')
