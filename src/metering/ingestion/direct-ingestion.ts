import type { EnvironmentService } from '../../environment/service.js'
import type { Clock } from '../../kernel/clock.js'
import { Problem } from '../../kernel/problem.js'
import { checkedJob } from '../wire/checked-job.js'
import { directDoorPrefix, type IngestionJob } from '../wire/jobs.js'
import type { Ingestion } from './ingestion.js'

/**
 * Jobs of an environment's own queue, which sidecars add to. Who reaches the queue need not hold a key, so each job shows the hash of one, and
 * nothing in the job may name another environment, and what it carries is checked as a door does. Safe to run twice for a job.
 */
export class DirectIngestion {
  constructor(
    private readonly environments: Pick<EnvironmentService, 'authenticateHash'>,
    private readonly ingestion: Pick<Ingestion, 'ingest' | 'refuse'> & { clock: Clock },
  ) {}

  /** `environmentId`: that of the queue. */
  async ingest(environmentId: string, job: IngestionJob, isRerun: boolean): Promise<void> {
    // A reply to anybody else would be a message to them.
    if (!job.door.startsWith(directDoorPrefix(environmentId))) return
    const checked = (await this.#refusal(environmentId, job)) ?? checkedJob(job, this.ingestion.clock.now())
    if (!(checked instanceof Problem)) await this.ingestion.ingest(checked, isRerun)
    // An earlier run may have been before the key was revoked, or the time too old, and have counted it.
    else if (!isRerun && !job.isRepeat) this.ingestion.refuse(job, checked)
  }

  async #refusal(environmentId: string, job: IngestionJob): Promise<Problem | null> {
    try {
      const identity = await this.environments.authenticateHash(Buffer.from(job.keyHash ?? '', 'base64'), `queue of ${environmentId}`)
      const isOfQueue = identity.kind === 'SERVER' && identity.environmentId === environmentId && job.environmentId === environmentId
      return isOfQueue
        ? null
        : new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'The key is no server key of the environment of this queue.')
    } catch (error) {
      const problem = Problem.from(error)
      // What is no answer about the key is tried again.
      if (problem.code !== 'UNAUTHENTICATED') throw error
      return problem
    }
  }
}
