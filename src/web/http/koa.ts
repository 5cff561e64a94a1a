import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import { Problem, unavailable } from '../../kernel/problem.js'
import { tracedRequest } from '../../platform/context/traced-request.js'
import { headLimits, healthHandler } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'
import { ofPages, turns } from '../access/fair-turns.js'
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
    limitBytes(graphql, new UnreadAnswers(life.metrics, 'unread pages')),
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
  const answerHealth = healthHandler({ ready: () => life.recentReadiness(), metrics: null })
  const answerWithKoa = koa.callback()
  const answerOthers = async (request: IncomingMessage, response: ServerResponse) => {
    if (await answerHealth(request, response)) return
    // Turns of what is for GraphQL are those of who asks; and whoever calls with a key does not wait behind pages for the leave to.
    if (!isGraphql(request) && !isPreflight(request)) {
      // Refused at once: what waits has sent nothing, so that one connection could have any number of requests waiting.
      if (refusePage(graphql, request, response)) return
      if (!turns.takeNow(ofPages)) await turns.take(ofPages)
      if (response.destroyed) return
    }
    await answerWithKoa(request, response)
  }
  const server = createServer({ ...headLimits, keepAliveTimeout }, (request, response) => {
    // The hottest paths of the process go without Koa.
    if (edge.isFor(request)) return void edge.answer(request, response).catch((error: unknown) => giveUp(response, '/v1', error))
    if (request.method !== 'POST' || !isGraphql(request))
      return void answerOthers(request, response).catch((error: unknown) => giveUp(response, request.url!.split('?')[0]!, error))
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

/** What a browser asks before it asks: refused, its page would not hear why. */
const isPreflight = (request: IncomingMessage) => request.method === 'OPTIONS' && (isGraphql(request) || request.url!.startsWith('/v1/'))

/**
 * Pages need no key, and the board's is looked at before its forms: whoever tries keys or reads on has the rate of an address. It is refused before anything is
 * made of its request. What is for GraphQL is counted when it turns out to be a page.
 */
function refusePage({ rateLimits, trusted }: GraphqlParts, request: IncomingMessage, response: ServerResponse): boolean {
  const refusal = refusalOf(() => rateLimits.takePage(trusted.callerOf(request)))
  if (!refusal) return false
  response
    .writeHead(refusal.status, { 'retry-after': refusal.retryAfter, 'content-type': 'text/plain; charset=utf-8' })
    .end(refusal.message)
  return true
}

/** The bytes of pages have a rate too, and an address leaves only so many unread. What answers without Koa has limits of its own. */
function limitBytes({ rateLimits, trusted }: GraphqlParts, unread: UnreadAnswers): Middleware {
  return async (ctx, next) => {
    if (isPreflight(ctx.req)) return next()
    const address = trusted.callerOf(ctx.req)
    await next()
    if (ctx.respond === false) return
    const bytes = ctx.method === 'HEAD' ? 0 : (ctx.length ?? 0)
    const giving = () => {
      if (isGraphql(ctx.req)) rateLimits.takePage(address)
      if (!unread.hasRoom(bytes, address)) throw unavailable('Pages wait for their readers: read them, and try again.')
      if (bytes > 0) rateLimits.takeBytesFrom(address, bytes)
    }
    const refusal = refusalOf(giving)
    // Koa writes in this round what is not refused.
    if (!refusal) return void setImmediate(() => unread.follow(ctx.res, address))
    for (const header of ['cache-control', 'etag']) ctx.remove(header)
    ctx.status = refusal.status
    ctx.set('retry-after', refusal.retryAfter)
    ctx.type = 'text'
    ctx.body = refusal.message
  }
}

/** Null: it was taken. */
function refusalOf(take: () => void): { status: number; retryAfter: string; message: string } | null {
  try {
    take()
    return null
  } catch (error) {
    const { code, message, details } = Problem.from(error)
    const retryAfter = String(Math.ceil(Number(details.retryAfterMs ?? 1_000) / 1_000))
    return { status: code === 'RESOURCE_EXHAUSTED' ? 429 : 503, retryAfter, message }
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
