import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
/** A metered entitlement as the API answers it, with whatever the test cares about changed. */
export function metered(featureId, changes = {}) {
    return {
        isGranted: true,
        accessDeniedReason: null,
        usageLimit: 10,
        hasUnlimitedUsage: false,
        hasSoftLimit: false,
        enumValues: null,
        currentUsage: 0,
        resetPeriod: 'MONTH',
        resetPeriodConfiguration: { monthlyAccordingTo: 'SubscriptionStart' },
        usagePeriodAnchor: '2026-01-01T00:00:00.000Z',
        usagePeriodStart: '2026-01-01T00:00:00.000Z',
        usagePeriodEnd: '2126-01-01T00:00:00.000Z',
        validUntil: null,
        entitlementUpdatedAt: at(1),
        usageUpdatedAt: at(1),
        feature: { refId: featureId, featureType: 'NUMBER', meterType: 'Incremental', featureUnits: 'call', featureUnitsPlural: 'calls' },
        ...changes,
    };
}
const unmetered = {
    currentUsage: null,
    resetPeriod: null,
    resetPeriodConfiguration: null,
    usagePeriodAnchor: null,
    usagePeriodStart: null,
    usagePeriodEnd: null,
    usageUpdatedAt: null,
};
const featureOf = (refId, featureType) => ({
    refId,
    featureType,
    meterType: 'None',
    featureUnits: null,
    featureUnitsPlural: null,
});
export const boolean = (featureId, changes = {}) => metered(featureId, { ...unmetered, usageLimit: null, feature: featureOf(featureId, 'BOOLEAN'), ...changes });
export const numeric = (featureId, value, changes = {}) => metered(featureId, { ...unmetered, usageLimit: value, feature: featureOf(featureId, 'NUMBER'), ...changes });
export const enumerated = (featureId, enumValues) => metered(featureId, { ...unmetered, usageLimit: null, enumValues, feature: featureOf(featureId, 'ENUM') });
/** Version n as the API writes it. */
export const at = (version) => new Date(Date.UTC(2026, 0, 1) + version).toISOString();
export const holding = (...entitlements) => ({ accessDeniedReason: null, entitlements });
export const deniedFor = (accessDeniedReason) => ({ accessDeniedReason, entitlements: [] });
/**
 * Speaks the platform's door as a sidecar sees it: GraphQL over HTTP, and graphql-transport-ws. A real server on a real port, so
 * that what is tested is what goes over the wire.
 */
export class FakeApi {
    behaviour = 'ok';
    /** Answers wait for this before they are sent. */
    gate = Promise.resolve();
    acceptedKey = 'server-test-key';
    /** How far its clock is ahead of ours. */
    aheadMs = 0;
    /** `customer` or `customer/resource` to what it holds; others are unknown. */
    states = new Map();
    operations = [];
    port = 0;
    /** TCP connections ever accepted. */
    connections = 0;
    /** False: closes real-time connections at once. */
    acceptsSockets = true;
    /** False: leaves pings of the protocol unanswered, as a half-open connection does. */
    answersPings = true;
    /** How the edge API behaves; its reads are in `edgeReads` and not among the operations. */
    edgeBehaviour = 'ok';
    /** Raw paths. */
    edgeReads = [];
    /** The stream of changes. Emptied, what readers know is not in it any more. */
    changes = [];
    #lastChange = 0;
    #server;
    /** The live subscription of each socket that has one. */
    #sockets = new Map();
    constructor() {
        this.#server = createServer((request, response) => void this.#answer(request, response));
        this.#server.on('connection', () => {
            this.connections++;
        });
        const webSockets = new WebSocketServer({ server: this.#server, path: '/graphql', handleProtocols: () => 'graphql-transport-ws' });
        webSockets.on('connection', (socket) => this.#converse(socket));
    }
    static async start(port = 0) {
        const api = new FakeApi();
        await new Promise((resolve) => api.#server.listen(port, '127.0.0.1', resolve));
        api.port = api.#server.address().port;
        return api;
    }
    get url() {
        return `http://127.0.0.1:${this.port}`;
    }
    /** Operations of one name that arrived so far. */
    count(name) {
        return this.operations.filter((operation) => operation.name === name).length;
    }
    /** Real-time connections that listen. */
    get listeners() {
        return [...this.#sockets.values()].filter((id) => id !== null).length;
    }
    /** Adds a change to the stream and tells it to whoever listens. */
    push(change) {
        const told = { ...change, id: this.#nextId() };
        this.changes.push(told);
        for (const [socket, id] of this.#sockets)
            if (id !== null)
                tell(socket, id, told);
    }
    /** Pushes what the customer (or resource) holds now. */
    pushState(key) {
        const [customerId = '', resourceId = null] = key.split('/');
        this.push({ kind: 'STATE', customerId, resourceId, ...(this.states.get(key) ?? deniedFor('CustomerNotFound')) });
    }
    pushUsage(key, featureId, currentUsage, version) {
        const [customerId = '', resourceId = null] = key.split('/');
        const period = { usagePeriodStart: Date.UTC(2026, 0, 1), usagePeriodEnd: Date.UTC(2126, 0, 1) };
        this.push({ kind: 'USAGE', customerId, resourceId, usage: { featureId, currentUsage, ...period, updatedAt: Date.parse(at(version)) } });
    }
    dropConnections() {
        for (const socket of this.#sockets.keys())
            socket.terminate();
    }
    #nextId() {
        return `${++this.#lastChange}-0`;
    }
    async stop() {
        this.dropConnections();
        this.#server.closeAllConnections();
        await new Promise((resolve) => this.#server.close(resolve));
    }
    async #answer(request, response) {
        if (request.method === 'GET')
            return this.#answerEdge(request, response);
        let text = '';
        for await (const chunk of request)
            text += chunk;
        const { query, variables } = JSON.parse(text);
        const name = ['entitlementsState', 'reportUsage', 'reportUsageBulk', 'reportEvent'].find((field) => query.includes(`${field}(`));
        if (!name)
            throw new Error(`the test API does not know ${query}`);
        this.operations.push({ name, variables });
        await this.#respond(request, response, this.behaviour, name, () => this.#execute({ name, variables }));
    }
    async #answerEdge(request, response) {
        this.edgeReads.push(request.url ?? '');
        const [, customerId = ''] = /^\/v1\/c\/([^/]+)\/entitlements-state\.json/.exec(request.url ?? '') ?? [];
        const resourceId = new URL(request.url ?? '', this.url).searchParams.get('resourceId');
        const query = { customerId: decodeURIComponent(customerId), resourceId };
        await this.#respond(request, response, this.edgeBehaviour, 'entitlementsState', () => this.#execute({ name: 'entitlementsState', variables: { query } }));
    }
    async #respond(request, response, behaviour, name, execute) {
        // What is answered is decided when the request arrives, as a database snapshot is.
        const data = behaviour === 'ok' ? structuredClone(execute()) : null;
        await this.gate;
        if (behaviour === 'hangs')
            return;
        response.setHeader('date', new Date(Date.now() + this.aheadMs).toUTCString());
        if (behaviour === 'breaks')
            return void request.socket.destroy();
        if (behaviour !== 'ok' && 'status' in behaviour)
            return void response.writeHead(behaviour.status).end('<h1>no GraphQL here</h1>');
        const errorCode = behaviour !== 'ok' ? behaviour.code : request.headers['x-api-key'] !== this.acceptedKey ? 'Unauthenticated' : null;
        const extensions = behaviour === 'ok' ? { code: errorCode } : { code: errorCode, ...(behaviour.items ? { items: behaviour.items } : {}) };
        const message = behaviour !== 'ok' ? (behaviour.message ?? 'refused') : 'The key is not known';
        const body = errorCode ? { data: null, errors: [{ message, extensions }] } : { data: { [name]: data } };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
    #execute({ name, variables: { query, input } }) {
        if (name === 'entitlementsState' && query) {
            return (this.states.get(query.resourceId === null || query.resourceId === undefined ? query.customerId : `${query.customerId}/${query.resourceId}`) ?? deniedFor('CustomerNotFound'));
        }
        if (name === 'reportUsage' && input)
            return measured(input, 0);
        if (name === 'reportUsageBulk')
            return input?.usages?.map(measured);
        return null;
    }
    #converse(socket) {
        if (!this.acceptsSockets)
            return void socket.close(1013, 'Try again later');
        this.#sockets.set(socket, null);
        socket.on('close', () => this.#sockets.delete(socket));
        socket.on('error', () => { });
        socket.on('message', (data) => {
            const message = JSON.parse(String(data));
            if (message.type === 'ping' && this.answersPings)
                socket.send('{"type":"pong"}');
            if (message.type === 'connection_init') {
                if (message.payload?.headers?.['X-API-KEY'] === this.acceptedKey)
                    socket.send('{"type":"connection_ack"}');
                else
                    socket.close(4403, 'Invalid API key');
            }
            if (message.type !== 'subscribe' || !message.id)
                return;
            if (message.payload?.query?.includes('stateChanges(after: $after)'))
                this.#catchUp(socket, message.id, message.payload.variables?.after ?? '');
            else
                this.#sockets.set(socket, message.id);
        });
    }
    /** What was missed, without what it changed to; a position that is not in the stream is a gap. */
    #catchUp(socket, id, after) {
        const position = this.changes.findIndex((change) => change.id === after);
        const nobody = { customerId: null, resourceId: null };
        if (this.changes.length === 0)
            this.changes.push({ id: this.#nextId(), kind: 'PACKAGE', customerId: '', resourceId: null });
        const last = this.changes.at(-1).id;
        const missed = position === -1 ? [] : this.changes.slice(position + 1);
        for (const change of missed)
            tell(socket, id, { ...change, entitlements: null, usage: null });
        tell(socket, id, { ...nobody, id: last, kind: position === -1 ? 'GAP' : 'CAUGHT_UP' });
    }
}
function tell(socket, id, change) {
    const whole = { accessDeniedReason: null, entitlements: null, usage: null, ...change };
    socket.send(JSON.stringify({ id, type: 'next', payload: { data: { stateChanges: whole } } }));
}
function measured({ customerId, resourceId, featureId, value }, index) {
    const usage = { currentUsage: value, timestamp: at(100), usagePeriodStart: at(0), usagePeriodEnd: '2126-01-01T00:00:00.000Z' };
    return { id: `measurement-${index + 1}`, customerId, resourceId: resourceId ?? null, featureId, ...usage };
}
//# sourceMappingURL=fake-api.js.map