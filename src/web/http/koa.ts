import { createServer, type Server } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import { healthHandler } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'
import type { SocketDoor } from '../live/socket.js'
import { boundConnections, type ConnectionLimits } from './connections.js'
import { answerGraphql, type GraphqlParts, isGraphql, serveGraphql } from './graphql.js'

/** What the HTTP server answers with, in this order. */
export interface FrontDoorParts {
  life: Life
  edge: Middleware
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

/** The HTTP server of the web process: GraphQL over HTTP and WebSocket, edge API, docs, queue board, health and metrics. Not listening yet. */
export function createHttpServer({ life, edge, editor, graphql, connections, home, docs, queueBoard, socket }: FrontDoorParts): Server {
  const { log } = life
  const koa = new Koa()
  koa.on('error', (error: Error, ctx: Context) => log.error({ err: error, path: ctx?.path }, 'request failed'))
  for (const middleware of [edge, editor, serveGraphql(graphql), serveHealth(life), home, docs, queueBoard])
    if (middleware) koa.use(middleware)

  const answerOthers = koa.callback()
  const server = createServer((request, response) => {
    // The hottest path of the process goes without Koa, whose conveniences it does not use.
    if (request.method !== 'POST' || !isGraphql(request)) return void answerOthers(request, response)
    answerGraphql(graphql, request, response).catch((error: unknown) => {
      log.error({ err: error, path: '/graphql' }, 'request failed')
      response.destroy()
    })
  })
  boundConnections(server, { limits: connections, trusted: graphql.trusted, metrics: life.metrics })
  socket.attach(server)
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

/** Takes no new connections, answers what is under way, and closes each connection as soon as it is idle. */
async function finishRequests(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = new Promise((resolve) => server.close(resolve))
  const closeIdle = setInterval(() => server.closeIdleConnections(), 50)
  server.closeIdleConnections()
  await closed
  clearInterval(closeIdle)
}
