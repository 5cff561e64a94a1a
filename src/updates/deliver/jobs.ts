import { z } from 'zod'
import { changeKinds } from '../../changes/model/change.js'
import type { Life } from '../../platform/process.js'
import { type JobDefinition, type JobQueue, openQueue, type QueueConnection } from '../../platform/queue.js'
import type { QueueMessage } from '../wire/queue-message.js'

const deliverSchema = z.object({ v: z.literal(1), environmentId: z.string() })

/** A nudge: the outbox has messages of this environment. The messages themselves stay in PostgreSQL until delivered, so a lost nudge loses nothing. */
export const deliverChanges: JobDefinition<z.infer<typeof deliverSchema>> = {
  queue: 'cache-invalidation',
  name: 'deliver',
  version: 1,
  parse: (data) => deliverSchema.parse(data),
}

// Only what every reader needs is checked: a newer writer may add fields.
const of = { v: z.literal(1), environmentId: z.string() }
const messageSchema = z.union([
  z.looseObject({ ...of, customerId: z.string(), kind: z.enum(changeKinds), version: z.number(), epoch: z.number().optional() }),
  z.looseObject({ ...of, kind: z.literal('reload'), epoch: z.number() }),
])

/** The queue that carries an environment's changes to its persistent cache. The message is the payload. */
export const environmentQueue = (environmentId: string): JobDefinition<QueueMessage> => ({
  queue: `environment-${environmentId}`,
  name: 'change',
  version: 1,
  parse: (data) => messageSchema.parse(data) as unknown as QueueMessage,
})

/** The sending ends of these queues, each opened when it is needed. */
export function openEnvironmentQueues(life: Life, queues: QueueConnection): (environmentId: string) => JobQueue<QueueMessage> {
  const open = new Map<string, JobQueue<QueueMessage>>()
  return (environmentId) => {
    const queue = open.get(environmentId) ?? openQueue(life, queues, environmentQueue(environmentId))
    open.set(environmentId, queue)
    return queue
  }
}
