-- Holders ask where they stand.
--
-- ARGV   5 how many, then for each: 'renew' (the gate: a live pass is renewed) or 'ask' (nothing is renewed),
--          visitor, ordinal. In both, a place aside comes to the door and a lost one is put back.
-- Returns for each: where it stands after settling, and up to two times
local refused = open()
if refused then return refused end
local last = 3 + 3 * tonumber(ARGV[5])
for at = 6, last, 3 do
  local visitor, ordinal = ARGV[at + 1], tonumber(ARGV[at + 2])
  if ARGV[at] ~= 'renew' or not renew(visitor, ordinal) then restore(visitor, ordinal) end
end
local more = settle()
local results = {}
for at = 6, last, 3 do
  for _, value in ipairs({ standing(ARGV[at + 1], tonumber(ARGV[at + 2])) }) do results[#results + 1] = value end
end
return done(more, results)
