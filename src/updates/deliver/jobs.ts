import { z } from 'zod'
import * as decimal from '../../kernel/decimal.js'
import { identifierFault } from '../../kernel/id.js'
import type { Life } from '../../platform/process.js'
import { type JobDefinition, type JobQueue, openQueues, type QueueConnection } from '../../platform/queue.js'
import type { QueueMessage } from '../wire/queue-message.js'

const deliverSchema = z.object({ v: z.literal(1), environmentId: z.uuid() })

/** A nudge: the outbox has messages of this environment. The messages themselves stay in PostgreSQL until delivered, so a lost nudge loses nothing. */
export const deliverChanges: JobDefinition<z.infer<typeof deliverSchema>> = {
  queue: 'cache-invalidation',
  name: 'deliver',
  version: 1,
  parse: (data) => deliverSchema.parse(data),
}

// Only what every reader needs is checked: a newer writer may add fields. Of that, identifiers become keys and versions decide for ever, so that nothing else
// may come in their place: others than the platform may write to a queue.
const version = z.int().nonnegative()
const identifier = z.string().refine((id) => id !== '' && identifierFault(id) === null, 'is no identifier')

const usageSchema = z.looseObject({
  currentUsage: z.string().refine((text) => decimal.fromText(text) === text, 'is no decimal'),
  periodStart: z.number().nullable(),
  periodEnd: z.number().nullable(),
  updatedAt: version,
})

const stateSchema = z.looseObject({
  customerId: identifier,
  resourceId: identifier.nullable(),
  version,
  accessVersion: version,
  entitlements: z.array(z.looseObject({ feature: z.looseObject({ refId: identifier }), usage: usageSchema.nullable() })),
})

const of = { v: z.literal(1), environmentId: z.string() }
const changeSchema = z
  .looseObject({
    ...of,
    customerId: identifier,
    resourceId: identifier.optional(),
    kind: z.enum(['entitlements', 'usage', 'purge']),
    version,
    epoch: version.optional(),
    sequence: version.optional(),
    state: stateSchema.optional(),
    usage: z.looseObject({ featureId: identifier, usage: usageSchema }).optional(),
  })
  .refine(
    ({ customerId, resourceId = null, state }) =>
      state === undefined || (state.customerId === customerId && state.resourceId === resourceId),
    'its state is of another customer or resource',
  )
const messageSchema = z.union([
  changeSchema,
  z.looseObject({ ...of, kind: z.literal('package'), version, epoch: version.optional(), sequence: version.optional() }),
  z.looseObject({ ...of, kind: z.literal('reload'), epoch: version }),
  z.looseObject({ ...of, kind: z.literal('heartbeat'), epoch: version, sequence: version, asOf: version }),
])

/** The queue that carries an environment's changes to its persistent cache. The message is the payload. */
export const environmentQueue = (environmentId: string): JobDefinition<QueueMessage> => ({
  queue: `environment-${environmentId}`,
  name: 'change',
  version: 1,
  parse: (data) => messageSchema.parse(data) as unknown as QueueMessage,
})

/** The sending ends of these queues. */
export const openEnvironmentQueues = (life: Life, queues: QueueConnection): ((environmentId: string) => JobQueue<QueueMessage>) =>
  openQueues(life, queues, environmentQueue)
