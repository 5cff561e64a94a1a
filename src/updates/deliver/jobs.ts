import { z } from 'zod'
import { changeKinds } from '../../changes/model/change.js'
import type { Life } from '../../platform/process.js'
import { type JobDefinition, type JobQueue, openQueue, type QueueConnection } from '../../platform/queue.js'
import type { QueueMessage } from '../wire/queue-message.js'

const deliverSchema = z.object({ v: z.literal(1), environmentId: z.uuid() })

/** A nudge: the outbox has messages of this environment. The messages themselves stay in PostgreSQL until delivered, so a lost nudge loses nothing. */
export const deliverChanges: JobDefinition<z.infer<typeof deliverSchema>> = {
  queue: 'cache-invalidation',
  name: 'deliver',
  version: 1,
  parse: (data) => deliverSchema.parse(data),
}

const usageSchema = z.looseObject({
  currentUsage: z.string(),
  periodStart: z.number().nullable(),
  periodEnd: z.number().nullable(),
  updatedAt: z.number(),
})

const stateSchema = z.looseObject({
  customerId: z.string(),
  resourceId: z.string().nullable(),
  version: z.number(),
  accessVersion: z.number(),
  entitlements: z.array(z.looseObject({ feature: z.looseObject({ refId: z.string() }), usage: usageSchema.nullable() })),
})

// Only what every reader needs is checked: a newer writer may add fields. What is no text or number there could not even be sent to Redis.
const of = { v: z.literal(1), environmentId: z.string() }
const changeSchema = z.looseObject({
  ...of,
  customerId: z.string(),
  resourceId: z.string().optional(),
  kind: z.enum(changeKinds),
  version: z.number(),
  epoch: z.number().optional(),
  state: stateSchema.optional(),
  usage: z.looseObject({ featureId: z.string(), usage: usageSchema }).optional(),
})
const messageSchema = z.union([changeSchema, z.looseObject({ ...of, kind: z.literal('reload'), epoch: z.number() })])

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
