-- Five counters of a minute, all or none: what a door that keeps its limits in Redis
-- asks for each request. They keep our rule, never more than the limit in ANY 60 seconds,
-- and not that of fixed windows, which admit twice as many across an edge.
-- A counter is a hash of buckets of a second, with their sum in n, so that a request
-- reads and writes three fields and not sixty. In the second s, the buckets from s-60 on
-- may hold something that is younger than 60 seconds; what is before that is taken off
-- the sum once a second. Redis's own clock, so that all doors agree.
local s = tonumber(redis.call('TIME')[1])
local sum, now = {}, {}
for i = 1, 5 do
  local key = KEYS[i]
  local v = redis.call('HMGET', key, 'n', 'from', s)
  local n, from = tonumber(v[1]) or 0, tonumber(v[2]) or s
  if from < s - 60 then
    local gone = {}
    for old = from, math.min(from + 60, s - 61) do gone[#gone + 1] = old end
    for _, was in ipairs(redis.call('HMGET', key, unpack(gone))) do n = n - (tonumber(was) or 0) end
    redis.call('HDEL', key, unpack(gone))
    redis.call('HSET', key, 'n', n, 'from', s - 60)
  end
  if n >= 1000000000 then return 0 end
  sum[i], now[i] = n, v[3]
end
for i = 1, 5 do
  local key = KEYS[i]
  if now[i] then
    redis.call('HSET', key, 'n', sum[i] + 1, s, now[i] + 1)
  else -- the first of this second
    redis.call('HSET', key, 'n', sum[i] + 1, s, 1)
    redis.call('HSETNX', key, 'from', s)
    redis.call('EXPIRE', key, 61)
  end
end
return 1
