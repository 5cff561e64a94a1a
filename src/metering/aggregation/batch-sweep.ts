import type { JobQueue } from '../../platform/queue.js'
import type { Queryable } from '../../platform/sql.js'
import type { AggregationJob } from '../wire/jobs.js'
import { takeWaitingBatches } from './batch-repository.js'

/** A batch that waits for longer has lost its job, unless the queue is long. */
const lostAfterSeconds = 5
/** While much is to be done: finding its batches in the database as well would only make it more. */
const lostAfterSecondsWhenBusy = 60
/** Jobs that are in work when there is little to do. */
const fewJobs = 128
const perSweep = { ofEnvironment: 100, inAll: 1_000 }

/** Gives jobs to committed batches of events that have none: the process that stored them was killed, or Redis was away. Answers how many. */
export async function sweepBatches(db: Queryable, queue: JobQueue<AggregationJob>): Promise<number> {
  const isBusy = (await queue.unfinished()) > fewJobs
  const batches = await takeWaitingBatches(db, isBusy ? lostAfterSecondsWhenBusy : lostAfterSeconds, perSweep)
  if (batches.length > 0)
    await queue.addAll(
      batches.map(({ environmentId, batchId, storedAt }) => ({ v: 1, environmentId, batchId, stored: null, reportedAt: storedAt })),
    )
  return batches.length
}
