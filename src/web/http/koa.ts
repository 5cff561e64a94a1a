import { createServer, type Server } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import { healthHandler } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'
import type { UnreadAnswers } from '../access/unread-answers.js'
import type { GraphqlDoor } from '../graphql/door/door.js'
import type { SocketDoor } from '../live/socket.js'
import { answerGraphql, isGraphql, serveGraphql } from './graphql.js'

/** What the HTTP server answers with, in this order. */
export interface FrontDoorParts {
  life: Life
  edge: Middleware
  /** The GraphiQL editor; null: there is none. */
  editor: Middleware | null
  graphql: GraphqlDoor
  /** The page at `/`. */
  home: Middleware
  docs: Middleware
  /** Null: there is none. */
  queueBoard: Middleware | null
  socket: SocketDoor
  unread: UnreadAnswers
}

/** The HTTP server of the web process: GraphQL over HTTP and WebSocket, edge API, docs, queue board, health and metrics. Not listening yet. */
export function createHttpServer({ life, edge, editor, graphql, home, docs, queueBoard, socket, unread }: FrontDoorParts): Server {
  const { log } = life
  const koa = new Koa()
  koa.on('error', (error: Error, ctx: Context) => log.error({ err: error, path: ctx?.path }, 'request failed'))
  for (const middleware of [edge, editor, serveGraphql(graphql, unread), serveHealth(life), home, docs, queueBoard])
    if (middleware) koa.use(middleware)

  const answerOthers = koa.callback()
  const server = createServer((request, response) => {
    // The hottest path of the process goes without Koa, whose conveniences it does not use.
    if (request.method !== 'POST' || !isGraphql(request)) return void answerOthers(request, response)
    answerGraphql({ door: graphql, unread }, request, response).catch((error: unknown) => {
      log.error({ err: error, path: request.url }, 'request failed')
      response.destroy()
    })
  })
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
