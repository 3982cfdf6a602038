-- Nothing but the settling that ends every transition.
register('settle', function()
  local refused = open()
  if refused then return refused end
  return done(settle())
end, 'allow-oom')
