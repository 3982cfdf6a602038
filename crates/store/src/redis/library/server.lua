-- Which server this is.

-- A process has one run id from its start to its end, and Lua variables of its own: replicas are told what functions
-- wrote and run none themselves, and a library that comes with a log or a snapshot is loaded anew. So what was learnt
-- once is true for as long as it is remembered.
local known_run_id

-- The server that runs this call. A restart, a failover and a moved slot all change it.
local function run_id()
  known_run_id = known_run_id or match(call('INFO', 'server'), 'run_id:(%x+)')
  return known_run_id
end

-- The name under which the state is written from now on. The time makes two merges on one server distinct, so
-- that a node notices a merge that it had no part in.
local function this_server()
  local t = call('TIME')
  return run_id() .. '@' .. t[1] .. format('%06d', tonumber(t[2]))
end
