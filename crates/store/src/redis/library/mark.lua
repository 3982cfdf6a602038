-- The holders of these places are there.
--
-- ARGV   8 ... ordinals, at most 1,000
register('mark', function()
  local refused = open()
  if refused then return refused end

  -- Above `head` a mark is one bit and nothing else, so all of them are one command.
  local bits, n = {}, 0
  for at = 8, #ARGV do
    local ordinal = tonumber(ARGV[at])
    if ordinal > R.head and ordinal <= R.issued then
      bits[n + 1], bits[n + 2], bits[n + 3], bits[n + 4] = 'SET', 'u1', text(ordinal - R.base), '1'
      n = n + 4
    elseif ordinal <= R.head and holds(ordinal) then
      mark(ordinal)
    end
  end
  if n > 0 then call('BITFIELD', round_key(0), unpack(bits)) end
  return done(settle())
end)
