-- Five counters of a minute, all or none: what a door that keeps its limits in Redis
-- asks for each request. Windows are fixed, which is less work than ours do.
for i = 1, 5 do
  local n = redis.call('GET', KEYS[i])
  if n and tonumber(n) >= 1000000000 then return 0 end
end
for i = 1, 5 do
  if redis.call('INCR', KEYS[i]) == 1 then redis.call('EXPIRE', KEYS[i], 60) end
end
return 1
