-- The room itself, for whom numbers about it are not enough.

-- Its fields, each followed by its value; none that is absent.
local function fields()
  local flat, at = {}, 0
  for field, value in pairs(R) do
    if value then
      flat[at + 1], flat[at + 2] = field, value
      at = at + 2
    end
  end
  return flat
end
