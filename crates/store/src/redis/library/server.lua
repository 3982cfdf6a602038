-- Which server this is, for the scripts that write it down or tell it.

-- The server that runs this script. A restart, a failover and a moved slot all change it.
local function run_id()
  return string.match(call('INFO', 'server'), 'run_id:(%x+)')
end

-- The name under which the state is written from now on. The time makes two merges on one server distinct, so
-- that a node notices a merge that it had no part in.
local function this_server()
  local t = call('TIME')
  return run_id() .. '@' .. t[1] .. string.format('%06d', tonumber(t[2]))
end
