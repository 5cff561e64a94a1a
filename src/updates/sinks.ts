import { LRUCache } from 'lru-cache'
import type { Life } from '../platform/process.js'
import { type JobQueue, openQueue, type QueueConnection } from '../platform/queue.js'
import type { Redis } from '../platform/redis.js'
import type { ChangeMessage } from './change-message.js'
import { ChangeStream } from './change-stream.js'
import type { ChangeSinks } from './delivery.js'
import type { HeldChange } from './held-change.js'
import { environmentQueue } from './jobs.js'
import { publishHeldChanges } from './state-bus.js'

/**
 * The push channel of the web processes with the change stream behind it (a reader that was away asks it for what it missed), and a queue per environment that has a
 * persistent cache (kept until its consumer takes it).
 */
export function changeSinks(parts: {
  life: Life
  redis: Redis
  queues: QueueConnection
  hasPersistentCache: (environmentId: string) => Promise<boolean>
}): ChangeSinks {
  const { life, redis, queues, hasPersistentCache } = parts
  const stream = new ChangeStream({ redis, prefix: queues.prefix })
  // A setting of the environment that changes rarely: a minute late is soon enough.
  const settings = new LRUCache<string, boolean>({ max: 10_000, ttl: 60_000, fetchMethod: hasPersistentCache })
  const open = new Map<string, JobQueue<ChangeMessage>>()
  const queueOf = (environmentId: string): JobQueue<ChangeMessage> => {
    const queue = open.get(environmentId) ?? openQueue(life, queues, environmentQueue(environmentId))
    open.set(environmentId, queue)
    return queue
  }
  return {
    async publish(messages) {
      // First: who hears of a change and asks for more must not be answered from what was held before it.
      await Promise.all(
        [...heldChangesOf(messages)].map(([environmentId, changes]) => publishHeldChanges(redis, queues.prefix, environmentId, changes)),
      )
      await stream.append(messages)
    },
    async enqueue(messages) {
      for (const message of messages) {
        if (await settings.fetch(message.environmentId)) await queueOf(message.environmentId).add(message)
      }
    },
  }
}

/** By environment. */
function heldChangesOf(messages: readonly ChangeMessage[]): Map<string, HeldChange[]> {
  const changes = new Map<string, HeldChange[]>()
  for (const message of messages) changes.set(message.environmentId, [...(changes.get(message.environmentId) ?? []), toHeldChange(message)])
  return changes
}

function toHeldChange({ kind, customerId, version, usage, ...message }: ChangeMessage): HeldChange {
  const resourceId = message.resourceId ?? null
  if (kind === 'package') return { customerId: null, version: null }
  if (kind === 'purge') return { customerId, version: null }
  if (!usage) return { customerId, version }
  return { customerId, version, usage: { resourceId, featureId: usage.featureId, usage: usage.usage } }
}
