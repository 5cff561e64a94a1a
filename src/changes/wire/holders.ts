/**
 * Who holds states, by name: an announcement is answered when each of them has acknowledged it, or does not trust what it holds any more. How many connections
 * Redis publishes to says nothing about that: one that was closed there may be open here.
 *
 * lease   of a process that holds states: until when Redis has it among those that are waited for
 * holder  a process with a lease that has registered for the environment
 */
import { redisEpochLua } from './redis-epoch.js'

/** A Redis sorted set: the ends of leases, by Redis's clock, of all holders. */
export const leasesKey = (prefix: string): string => `${prefix}:holders`
/** A Redis set: who has registered for the environment. */
export const holdersKey = (prefix: string, environmentId: string): string => `${prefix}:holders:${environmentId}`

/** Who has to hear an announcement, and the epoch of the Redis that says so. */
export interface Listeners {
  epoch: string
  holders: string[]
}

/** Lua: `listeners(leases, registered)`. Forgets who has no lease: it registers again with its next one. */
export const listenersLua = `${redisEpochLua}
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function listeners(leases, registered)
  local now, names = nowMs(), {}
  for _, name in ipairs(redis.call('SMEMBERS', registered)) do
    local ends = redis.call('ZSCORE', leases, name)
    if ends and tonumber(ends) > now then names[#names + 1] = name else redis.call('SREM', registered, name) end
  end
  return names
end`

/** Lua. KEYS: leases, who is registered for the environment. ARGV: channel and text of an announcement. Answers epoch and names. */
export const announceLua = `${listenersLua}
redis.call('PUBLISH', ARGV[1], ARGV[2])
return {redisEpoch(), listeners(KEYS[1], KEYS[2])}`

/** Lua. KEYS: leases. ARGV: name, milliseconds. Answers the epoch, and whether the lease that it prolongs has lasted until now. */
export const leaseLua = `${listenersLua}
local now = nowMs()
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local isKept = redis.call('ZSCORE', KEYS[1], ARGV[1]) and 1 or 0
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return {redisEpoch(), isKept}`

/** Lua. KEYS: leases, who is registered for environments. ARGV: name. Registers it for each of them. */
export const registerLua = `${listenersLua}
for i = 2, #KEYS do
  listeners(KEYS[1], KEYS[i])
  redis.call('SADD', KEYS[i], ARGV[1])
end`
