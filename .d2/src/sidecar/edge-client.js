import { Problem } from '../kernel/problem.js';
import { parseAnswer } from './api-messages.js';
import { fromApiError } from './errors.js';
/** After the edge could not answer it is left alone for so long, and reads go to GraphQL at once. */
const distrustMs = 10_000;
/** The edge API: states by plain GET, which caches and replicas near the sidecar can serve. */
export class EdgeClient {
    http;
    apiKey;
    clock;
    #trustedFrom = 0;
    constructor(http, apiKey, clock) {
        this.http = http;
        this.apiKey = apiKey;
        this.clock = clock;
    }
    /** False for a while after it could not answer. */
    get isTrusted() {
        return performance.now() >= this.#trustedFrom;
    }
    /**
     * The state, an unknown customer's included. Null: the edge cannot answer (away, slower than `patienceMs`, not served there), and GraphQL has to.
     * Fails when the call as a whole was given up, or with what the edge refused.
     */
    async fetchState(owner, signal, patienceMs) {
        const { customerId, resourceId } = owner;
        const query = resourceId === null ? '' : `?resourceId=${encodeURIComponent(resourceId)}`;
        try {
            const sentAt = Date.now();
            const { status, date, text } = await this.http.send({
                method: 'GET',
                path: `/v1/c/${encodeURIComponent(customerId)}/entitlements-state.json${query}`,
                headers: { accept: 'application/json', 'x-api-key': this.apiKey.reveal() },
                signal: AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, patienceMs))]),
            });
            if (status === 200)
                this.clock.learn(date, sentAt);
            if (status === 429)
                throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'The API answers no more requests at the moment');
            const answer = parseAnswer(text);
            const [error] = answer?.errors ?? [];
            if (error?.extensions?.code !== undefined && error.extensions.code !== 'InternalServerError')
                throw fromApiError(error);
            if (answer?.data?.entitlementsState)
                return answer.data.entitlementsState;
        }
        catch (error) {
            if (error instanceof Problem || signal.aborted)
                throw error;
        }
        this.#trustedFrom = performance.now() + distrustMs;
        return null;
    }
    close() {
        this.http.close();
    }
}
//# sourceMappingURL=edge-client.js.map