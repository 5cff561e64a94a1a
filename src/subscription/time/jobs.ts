import { z } from 'zod'
import type { JobDefinition } from '../../platform/queue.js'

const applyDueSchema = z.object({ v: z.literal(1), environmentId: z.uuid(), customerId: z.uuid() })

export type ApplyDueJob = z.infer<typeof applyDueSchema>

/**
 * Wakes the transitions worker when something of a customer (our id) is due; delayed until that instant. Only a wake-up: what is due is read from
 * PostgreSQL, and the sweep finds it when the job was lost.
 */
export const applyDueTransitions: JobDefinition<ApplyDueJob> = {
  queue: 'subscription-transitions',
  name: 'apply-due',
  version: 1,
  parse: (data) => applyDueSchema.parse(data),
}
