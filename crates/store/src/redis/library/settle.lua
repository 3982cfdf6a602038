-- Nothing but the settling that ends every transition.
local refused = open()
if refused then return refused end
return done(settle())
