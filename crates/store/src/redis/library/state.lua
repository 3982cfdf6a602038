-- The rules of a room, as `ropeline-core` has them, in the words of Redis. Every script begins with this file, goes on
-- with `room.lua` and, if it needs them, `server.lua`, `fields.lua`, `settling.lua`, `places.lua` and `whole.lua`, in
-- this order, and ends with its own; all but this file are the body of one function.
--
-- A script is one transition: it reads the room once into `R`, changes that, and `done` writes it back. Nothing here
-- looks at more than `look_max` places, so a large tick is spent by several calls; `more` in the answer asks for the
-- next one.
--
-- Redis makes every function of a script anew at each call, which would take longer than most calls do. So a function
-- that only one other needs is made inside that one; and what nearly all of them share is here, outside of the function
-- that they are made in, since finding a variable of that one takes the longer the more there are.
--
-- KEYS   1 room    string      state, policy, numbers, counters, as cmsgpack packs a table: a hash would take far longer
--                              to become one; see `TEXT` for the fields that are not numbers
--        2 places  sorted set  visitor -> ordinal, for everybody in line, aside, at the door or inside
--        3 active  sorted set  ordinal -> when the pass runs out
--        4 since   hash        ordinal -> when the pass was given
--        5 aside   sorted set  ordinal -> when the missed turn is given up
--        6 door    sorted set  ordinal -> ordinal, served before the line
--        7 gone    bitmap      by ordinal - base: left, revoked, missed for good
--        8 done    bitmap      by ordinal - base: was inside and is no longer
--        9 seen0  10 seen1  11 seen2  bitmaps by ordinal - base: presence, round n in seen(n mod 3)
--       12 log     stream      <version>-1: what ended or moved in that version, and whether the state, a pause or
--                              the policy changed
--       13 keys0  14 keys1     hashes: idempotency key -> digest of the request, round n in keys(n mod 2)
--       15 imported 16 claimed bitmaps by ordinal - base: given by an import, and answered to a join since
-- ARGV   1 clock      milliseconds in the place of Redis's own clock, for tests; '' in production
--        2 look_max   places that one call looks at, and that it ends, at the most
--        3 base_trail how far `base`, below which no ending is remembered, trails `head`
--        4 base_step  by how much `base` moves on at a time
--        5 version    that the calling node shows, 6 its epoch, 7 its server; -1, 0 and '' if it shows none
--        8 ...        the command's own
-- Returns { status, more, version, head, issued, room time, news, ... the command's own }
--        status 'ok'; or, with nothing changed: 'missing' (no such room), 'fenced' (written on another server),
--        'frozen' (being moved; news is followed by why), 'deleted', 'held' (news is followed by milliseconds to
--        wait), 'again' (a part was done; call again)
--        news is what the node needs to show the room as it is after this call (see `news`), or {}: then it looks

local call, ARGV = redis.call, ARGV
local ROOM, PLACES, ACTIVE, SINCE, ASIDE, DOOR = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local GONE, DONE, LOG, IMPORTED, CLAIMED = KEYS[7], KEYS[8], KEYS[12], KEYS[15], KEYS[16]
local LOOK_MAX = tonumber(ARGV[2])

-- The stock is a number, but may be larger than a script can count to.
local TEXT = { state = true, server = true, digest = true, identity = true, frozen = true, stock = true }

-- The room. What is absent is false.
local ABSENT = { __index = function() return false end }
local R = setmetatable({}, ABSENT)
-- What it was when it was read, of what settling may change for those who wait.
local head_before, base_before, admitted_before, lost_before
-- Room time, and the clock that it comes from.
local now, clock
-- Whether anything has changed that a view shows, whether that is the state, a pause or the policy, and what ended or
-- was set aside.
local visible, turned, ended_gone, ended_done, set_aside = false, false, {}, {}, {}
-- Whether places were given: the last one is in line unless `head` has reached it.
local newcomers = false
-- Whether nothing else was done before settling.
local only_newcomers = false
-- Once settled: no pass and no missed turn runs out before this.
local runs_out
