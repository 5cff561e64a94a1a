import { newId } from '../kernel/id.js';
import { Problem, timedOut, unavailable } from '../kernel/problem.js';
import { documents, parseAnswer } from './api-messages.js';
import { EdgeClient } from './edge-client.js';
import { fromApiError } from './errors.js';
import { HttpClient } from './http-client.js';
import { Outage } from './outage.js';
/** Enough to fill a cold cache quickly; few enough that a thousand sidecars do not exhaust the API. */
const connections = 16;
/** Room for thousands of entitlements; a proxy's error page or a runaway answer must not fill the memory. */
const largestAnswerBytes = 32 * 1024 * 1024;
/** The platform's API, as far as a sidecar uses it. Failures are Problems; UNAVAILABLE and DEADLINE_EXCEEDED mean that nobody answered. */
export class ApiClient {
    options;
    #http;
    #edge;
    #outage = new Outage();
    constructor(options) {
        this.options = options;
        const limits = { connections, largestAnswerBytes };
        this.#http = new HttpClient(options.url, limits);
        this.#edge = options.edgeUrl === null ? null : new EdgeClient(new HttpClient(options.edgeUrl, limits), options.apiKey, options.clock);
    }
    /** The state of a customer or resource, an unknown one included. During an outage it fails at once. Safe to repeat. */
    fetchState(owner) {
        return this.#outage.guard(() => this.#fetchState(owner, AbortSignal.timeout(this.options.timeoutMs)));
    }
    /** Edge first; what it cannot answer is asked over GraphQL, while time is left. */
    async #fetchState(owner, signal) {
        if (this.#edge?.isTrusted) {
            const state = await this.#timed('edge', this.#edge.fetchState(owner, signal, this.options.timeoutMs / 2));
            if (state !== null)
                return state;
        }
        return (await this.#send('entitlementsState', { query: owner }, signal)).entitlementsState;
    }
    /** Answers when the report is stored. The key made here keeps an attempt that is sent twice from counting twice. */
    async reportUsage(report, signal) {
        return (await this.#send('reportUsage', { input: toReport(report) }, signal)).reportUsage;
    }
    /** Answers, in their order, when all reports are stored; fails when none is. */
    async reportUsageBulk(reports, signal) {
        const input = { usages: reports.map(toReport) };
        return (await this.#send('reportUsageBulk', { input }, signal)).reportUsageBulk ?? [];
    }
    /** Answers when all events are stored. Refused ones are `details.items` of the problem; the others are stored then too. Safe to repeat. */
    async reportEvents(events, signal) {
        await this.#send('reportEvent', { events: { usageEvents: events.map(withoutNulls) } }, signal);
    }
    close() {
        this.#http.close();
        this.#edge?.close();
    }
    /** Every operation may be sent twice, so one that a dying connection swallowed is sent once more. */
    #send(operation, variables, signal) {
        const body = JSON.stringify({ query: documents[operation], variables });
        const sent = this.#post(body, signal).catch((error) => {
            if (isBrokenConnection(error) && !signal.aborted)
                return this.#post(body, signal);
            throw error;
        });
        return this.#timed(operation, sent);
    }
    async #timed(operation, work) {
        const timer = this.options.metrics.apiSeconds.startTimer({ operation });
        try {
            const result = await work;
            timer({ outcome: result === null ? 'passed_on' : 'ok' });
            return result;
        }
        catch (error) {
            const problem = toProblem(error);
            timer({ outcome: problem.code });
            throw problem;
        }
    }
    async #post(body, signal) {
        const sentAt = Date.now();
        const { status, date, text } = await this.#http.send({
            method: 'POST',
            path: '/graphql',
            headers: {
                'content-type': 'application/json',
                'content-length': String(Buffer.byteLength(body)),
                accept: 'application/json',
                'x-api-key': this.options.apiKey.reveal(),
            },
            body,
            signal,
        });
        this.options.clock.learn(date, sentAt);
        const answer = parseAnswer(text);
        const error = answer?.errors?.[0];
        if (error)
            throw fromApiError(error);
        if (status === 401)
            throw fromApiError({ message: 'The API refused the key', extensions: { code: 'Unauthenticated' } });
        if (!answer?.data || status >= 500)
            throw unavailable(`The API answered HTTP ${status} without a GraphQL result`);
        return answer.data;
    }
}
const toReport = (report) => ({ ...withoutNulls(report), idempotencyKey: newId() });
/** The GraphQL inputs take an absent field for "not said"; null is not always the same to them. */
const withoutNulls = (input) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
/** The other side closed a kept connection while we wrote on it. */
const isBrokenConnection = (error) => ['ECONNRESET', 'EPIPE'].includes(error.code ?? '');
function toProblem(error) {
    if (error instanceof Problem)
        return error;
    const { name } = error;
    if (name === 'TimeoutError' || name === 'AbortError')
        return timedOut('The API did not answer in time', error);
    return unavailable('The API cannot be reached', error);
}
//# sourceMappingURL=api-client.js.map