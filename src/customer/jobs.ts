import { z } from 'zod'
import type { JobDefinition } from '../platform/queue.js'

const runImportSchema = z.object({ v: z.literal(1), environmentId: z.uuid(), importId: z.uuid() })

/**
 * Wakes a worker for the next slice of an import. Only a wake-up: what is left to import is read from PostgreSQL, and the sweep finds it when the job
 * was lost.
 */
export const runImport: JobDefinition<z.infer<typeof runImportSchema>> = {
  queue: 'imports',
  name: 'run',
  version: 1,
  parse: (data) => runImportSchema.parse(data),
}
