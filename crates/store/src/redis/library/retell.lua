-- Places that the calling node has acknowledged lately, or whose tokens it has seen, in case this server has forgotten
-- them. The rule is core's `Command::Retell`.
--
-- ARGV   8 ... for each: visitor, ordinal; at most 1,000
register('retell', function()
  local refused = open()
  if refused then return refused end
  for at = 8, #ARGV, 2 do retell_place(ARGV[at], tonumber(ARGV[at + 1])) end
  return done(settle())
end)
