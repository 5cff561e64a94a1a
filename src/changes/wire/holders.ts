/**
 * Who holds states, by name: an announcement is answered when each of them has acknowledged it, or does not trust what it holds any more. How many connections
 * Redis publishes to says nothing about that: one that was closed there may be open here.
 *
 * lease   of a process that holds states: a key in Redis that ends by itself unless it is prolonged. Prolonging it takes no memory, so a Redis that is full
 *         does not refuse it.
 * holder  a process with a lease that has registered for the environment
 */
import { redisEpochLua } from './redis-epoch.js'

/** What the keys of all leases begin with; the name of the holder follows. */
export const leasePrefix = (prefix: string): string => `${prefix}:holder:`
export const leaseKey = (prefix: string, name: string): string => leasePrefix(prefix) + name
/**
 * How long a process may trust what it holds without a sign that it hears everything and is waited for. An announcement waits no longer than this for those
 * that do not acknowledge it: by then they do not trust what they hold.
 */
export const leaseMs = 1_000
/** A Redis set: who has registered for the environment. */
export const holdersKey = (prefix: string, environmentId: string): string => `${prefix}:holders:${environmentId}`

/** Who has to hear an announcement, and the epoch of the Redis that says so. */
export interface Listeners {
  epoch: string
  holders: string[]
}

/** Lua: `listeners(what leases begin with, who is registered)`. Strikes off who has no lease: it registers again with its next one. */
export const listenersLua = `${redisEpochLua}
local function listeners(leases, registered)
  local names = {}
  for _, name in ipairs(redis.call('SMEMBERS', registered)) do
    if redis.call('EXISTS', leases .. name) == 1 then names[#names + 1] = name else redis.call('SREM', registered, name) end
  end
  return names
end`

/** Lua. KEYS: what leases begin with, who is registered for the environment. ARGV: channel and text of an announcement. Answers epoch and names. */
export const announceLua = `${listenersLua}
redis.call('PUBLISH', ARGV[1], ARGV[2])
return {redisEpoch(), listeners(KEYS[1], KEYS[2])}`

/**
 * Lua. KEYS: what leases begin with, a lease. ARGV: milliseconds. Answers the epoch, and whether the lease that it prolongs has lasted until now.
 *
 * No key is what leases begin with: so while a cluster moves the slot it takes neither this nor an announcement, both of which name two keys of which one is
 * not there. Nobody is trusted then to whom nothing can be announced.
 */
export const leaseLua = `${redisEpochLua}
local isKept = redis.call('PEXPIRE', KEYS[2], ARGV[1])
if isKept == 0 then redis.call('SET', KEYS[2], '', 'PX', ARGV[1]) end
return {redisEpoch(), isKept}`

/** Lua. KEYS: what leases begin with, who is registered for environments. ARGV: a holder's name. Registers it for each of them. */
export const registerLua = `${listenersLua}
for i = 2, #KEYS do
  listeners(KEYS[1], KEYS[i])
  redis.call('SADD', KEYS[i], ARGV[1])
end`
