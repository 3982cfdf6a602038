-- A join as a script for one visitor does it: an ordinal, and a place behind everybody who came before.
--
-- KEYS   1 the last ordinal, 2 the line
-- ARGV   1 visitor
-- Returns the ordinal of the visitor's place.
local ordinal = redis.call('INCR', KEYS[1])
if redis.call('ZADD', KEYS[2], 'NX', ordinal, ARGV[1]) == 0 then
  return tonumber(redis.call('ZSCORE', KEYS[2], ARGV[1]))
end
return ordinal
