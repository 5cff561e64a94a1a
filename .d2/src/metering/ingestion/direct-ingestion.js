import { Problem } from '../../kernel/problem.js';
import { directDoorPrefix } from '../wire/jobs.js';
/**
 * Jobs of an environment's own queue, which sidecars add to. Who reaches the queue need not hold a key, so each job shows the hash of one, and
 * nothing in the job may name another environment. Safe to run twice for a job.
 */
export class DirectIngestion {
    environments;
    ingestion;
    constructor(environments, ingestion) {
        this.environments = environments;
        this.ingestion = ingestion;
    }
    /** `environmentId`: that of the queue. */
    async ingest(environmentId, job, isRerun) {
        // A reply to anybody else would be a message to them.
        if (!job.door.startsWith(directDoorPrefix(environmentId)))
            return;
        const problem = await this.#refusal(environmentId, job);
        if (problem)
            this.ingestion.refuse(job, problem);
        else
            await this.ingestion.ingest(job, isRerun);
    }
    async #refusal(environmentId, job) {
        try {
            const identity = await this.environments.authenticateHash(Buffer.from(job.keyHash ?? '', 'base64'));
            const isOfQueue = identity.kind === 'SERVER' && identity.environmentId === environmentId && job.environmentId === environmentId;
            return isOfQueue
                ? null
                : new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'The key is no server key of the environment of this queue.');
        }
        catch (error) {
            const problem = Problem.from(error);
            // What is no answer about the key is tried again.
            if (problem.code !== 'UNAUTHENTICATED')
                throw error;
            return problem;
        }
    }
}
//# sourceMappingURL=direct-ingestion.js.map