import { createServer } from 'node:http';
import Koa, {} from 'koa';
import { systemClock } from '../kernel/clock.js';
import { invalidInput, Problem } from '../kernel/problem.js';
import { healthHandler } from '../platform/health.js';
import { openRedis } from '../platform/redis.js';
import { HeldStates } from '../updates/held/held-states.js';
import { SharedStates } from '../updates/held/shared-states.js';
import { StateCache } from '../updates/held/state-cache.js';
import { ChangeStream } from '../updates/stream/change-stream.js';
import { readBody } from './body.js';
import { ChangeFeed } from './change-feed.js';
import { allowBrowsers, openToBrowsers } from './cors.js';
import { serveDocs } from './docs.js';
import { serveEdge } from './edge.js';
import { serveGraphiql } from './graphiql.js';
import { GraphqlDoor } from './graphql/door.js';
import { createSchema } from './graphql/schema.js';
import { Push } from './push.js';
import { serveQueueBoard } from './queue-board.js';
import { RateLimits } from './rate-limits.js';
import { referencePage } from './reference.js';
import { SocketDoor } from './socket.js';
/** A server key's host application may load a whole process; a browser asks a few times per page. */
export const defaultLimits = {
    perKey: 20_000,
    perCustomer: 100,
    operationTimeoutMs: 10_000,
    heldStatesMaxBytes: 128 * 1024 * 1024,
};
/** The HTTP server of the web process: GraphQL over HTTP and WebSocket, docs, queue board, health and metrics. Not listening yet. */
export function createFrontDoor({ app: services, life, queues, operatorKey, ingestionShards = 1, hasGraphiql, limits, }) {
    const schema = createSchema();
    const { operationTimeoutMs, heldStatesMaxBytes, ...rates } = { ...defaultLimits, ...limits };
    const { log, metrics } = life;
    const feed = new ChangeFeed({ redis: openRedis(life, queues.redisUrl, 'subscriber'), prefix: queues.prefix, log });
    const stream = new ChangeStream({ redis: openRedis(life, queues.redisUrl, 'request'), prefix: queues.prefix });
    const cache = new StateCache(openRedis(life, queues.redisUrl, 'request'), queues.prefix);
    const shared = new SharedStates({ cache, source: services.entitlements, log });
    const entitlements = new HeldStates({
        life,
        queues,
        source: services.entitlements,
        shared,
        clock: systemClock,
        maxBytes: heldStatesMaxBytes,
    });
    const app = { ...services, entitlements };
    const announce = entitlements.announce.bind(entitlements);
    app.usage.announceThrough(entitlements.expectAnnouncement.bind(entitlements));
    const heldState = entitlements.held.bind(entitlements);
    const rateLimits = new RateLimits(rates);
    const push = new Push({ app, schema, feed, stream, log, metrics });
    const koa = new Koa();
    koa.on('error', (error, ctx) => log.error({ err: error, path: ctx?.path }, 'request failed'));
    const timeoutMs = operationTimeoutMs;
    koa.use(serveEdge({ app, schema, rateLimits, timeoutMs, log }));
    if (hasGraphiql)
        koa.use(serveGraphiql());
    const graphql = new GraphqlDoor({ app, schema, rateLimits, operatorKey, timeoutMs, heldState, announce, log, metrics });
    koa.use(serveGraphql(graphql));
    koa.use(serveHealth(life));
    koa.use(serveDocs([referencePage(schema)]));
    if (operatorKey)
        koa.use(serveQueueBoard({ life, environments: app.environments, queues, ingestionShards, operatorKey }));
    const answerOthers = koa.callback();
    const server = createServer((request, response) => {
        // The hottest path of the process goes without Koa, whose conveniences it does not use.
        if (request.method !== 'POST' || !isGraphql(request))
            return void answerOthers(request, response);
        answerGraphql(graphql, request, response).catch((error) => {
            log.error({ err: error, path: request.url }, 'request failed');
            response.destroy();
        });
    });
    new SocketDoor({ app, schema, push, feed, life }).attach(server);
    life.onStop('http server', () => finishRequests(server));
    return server;
}
function serveHealth(life) {
    const answer = healthHandler({ ready: () => life.readiness(), metrics: life.metrics });
    return async (ctx, next) => {
        if (await answer(ctx.req, ctx.res))
            ctx.respond = false;
        else
            await next();
    };
}
const isGraphql = ({ url = '' }) => url === '/graphql' || url.startsWith('/graphql?');
function serveGraphql(door) {
    return (ctx, next) => {
        if (!isGraphql(ctx.req))
            return next();
        if (ctx.method === 'OPTIONS')
            return allowBrowsers(ctx, async () => undefined);
        ctx.respond = false;
        return answerGraphql(door, ctx.req, ctx.res);
    };
}
async function answerGraphql(door, request, response) {
    const { status, headers, body } = await readGraphql(request).then(({ json, text }) => door.answer(toGraphqlRequest(request, response, json, text)), (error) => door.refuse(Problem.from(error), isTooLarge(error) ? 413 : 400));
    // A body that was refused is not read to its end: the connection cannot be used again.
    const ending = request.complete ? {} : { connection: 'close' };
    const text = body ?? '';
    response.writeHead(status, { ...openToBrowsers, ...headers, ...ending, 'content-length': Buffer.byteLength(text) }).end(text);
}
function toGraphqlRequest(request, response, body, bodyText) {
    const { method = 'GET', url = '', headers } = request;
    let listeners;
    const onHangUp = (listener) => {
        if (listeners)
            return void listeners.push(listener);
        listeners = [listener];
        response.once('close', () => {
            if (!response.writableFinished)
                for (const heard of listeners)
                    heard();
        });
    };
    return { method, url, headers, body, bodyText, onHangUp };
}
/** Undefined: the request carries no JSON, which is for graphql-http to judge. */
async function readGraphql(request) {
    if (request.method !== 'POST' || !/^application\/(?:[\w.+-]+\+)?json\b/i.test(request.headers['content-type'] ?? ''))
        return noBody;
    const text = await readBody(request);
    try {
        return { json: JSON.parse(text), text };
    }
    catch {
        throw invalidInput('The body is not JSON');
    }
}
const noBody = { json: undefined, text: '' };
const isTooLarge = (error) => error instanceof Problem && error.details.limit !== undefined;
/** Takes no new connections, answers what is under way, and closes each connection as soon as it is idle. */
async function finishRequests(server) {
    if (!server.listening)
        return;
    const closed = new Promise((resolve) => server.close(resolve));
    const closeIdle = setInterval(() => server.closeIdleConnections(), 50);
    server.closeIdleConnections();
    await closed;
    clearInterval(closeIdle);
}
//# sourceMappingURL=koa.js.map