import { Pool } from 'undici';
import { Problem, unavailable } from '../../kernel/problem.js';
import { entitlementFields, toWritableState } from './state-json.js';
const query = `query EntitlementsState($query: FetchEntitlementsQuery!) {
  entitlementsState(query: $query) { accessDeniedReason entitlements { ${entitlementFields} } }
}`;
/** Longest wait for a connection, for an answer to begin, and between two parts of it. */
const timeoutMs = 10_000;
/** Messages that miss their state are few; one slow answer must not hold up the others. */
const mostConnections = 4;
/** Reads states from the platform's GraphQL API. */
export class StateApi {
    #pool;
    #path;
    #apiKey;
    /** `url`: without `/graphql`. */
    constructor({ url, apiKey }) {
        const { origin, pathname } = new URL(url);
        this.#path = `${pathname.replace(/\/$/, '')}/graphql`;
        this.#apiKey = apiKey;
        this.#pool = new Pool(origin, {
            connections: mostConnections,
            connect: { timeout: timeoutMs },
            headersTimeout: timeoutMs,
            bodyTimeout: timeoutMs,
        });
    }
    /**
     * The state of a customer or resource, an unknown one included, as of a version not below `version`. Fails with UNAVAILABLE when the API is away or refuses
     * the key (someone will mend it), and with INVALID_ARGUMENT when it does not take the identifiers.
     */
    async fetch(id, version, signal) {
        const { statusCode, text } = await this.#post(JSON.stringify({ query, variables: { query: id } }), signal);
        const { data, errors } = parseAnswer(text);
        if (data)
            return toWritableState(id, version, data.entitlementsState);
        const [error] = errors ?? [];
        if (error?.extensions?.code === 'BadUserInput')
            throw new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', error.message);
        throw unavailable(`The API did not answer with a state: ${error?.message ?? `HTTP ${statusCode}`}`);
    }
    close() {
        return this.#pool.destroy();
    }
    async #post(body, signal) {
        try {
            const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': this.#apiKey.reveal() };
            const response = await this.#pool.request({ method: 'POST', path: this.#path, headers, body, signal });
            return { statusCode: response.statusCode, text: await response.body.text() };
        }
        catch (error) {
            throw unavailable('The API cannot be reached', error);
        }
    }
}
/** Empty when it is not a GraphQL answer, such as a proxy's error page. */
function parseAnswer(text) {
    try {
        return JSON.parse(text) ?? {};
    }
    catch {
        return {};
    }
}
//# sourceMappingURL=state-api.js.map