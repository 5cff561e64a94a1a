/** The Redis that carries queues, announcements and states. */
import { type Fault, nothing } from '../fault.js'

const replicaBehindMs = 1_000
const pauses = [3, 10, 60]

const stops = pauses.map(
  (seconds): Fault => ({
    name: `pause-redis-${seconds}s`,
    about: `Redis stands still for ${seconds} s`,
    holdMs: seconds * 1_000,
    async inject({ redis }) {
      redis.pause()
      return async () => {
        redis.resume()
        return []
      }
    },
  }),
)

export const redisFaults: readonly Fault[] = [
  {
    name: 'redis-killed',
    about: 'Redis is killed and comes back after 2 s with what it had on disk',
    holdMs: 2_000,
    async inject({ redis }) {
      await redis.kill()
      return async () => {
        await redis.start()
        return []
      }
    },
  },
  {
    name: 'redis-lost',
    about: 'Redis is killed and comes back after 2 s with nothing',
    holdMs: 2_000,
    async inject({ redis }) {
      await redis.kill()
      redis.removeData()
      return async () => {
        await redis.start()
        return []
      }
    },
  },
  {
    name: 'redis-full',
    about: 'Redis is at its maxmemory for 8 s',
    isFull: true,
    holdMs: 8_000,
    async inject({ redis }) {
      const limit = (value: string) => redis.do((client) => client.config('SET', 'maxmemory', value))
      await limit('1mb')
      return async () => {
        await limit('0')
        return []
      }
    },
  },
  {
    name: 'redis-promoted',
    about: 'Redis is killed, and a replica takes its place that lacks the last second',
    isQuick: true,
    holdMs: 0,
    async inject(stage) {
      const replica = await stage.redis.startReplica(stage.nextFolder('replica'))
      await replica.promote()
      await stage.wait(replicaBehindMs)
      await stage.redis.kill()
      stage.replaceRedis(replica)
      return nothing
    },
  },
  ...stops,
]
