/**
 * What a Redis user may do that is not the platform's own, as rules of ACL SETUSER. The commands are those that are sent, and those that the scripts use:
 * Redis looks at both. None of them names a key that it was not told, counts keys, or touches the server.
 */
import { directDoorPrefix, ingestDirectUsage } from '../metering/wire/jobs.js'
import { replyChannel } from '../metering/wire/replies.js'
import { queuePrefix as ofQueue } from '../platform/redis/slots.js'
import { environmentQueue } from '../updates/deliver/jobs.js'
import { anyEntity, epochKey, escaped, feedKey, heartbeatKey, markerKey } from '../updates/external-cache/keys.js'

/**
 * sidecar                   adds usage to its environment's own queue, and hears the replies (QUEUE_REDIS_URL)
 * persistent-cache-service  works off the queue of its environment's changes (QUEUE_URL)
 */
export type QueueUser = 'sidecar' | 'persistent-cache-service'

interface Owned {
  /** QUEUE_PREFIX of the platform. */
  queuePrefix: string
  environmentId: string
}

/** With what a client finds the nodes of a cluster. */
const ofCluster = ['+cluster|slots', '+cluster|keyslot', '+cluster|info', '+asking', '+readonly', '+readwrite']
const connection = ['+ping', '+select', '+client|setname', ...ofCluster]

/** Of the script that adds a job. */
const addingJobs =
  'del exists get hget hmget hmset hset incr llen lpush lrange persist pttl rpush sadd scard set xadd zadd zrange zrem zrevrangebyscore zscore'.split(
    ' ',
  )

/** Of the scripts that take a job, keep it, and say what became of it. */
const workingOffJobs = [
  ...addingJobs,
  ...'bzpopmin hdel hexists hgetall hincrby lindex lrem ltrim pexpire rpop rpoplpush smembers srem xtrim'.split(' '),
  ...'zcard zcount zpopmin zrangebyscore zremrangebyrank zremrangebyscore zrevrange'.split(' '),
]

const allow = (commands: readonly string[]) => commands.map((command) => `+${command}`)

/** In the platform's Redis. */
export function queueUserRules(user: QueueUser, { queuePrefix, environmentId }: Owned): string[] {
  const isSidecar = user === 'sidecar'
  const { queue } = isSidecar ? ingestDirectUsage(environmentId) : environmentQueue(environmentId)
  const replies = replyChannel(queuePrefix, directDoorPrefix(environmentId))
  return [
    `~${escaped(`${ofQueue(queuePrefix, queue)}:${queue}:`)}*`,
    ...(isSidecar ? [`&${escaped(replies)}*`] : []),
    ...connection,
    '+evalsha',
    ...(isSidecar ? ['+subscribe', '+unsubscribe'] : []),
    ...(isSidecar ? [] : ['+multi', '+exec']),
    ...allow(isSidecar ? [...addingJobs, 'lindex', 'rpop', 'zcard', 'zcount'] : workingOffJobs),
  ]
}

/** Of the scripts that keep what was taken of the queue. */
const keepingFeed = 'hdel hexists hget hmget hset time zadd zrange zrem zremrangebyscore zscore'.split(' ')

/**
 * In the environment's own Redis, that of the external cache. The service sends its scripts as Lua; sidecars run the one that writes by its digest once it has.
 * A sidecar only reads the heartbeat.
 */
export function cacheUserRules(user: QueueUser, { cachePrefix }: { cachePrefix: string }): string[] {
  const entries = [`~${escaped(anyEntity(cachePrefix))}*`, `~${escaped(epochKey(cachePrefix))}`]
  const owned = [...connection, '+evalsha', ...allow(['del', 'exists', 'get', 'mget', 'set'])]
  if (user === 'sidecar') return [...entries, `%R~${escaped(heartbeatKey(cachePrefix))}`, ...owned]
  const feed = [
    feedKey(cachePrefix),
    `${feedKey(cachePrefix)}:ahead`,
    `${feedKey(cachePrefix)}:waiting`,
    heartbeatKey(cachePrefix),
    markerKey(cachePrefix),
  ]
  return [...entries, ...feed.map((key) => `~${escaped(key)}`), ...owned, ...allow(keepingFeed), '+eval', '+scan', '+cluster|nodes']
}
