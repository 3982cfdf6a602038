-- The room itself, for whom numbers about it are not enough.

-- Its fields, each followed by its value; none that is absent.
local function fields()
  local flat = { 'version', R.version, 'issued', R.issued, 'clock_last', R.clock_last }
  local at = #flat
  for field, value in pairs(REST) do
    flat[at + 1], flat[at + 2] = field, value
    at = at + 2
  end
  return flat
end
