import { z } from 'zod'
import type { JobDefinition } from '../platform/queue.js'

const deliverSchema = z.object({ v: z.literal(1), environmentId: z.string() })

/** A nudge: the outbox has messages of this environment. The messages themselves stay in PostgreSQL until delivered, so a lost nudge loses nothing. */
export const deliverChanges: JobDefinition<z.infer<typeof deliverSchema>> = {
  queue: 'cache-invalidation',
  name: 'deliver',
  version: 1,
  parse: (data) => deliverSchema.parse(data),
}
