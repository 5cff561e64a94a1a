import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import type { EntitlementService } from '../../entitlement/service.js'
import { systemClock } from '../../kernel/clock.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import type { Secret } from '../../platform/config.js'
import { healthHandler } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'
import type { QueueConnection } from '../../platform/queue.js'
import { openRedis } from '../../platform/redis.js'
import { HeldStates } from '../../updates/held/held-states.js'
import { SharedStates } from '../../updates/held/shared-states.js'
import { StateCache } from '../../updates/held/state-cache.js'
import { ChangeStream } from '../../updates/stream/change-stream.js'
import { allowBrowsers, openToBrowsers } from '../access/cors.js'
import { type RateLimitOptions, RateLimits } from '../access/rate-limits.js'
import { serveEdge } from '../edge/edge.js'
import { GraphqlDoor } from '../graphql/door/door.js'
import type { GraphqlRequest } from '../graphql/door/request.js'
import type { Services } from '../graphql/operations/context.js'
import { createSchema } from '../graphql/schema.js'
import { ChangeFeed } from '../live/change-feed.js'
import { Push } from '../live/push.js'
import { SocketDoor } from '../live/socket.js'
import { serveDocs } from '../pages/docs.js'
import { serveGraphiql } from '../pages/graphiql.js'
import { serveQueueBoard } from '../pages/queue-board.js'
import { referencePage } from '../pages/reference.js'
import { readBody } from './body.js'

export interface FrontDoorOptions {
  /** Entitlements are read through the memory of this process. */
  app: Services & { entitlements: EntitlementService }
  life: Life
  queues: QueueConnection
  /** Serves the queue board to who has it; absent: no queue board. */
  operatorKey?: Secret
  /** Queues of ingestion that the board shows; default 1. */
  ingestionShards?: number
  hasGraphiql: boolean
  limits?: Partial<FrontDoorLimits>
}

export interface FrontDoorLimits extends RateLimitOptions {
  /** Of one operation. */
  operationTimeoutMs: number
  /** Of entitlement states in memory, estimated. */
  heldStatesMaxBytes: number
}

/** A server key's host application may load a whole process; a browser asks a few times per page. */
export const defaultLimits: FrontDoorLimits = {
  perKey: 20_000,
  perCustomer: 100,
  operationTimeoutMs: 10_000,
  heldStatesMaxBytes: 128 * 1024 * 1024,
}

/** The HTTP server of the web process: GraphQL over HTTP and WebSocket, docs, queue board, health and metrics. Not listening yet. */
export function createFrontDoor({
  app: services,
  life,
  queues,
  operatorKey,
  ingestionShards = 1,
  hasGraphiql,
  limits,
}: FrontDoorOptions): Server {
  const schema = createSchema()
  const { operationTimeoutMs, heldStatesMaxBytes, ...rates } = { ...defaultLimits, ...limits }
  const { log, metrics } = life
  const feed = new ChangeFeed({ redis: openRedis(life, queues.redisUrl, 'subscriber'), prefix: queues.prefix, log })
  const stream = new ChangeStream({ redis: openRedis(life, queues.redisUrl, 'request'), prefix: queues.prefix })
  const cache = new StateCache(openRedis(life, queues.redisUrl, 'request'), queues.prefix)
  const shared = new SharedStates({ cache, source: services.entitlements, log })
  const entitlements = new HeldStates({
    life,
    queues,
    source: services.entitlements,
    shared,
    clock: systemClock,
    maxBytes: heldStatesMaxBytes,
  })
  const app = { ...services, entitlements }
  const announce = entitlements.announce.bind(entitlements)
  app.usage.announceThrough(entitlements.expectAnnouncement.bind(entitlements))
  const heldState = entitlements.held.bind(entitlements)
  const rateLimits = new RateLimits(rates)
  const push = new Push({ app, schema, feed, stream, log, metrics })
  const koa = new Koa()
  koa.on('error', (error: Error, ctx: Context) => log.error({ err: error, path: ctx?.path }, 'request failed'))
  const timeoutMs = operationTimeoutMs
  koa.use(serveEdge({ app, schema, rateLimits, timeoutMs, log }))
  if (hasGraphiql) koa.use(serveGraphiql())
  const graphql = new GraphqlDoor({ app, schema, rateLimits, operatorKey, timeoutMs, heldState, announce, log, metrics })
  koa.use(serveGraphql(graphql))
  koa.use(serveHealth(life))
  koa.use(serveDocs([referencePage(schema)]))
  if (operatorKey) koa.use(serveQueueBoard({ life, environments: app.environments, queues, ingestionShards, operatorKey }))

  const answerOthers = koa.callback()
  const server = createServer((request, response) => {
    // The hottest path of the process goes without Koa, whose conveniences it does not use.
    if (request.method !== 'POST' || !isGraphql(request)) return void answerOthers(request, response)
    answerGraphql(graphql, request, response).catch((error: unknown) => {
      log.error({ err: error, path: request.url }, 'request failed')
      response.destroy()
    })
  })
  new SocketDoor({ app, schema, push, feed, life }).attach(server)
  life.onStop('http server', () => finishRequests(server))
  return server
}

function serveHealth(life: Life): Middleware {
  const answer = healthHandler({ ready: () => life.readiness(), metrics: life.metrics })
  return async (ctx, next) => {
    if (await answer(ctx.req, ctx.res)) ctx.respond = false
    else await next()
  }
}

const isGraphql = ({ url = '' }: IncomingMessage) => url === '/graphql' || url.startsWith('/graphql?')

function serveGraphql(door: GraphqlDoor): Middleware {
  return (ctx, next) => {
    if (!isGraphql(ctx.req)) return next()
    if (ctx.method === 'OPTIONS') return allowBrowsers(ctx, async () => undefined)
    ctx.respond = false
    return answerGraphql(door, ctx.req, ctx.res)
  }
}

async function answerGraphql(door: GraphqlDoor, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, headers, body } = await readGraphql(request).then(
    ({ json, text }) => door.answer(toGraphqlRequest(request, response, json, text)),
    (error: unknown) => door.refuse(Problem.from(error), isTooLarge(error) ? 413 : 400),
  )
  // A body that was refused is not read to its end: the connection cannot be used again.
  const ending = request.complete ? {} : { connection: 'close' }
  const text = body ?? ''
  response.writeHead(status, { ...openToBrowsers, ...headers, ...ending, 'content-length': Buffer.byteLength(text) }).end(text)
}

function toGraphqlRequest(request: IncomingMessage, response: ServerResponse, body: unknown, bodyText: string): GraphqlRequest {
  const { method = 'GET', url = '', headers } = request
  let listeners: (() => void)[] | undefined
  const onHangUp = (listener: () => void) => {
    if (listeners) return void listeners.push(listener)
    listeners = [listener]
    response.once('close', () => {
      if (!response.writableFinished) for (const heard of listeners!) heard()
    })
  }
  return { method, url, headers, body, bodyText, onHangUp }
}

/** Undefined: the request carries no JSON, which is for graphql-http to judge. */
async function readGraphql(request: IncomingMessage): Promise<{ json: unknown; text: string }> {
  if (request.method !== 'POST' || !/^application\/(?:[\w.+-]+\+)?json\b/i.test(request.headers['content-type'] ?? '')) return noBody
  const text = await readBody(request)
  try {
    return { json: JSON.parse(text), text }
  } catch {
    throw invalidInput('The body is not JSON')
  }
}

const noBody = { json: undefined, text: '' }

const isTooLarge = (error: unknown) => error instanceof Problem && error.details.limit !== undefined

/** Takes no new connections, answers what is under way, and closes each connection as soon as it is idle. */
async function finishRequests(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = new Promise((resolve) => server.close(resolve))
  const closeIdle = setInterval(() => server.closeIdleConnections(), 50)
  server.closeIdleConnections()
  await closed
  clearInterval(closeIdle)
}
