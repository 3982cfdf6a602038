-- The holders of these places are there.
--
-- ARGV   5 ... ordinals, at most 1,000
local refused = open()
if refused then return refused end

-- Above `head` a mark is one bit and nothing else, so all of them are one command.
local bits = {}
for at = 5, #ARGV do
  local ordinal = tonumber(ARGV[at])
  if ordinal > R.head and ordinal <= R.issued then
    for _, value in ipairs({ 'SET', 'u1', text(ordinal - R.base), 1 }) do bits[#bits + 1] = value end
  elseif ordinal <= R.head and holds(ordinal) then
    mark(ordinal)
  end
end
if #bits > 0 then call('BITFIELD', round_key(0), unpack(bits)) end
return done(settle())
