-- Which server this is, for who wants to know whether the library is there and may ask. Has neither KEYS nor ARGV.
--
-- Returns its run id
register('which', function()
  return run_id()
end, 'no-writes')
