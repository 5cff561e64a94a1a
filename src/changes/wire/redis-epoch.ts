/**
 * Vouches for what is remembered of Redis: its replication id, which every restart and every promotion of a replica changes. What was written to the
 * server before may be missing from then on, also when all that is there is in order.
 */

/** For a script. Half of the id: there are few of them, and it is told with each change. */
export const redisEpochLua = `
local function redisEpoch()
  return string.sub(string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)') or '', 1, 16)
end`

/** Lua. KEYS: one of a queue. Answers the epoch of the server that has it. */
export const queueEpochLua = `${redisEpochLua}
return redisEpoch()`
