import { LRUCache } from 'lru-cache'
import type { HeldChange } from '../../changes/model/change.js'
import { announcementOf } from '../../changes/wire/announcements.js'
import type { PersistentCacheTarget } from '../../environment/model/environment.js'
import type { DatabaseEpoch } from '../../platform/epoch/database-epoch.js'
import type { Life } from '../../platform/process.js'
import type { QueueConnection } from '../../platform/queue.js'
import type { Redis } from '../../platform/redis.js'
import { byEnvironment, ChangeStream, messagesPerStep } from '../stream/change-stream.js'
import type { ChangeMessage } from '../wire/change-message.js'
import type { QueueMessage } from '../wire/queue-message.js'
import type { ChangeSinks } from './delivery.js'
import type { FeedEpochs } from './feed-epochs.js'
import { openEnvironmentQueues } from './jobs.js'
import type { SqsFeeds } from './sqs-feeds.js'

/** What environments are set to is asked so often, of those that change. */
const settingsMs = 2_000

/**
 * The push channel of the web processes with the change stream behind it (a reader that was away asks it for what it missed), and a queue per
 * environment that has a persistent cache (kept until its consumer takes it).
 */
export function changeSinks(parts: {
  life: Life
  redis: Redis
  queues: QueueConnection
  databaseEpoch: Pick<DatabaseEpoch, 'current'>
  persistentCacheOf: (environmentId: string) => Promise<PersistentCacheTarget | null>
  sqs: Pick<SqsFeeds, 'tell'>
  epochs: Pick<FeedEpochs, 'number' | 'lose'>
}): ChangeSinks {
  const { life, redis, queues, databaseEpoch, persistentCacheOf, sqs, epochs } = parts
  const stream = new ChangeStream({ redis, prefix: queues.prefix, databaseEpoch })
  const settings = new LRUCache<string, { target: PersistentCacheTarget | null }>({
    max: 10_000,
    ttl: settingsMs,
    fetchMethod: async (environmentId) => ({ target: await persistentCacheOf(environmentId) }),
  })
  const queueOf = openEnvironmentQueues(life, queues)
  return {
    async publish(messages) {
      // On one connection, so in this order: who hears of a change and asks for more must not be answered from what was held before it.
      const held = [...heldChangesOf(messages)].map(([environmentId, changes]) =>
        redis.publish(...announcementOf(queues.prefix, environmentId, changes)),
      )
      await Promise.all([...held, stream.append(messages)])
    },
    async enqueue(messages) {
      const answers: (() => Promise<boolean>)[] = []
      for (const [environmentId, ofEnvironment] of byEnvironment(messages)) {
        const { target = null } = (await settings.fetch(environmentId)) ?? {}
        if (target === null) {
          answers.push(async () => false)
          continue
        }
        const first = await epochs.number(environmentId, ofEnvironment.length)
        const told: QueueMessage[] = ofEnvironment.map((message, n) =>
          first ? { ...message, ...first, sequence: first.sequence + n } : message,
        )
        if (target.queueUrl !== null) {
          const taking = sqs.tell(target.queueUrl, told)
          answers.push(async () => {
            const isTaken = await taking
            if (!isTaken) await epochs.lose(environmentId)
            return isTaken
          })
          continue
        }
        for (let start = 0; start < told.length; start += messagesPerStep)
          await queueOf(environmentId).addAll(told.slice(start, start + messagesPerStep))
      }
      return async () => {
        let isTold = true
        for (const answer of answers) isTold = (await answer()) && isTold
        return isTold
      }
    },
  }
}

function heldChangesOf(messages: readonly ChangeMessage[]): Map<string, HeldChange[]> {
  return new Map([...byEnvironment(messages)].map(([environmentId, ofEnvironment]) => [environmentId, ofEnvironment.map(toHeldChange)]))
}

function toHeldChange({ kind, customerId, version, usage, ...message }: ChangeMessage): HeldChange {
  const resourceId = message.resourceId ?? null
  if (kind === 'package') return { customerId: null, version: null }
  if (kind === 'purge') return { customerId, version: null }
  if (!usage) return { customerId, version }
  return { customerId, version, usage: { resourceId, featureId: usage.featureId, usage: usage.usage } }
}
