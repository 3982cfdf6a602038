-- The rules of a room, as `ropeline-core` has them, in the words of Redis: a library of functions. Redis runs its text
-- once, when it is loaded: this file, the others in the order that `library.rs` has them in, and last one file for each
-- kind of transition, which registers the function that is called for it.
--
-- A call is one transition: it reads the room once into `R`, changes that, and `done` writes it back. Nothing here
-- looks at more than `look_max` places, so a large tick is spent by several calls; `more` in the answer asks for the
-- next one.
--
-- KEYS   1 room    string      as cmsgpack packs them: `version`, `issued`, `clock_last`, which nearly every call changes,
--                              and then a map of all else: state, policy, numbers, counters. A hash would take far longer
--                              to become a table; see `TEXT` for the fields that are not numbers
--        2 places  sorted set  visitor -> ordinal, for everybody in line, aside, at the door or inside
--        3 active  sorted set  ordinal -> when the pass runs out
--        4 since   hash        ordinal -> when the pass was given
--        5 aside   sorted set  ordinal -> when the missed turn is given up
--        6 door    sorted set  ordinal -> ordinal, served before the line
--        7 gone    bitmap      by ordinal - base: left, revoked, missed for good
--        8 done    bitmap      by ordinal - base: was inside and is no longer
--        9 seen0  10 seen1  11 seen2  bitmaps by ordinal - base: presence, round n in seen(n mod 3); but for those
--                              whom a join gave a place in that round, see `is_newly_given`
--       12 log     stream      <version>-1: what ended, and why, or moved in that version, and whether the state, a pause or
--                              the policy changed; versions that only gave places are not in it
--       13 keys0  14 keys1     hashes: idempotency key -> digest of the request, round n in keys(n mod 2)
--       15 imported 16 claimed bitmaps by ordinal - base: given by an import, and answered to a join since
--       17 confirmed bitmap     by ordinal - base: places that were proved in this generation while some were lost
-- ARGV   1 clock      milliseconds in the place of Redis's own clock, for tests; '' in production
--        2 look_max   places that one call looks at, and that it ends, at the most
--        3 base_trail how far `base`, below which no ending is remembered, trails `head`
--        4 base_step  by how much `base` moves on at a time
--        5 version    that the calling node shows, -1 if it shows none
--        6 term       of the server as those say who watch over the servers; 0 where nobody does
--        7 server     of the generation that the node knows, '' if it knows none
--        8 ...        the command's own
-- Returns, packed by cmsgpack, { status, more, version, head, issued, room time, how many values of news, ... the news, ... the command's own }
--        status 'ok'; or, with nothing changed: 'missing' (no such room), 'fenced' (this server, or the node, may have
--        missed something: merge first),
--        'frozen' (being moved; followed by why), 'deleted', 'held' (followed by milliseconds to wait), 'again' (a part
--        was done; call again)
--        news is what the node needs to show the room as it is after this call (see `tell`); with none it looks

-- While a library is loaded, it sees nothing of Lua but the means to register functions; and later, what is global is
-- found more slowly than a local variable. So the first call takes them all from here.
local function globals()
  return redis.call, tonumber, type, pairs, ipairs, unpack, setmetatable, string.format, string.match, string.sub,
    string.find, string.byte, table.concat, table.sort, math.floor, math.min, math.max, bit.band, bit.bor, bit.lshift,
    bit.rshift, cmsgpack.pack, cmsgpack.unpack, error
end
local call, tonumber, type, pairs, ipairs, unpack, setmetatable, format, match, sub, find_text, byte_at, concat, sort,
  floor, min, max, band, bor, lshift, rshift, pack, unpack_packed, error
local INFINITY = 1 / 0

-- The stock is a number, but may be larger than Lua can count to.
local TEXT = { state = true, server = true, digest = true, identity = true, frozen = true, stock = true }
-- What a room does not have is false. What is often asked for and seldom there is found without a call.
local NOTHING = { frozen = false, lost_after = false, lost_until = false, runs_out = false, generation = 0, term = 0,
  deleted_until = 0, admission_held_until = 0 }
local ABSENT = { __index = NOTHING }

-- What belongs to one call. Variables of a library outlive it, also where it fails half way, so `start_call` sets every
-- one of them.
local KEYS, ARGV
local ROOM, PLACES, ACTIVE, SINCE, ASIDE, DOOR, GONE, DONE, LOG, IMPORTED, CLAIMED, CONFIRMED
-- The room, once it is read: what nearly every call changes, and all else, which is found and changed through it as well;
-- with the text of all else as long as nothing of it has changed.
local R, REST, rest_text
-- What it was then, of what settling may change for those who wait.
local head_before, base_before, admitted_before, lost_before
-- Room time, and the clock that it comes from.
local now, clock
-- Whether anything has changed that a view shows, whether that is the state, a pause or the policy, and what ended or
-- was set aside.
local visible, turned, ended_gone, ended_done, set_aside
-- Whether places were given: the last one is in line unless `head` has reached it.
local newcomers
-- Whether nothing else was done before settling.
local only_newcomers
-- Whether the room was settled, and whether nobody is at the door, if that was looked at.
local settled, door_empty

-- Apart from `start_call`, as a function of Lua refers to at most 60 variables outside of it.
local function take_globals()
  call, tonumber, type, pairs, ipairs, unpack, setmetatable, format, match, sub, find_text, byte_at, concat, sort,
    floor, min, max, band, bor, lshift, rshift, pack, unpack_packed, error = globals()
  setmetatable(NOTHING, { __index = function() return false end })
end

local function start_call(keys, args)
  if not call then take_globals() end
  KEYS, ARGV = keys, args
  ROOM, PLACES, ACTIVE, SINCE, ASIDE, DOOR = keys[1], keys[2], keys[3], keys[4], keys[5], keys[6]
  GONE, DONE, LOG, IMPORTED, CLAIMED, CONFIRMED = keys[7], keys[8], keys[12], keys[15], keys[16], keys[17]
  R, REST, rest_text = nil, nil, nil
  head_before, base_before, admitted_before, lost_before = nil, nil, nil, nil
  now, clock = nil, nil
  visible, turned, ended_gone, ended_done, set_aside = false, false, {}, {}, {}
  newcomers, only_newcomers = false, false
  settled, door_empty = false, nil
end

-- Registers a function of the library, which is called by the prefix of this very text and its name. Redis refuses a
-- call beforehand where it could not write, unless a flag says that it may go on: 'no-writes', that it writes nothing;
-- 'allow-oom', that it may write where memory is short.
local function register(name, body, flag)
  redis.register_function{
    function_name = PREFIX .. name,
    callback = function(keys, args)
      start_call(keys, args)
      -- As one value, which is read far sooner than a list of them.
      return pack(body())
    end,
    flags = { flag },
  }
end
