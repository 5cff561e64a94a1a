import { z } from 'zod'
import { changeKinds } from '../../changes/model/change.js'
import type { JobDefinition } from '../../platform/queue.js'
import { type ChangeMessage } from '../wire/change-message.js'

const deliverSchema = z.object({ v: z.literal(1), environmentId: z.uuid() })

/** A nudge: the outbox has messages of this environment. The messages themselves stay in PostgreSQL until delivered, so a lost nudge loses nothing. */
export const deliverChanges: JobDefinition<z.infer<typeof deliverSchema>> = {
  queue: 'cache-invalidation',
  name: 'deliver',
  version: 1,
  parse: (data) => deliverSchema.parse(data),
}

// Only what every reader needs is checked: a newer writer may add fields.
const changeSchema = z.looseObject({
  v: z.literal(1),
  environmentId: z.string(),
  customerId: z.string(),
  kind: z.enum(changeKinds),
  version: z.number(),
})

/** The queue that carries an environment's changes to its persistent cache. The message is the payload. */
export const environmentQueue = (environmentId: string): JobDefinition<ChangeMessage> => ({
  queue: `environment-${environmentId}`,
  name: 'change',
  version: 1,
  parse: (data) => changeSchema.parse(data) as unknown as ChangeMessage,
})
