import type { JobQueue } from '../../platform/queue.js'
import type { Queryable } from '../../platform/sql.js'
import type { AggregationJob } from '../wire/jobs.js'
import { takeWaitingBatches } from './batch-repository.js'

/** A batch that waits for longer has lost its job, unless the queue is long. */
const lostAfterSeconds = 5
/** While the queue is long: finding its batches in the database as well would only make it longer. */
const lostAfterSecondsWhenBusy = 60
const batchesPerSweep = 100

/** Gives jobs to committed batches of events that have none: the process that stored them was killed, or Redis was away. Answers how many. */
export async function sweepBatches(db: Queryable, queue: JobQueue<AggregationJob>): Promise<number> {
  const isBusy = (await queue.waiting()) > 0
  const batches = await takeWaitingBatches(db, isBusy ? lostAfterSecondsWhenBusy : lostAfterSeconds, batchesPerSweep)
  for (const { environmentId, batchId, storedAt } of batches)
    await queue.add({ v: 1, environmentId, batchId, stored: null, reportedAt: storedAt })
  return batches.length
}
