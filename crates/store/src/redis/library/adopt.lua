-- Begins to take in a room from another store: all of it but the places and what belongs to them, which follow. It
-- stays frozen until they are there. Its time goes on from where it was.
--
-- ARGV   8 why it is frozen
--        9 'empty' if it may take the place of a room in which nobody has joined, or of a later one that was deleted;
--          else ''
--        10 ... fields of the room and their values
-- Returns 1, or 0 if there is a room whose place it must not take

local function may_replace(arriving)
  if not R.version then return true end
  local unused = ARGV[9] == 'empty' and R.issued == 0
  local why = R.frozen or ''
  if match(why, '^arriving ') then return true end
  if match(why, '^left ') then return R.epoch == arriving.epoch or unused end
  if R.state == 'deleted' then return R.epoch <= arriving.epoch or ARGV[9] == 'empty' end
  return unused
end

register('adopt', function()
  clock = read_clock()
  read_room()
  local arriving = {}
  for at = 10, #ARGV, 2 do
    local value = ARGV[at + 1]
    if not TEXT[ARGV[at]] then value = tonumber(value) end
    arriving[ARGV[at]] = value
  end
  if not may_replace(arriving) then return answer('ok', false, 0) end
  arriving.version = max(arriving.version, R.version or 0)
  arriving.generation = max(arriving.generation or 0, R.generation) + 1
  call('UNLINK', unpack(KEYS))
  -- What a node knows of the room that gives way must not be merged into this one.
  if R.epoch and R.epoch > arriving.epoch then arriving.replaced = R.epoch end
  if R.epoch and R.epoch < arriving.epoch then
    arriving.deleted_until = max(arriving.deleted_until or 0, R.epoch)
  end
  take_fields(arriving)
  -- Who was there is all in the bitmaps that follow, and when the first pass runs out is looked up once it is there.
  R.given0, R.given1, R.given2, R.imported_last, R.logged, R.runs_out = R.issued, R.issued, R.issued, 0, 0, 0
  R.frozen = ARGV[8]
  R.server, R.term = this_server(), number(ARGV[6])
  R.clock_offset = R.clock_last - clock
  now = R.clock_last
  visible = true
  return done(false, 1)
end)
