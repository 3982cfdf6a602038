-- Joins as a script for many visitors does them: ordinals, and places behind everybody who came before.
--
-- KEYS   1 the last ordinal, 2 the line
-- ARGV   the visitors
-- Returns the ordinal of the first.
local before = redis.call('INCRBY', KEYS[1], #ARGV) - #ARGV
local places = {}
for i = 1, #ARGV do
  places[2 * i - 1] = string.format('%d', before + i)
  places[2 * i] = ARGV[i]
end
redis.call('ZADD', KEYS[2], 'NX', unpack(places))
return before + 1
