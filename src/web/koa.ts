import { createServer, type Server } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import { invalidInput, Problem } from '../kernel/problem.js'
import type { Secret } from '../platform/config.js'
import { healthHandler } from '../platform/health.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import { openRedis } from '../platform/redis.js'
import { ChangeStream } from '../updates/change-stream.js'
import { readBody } from './body.js'
import { ChangeFeed } from './change-feed.js'
import { allowBrowsers } from './cors.js'
import { serveDocs } from './docs.js'
import { serveGraphiql } from './graphiql.js'
import type { Services } from './graphql/context.js'
import { GraphqlDoor } from './graphql/door.js'
import { createSchema } from './graphql/schema.js'
import { Push } from './push.js'
import { serveQueueBoard } from './queue-board.js'
import { SocketDoor } from './socket.js'

export interface FrontDoorOptions {
  app: Services
  life: Life
  queues: QueueConnection
  /** Serves the queue board to who has it; absent: no queue board. */
  operatorKey?: Secret
  hasGraphiql: boolean
}

/** The HTTP server of the web process: GraphQL over HTTP and WebSocket, docs, queue board, health and metrics. Not listening yet. */
export function createFrontDoor({ app, life, queues, operatorKey, hasGraphiql }: FrontDoorOptions): Server {
  const schema = createSchema()
  const { log, metrics } = life
  const feed = new ChangeFeed({ redis: openRedis(life, queues.redisUrl, 'subscriber'), prefix: queues.prefix, log })
  const stream = new ChangeStream({ redis: openRedis(life, queues.redisUrl, 'request'), prefix: queues.prefix })
  const push = new Push({ app, schema, feed, stream, log, metrics })
  const koa = new Koa()
  koa.on('error', (error: Error, ctx: Context) => log.error({ err: error, path: ctx?.path }, 'request failed'))
  koa.use(serveHealth(life))
  if (hasGraphiql) koa.use(serveGraphiql())
  koa.use(serveGraphql(new GraphqlDoor({ app, schema, log, metrics })))
  koa.use(serveDocs())
  if (operatorKey) koa.use(serveQueueBoard({ life, environments: app.environments, queues, operatorKey }))

  const server = createServer(koa.callback())
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

function serveGraphql(door: GraphqlDoor): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/graphql') return next()
    await allowBrowsers(ctx, () => answerGraphql(door, ctx))
  }
}

async function answerGraphql(door: GraphqlDoor, ctx: Context): Promise<void> {
  const { status, headers, body } = await readGraphql(ctx).then(
    (json) => door.answer({ method: ctx.method, url: ctx.url, headers: ctx.headers, body: json, signal: signalOf(ctx) }),
    (error: unknown) => door.refuse(Problem.from(error), isTooLarge(error) ? 413 : 400),
  )
  ctx.status = status
  ctx.set(headers)
  // A body that was refused is not read to its end: the connection cannot be used again.
  if (!ctx.req.complete) ctx.set('connection', 'close')
  ctx.body = body
}

/** Undefined: the request carries no JSON, which is for graphql-http to judge. */
async function readGraphql(ctx: Context): Promise<unknown> {
  if (ctx.method !== 'POST' || !ctx.is('json')) return undefined
  const text = await readBody(ctx.req)
  try {
    return JSON.parse(text)
  } catch {
    throw invalidInput('The body is not JSON')
  }
}

const isTooLarge = (error: unknown) => error instanceof Problem && error.details.limit !== undefined

/** Aborts when the client hangs up before its answer was sent. */
function signalOf({ res }: Context): AbortSignal {
  const controller = new AbortController()
  res.once('close', () => {
    if (!res.writableFinished) controller.abort()
  })
  return controller.signal
}

/** Takes no new connections, answers what is under way, and closes each connection as soon as it is idle. */
async function finishRequests(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = new Promise((resolve) => server.close(resolve))
  const closeIdle = setInterval(() => server.closeIdleConnections(), 50)
  server.closeIdleConnections()
  await closed
  clearInterval(closeIdle)
}
