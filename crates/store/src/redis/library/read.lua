-- The room as it is kept, whatever its state, for who moves it. Changes nothing.
--
-- Returns its fields, each followed by its value
register('read', function()
  read_room()
  if not R.version then return answer('missing') end
  return answer('ok', false, fields())
end, 'no-writes')
