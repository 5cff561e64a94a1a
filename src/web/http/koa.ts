import { createServer, type Server, type ServerResponse } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import { Problem, unavailable } from '../../kernel/problem.js'
import { tracedRequest } from '../../platform/context/traced-request.js'
import { headLimits, healthHandler } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'
import { UnreadAnswers } from '../access/unread-answers.js'
import { type Edge, serveEdgeOptions } from '../edge/edge.js'
import type { SocketDoor } from '../live/socket.js'
import { boundConnections, type ConnectionLimits } from './connections.js'
import { answerGraphql, type GraphqlParts, isGraphql, serveGraphql } from './graphql.js'

/** Load balancers keep connections for a minute, and must not find one closed that they are about to use. */
const keepAliveTimeout = 65_000

/** What the HTTP server answers with, in this order. */
export interface FrontDoorParts {
  life: Life
  edge: Edge
  /** The GraphiQL editor; null: there is none. */
  editor: Middleware | null
  graphql: GraphqlParts
  connections: ConnectionLimits
  /** The page at `/`. */
  home: Middleware
  docs: Middleware
  /** Null: there is none. */
  queueBoard: Middleware | null
  socket: SocketDoor
}

/** The HTTP server of the web process: GraphQL over HTTP and WebSocket, edge API, docs, queue board, health. Not listening yet. */
export function createHttpServer({ life, edge, editor, graphql, connections, home, docs, queueBoard, socket }: FrontDoorParts): Server {
  const { log } = life
  const koa = new Koa()
  koa.on('error', (error: Error, ctx?: Context) => {
    const path = ctx?.path
    // What a client sends, or that it has gone, is nothing that went wrong here.
    if (isOfClient(error)) log.info({ path, reason: error.message }, 'request refused')
    else log.error({ err: error, path }, 'request failed')
  })
  for (const middleware of [
    refusePathless,
    serveHealth(life),
    limitPages(graphql, new UnreadAnswers(life.metrics, 'unread pages')),
    serveEdgeOptions(),
    editor,
    serveGraphql(graphql),
    home,
    docs,
    queueBoard,
  ])
    if (middleware) koa.use(middleware)

  const giveUp = (response: ServerResponse, path: string, error: unknown) => {
    log.error({ err: error, path }, 'request failed')
    response.destroy()
  }
  const answerOthers = koa.callback()
  const server = createServer({ ...headLimits, keepAliveTimeout }, (request, response) => {
    // The hottest paths of the process go without Koa.
    if (edge.isFor(request)) return void edge.answer(request, response).catch((error: unknown) => giveUp(response, '/v1', error))
    if (request.method !== 'POST' || !isGraphql(request)) return void answerOthers(request, response)
    tracedRequest('/graphql', request, response, () => answerGraphql(graphql, request, response)).catch((error: unknown) =>
      giveUp(response, '/graphql', error),
    )
  })
  boundConnections(server, { limits: connections, trusted: graphql.trusted, metrics: life.metrics })
  socket.attach(server)
  life.onStop('http server', () => finishRequests(server))
  return server
}

function isOfClient({ status, code = '' }: Error & { status?: number; code?: string }): boolean {
  return (status !== undefined && status < 500) || /^(?:ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/.test(code)
}

/** `*`, or an address without a path: Koa has none for it, and whoever looks at the path would fail. */
const refusePathless: Middleware = (ctx, next) => {
  if (typeof ctx.path === 'string') return next()
  ctx.status = 400
  ctx.body = 'A request names a path.'
}

/**
 * Pages need no key, and the board's is looked at before its forms: whoever tries keys or reads on has the rate of an address. So have the bytes that it is given,
 * of which it leaves only so many unread. What answers without Koa has limits of its own.
 */
function limitPages({ rateLimits, trusted }: GraphqlParts, unread: UnreadAnswers): Middleware {
  return async (ctx, next) => {
    // What a browser asks before it asks: refused, its page would not hear why.
    const isOfGraphql = isGraphql(ctx.req)
    if (ctx.method === 'OPTIONS' && (isOfGraphql || ctx.path.startsWith('/v1/'))) return next()
    const address = trusted.callerOf(ctx.req)
    if (!isOfGraphql && isRefused(ctx, () => rateLimits.takePage(address))) return
    await next()
    if (ctx.respond === false) return
    const bytes = ctx.method === 'HEAD' ? 0 : (ctx.length ?? 0)
    const giving = () => {
      if (isOfGraphql) rateLimits.takePage(address)
      if (!unread.hasRoom(bytes, address)) throw unavailable('Pages wait for their readers: read them, and try again.')
      if (bytes > 0) rateLimits.takeBytesFrom(address, bytes)
    }
    // Koa writes in this round what is not refused.
    if (!isRefused(ctx, giving)) setImmediate(() => unread.follow(ctx.res, address))
  }
}

function isRefused(ctx: Context, take: () => void): boolean {
  try {
    take()
    return false
  } catch (error) {
    const { code, message, details } = Problem.from(error)
    for (const header of ['cache-control', 'etag']) ctx.remove(header)
    ctx.status = code === 'RESOURCE_EXHAUSTED' ? 429 : 503
    ctx.set('retry-after', String(Math.ceil(Number(details.retryAfterMs ?? 1_000) / 1_000)))
    ctx.type = 'text'
    ctx.body = message
    return true
  }
}

function serveHealth(life: Life): Middleware {
  const answer = healthHandler({ ready: () => life.recentReadiness(), metrics: null })
  return async (ctx, next) => {
    if (await answer(ctx.req, ctx.res)) ctx.respond = false
    else await next()
  }
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
