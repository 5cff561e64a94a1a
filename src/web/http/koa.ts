import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import Koa, { type Context, type Middleware } from 'koa'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { healthHandler } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'
import { allowBrowsers, openToBrowsers } from '../access/cors.js'
import { GraphqlDoor } from '../graphql/door/door.js'
import type { GraphqlRequest } from '../graphql/door/request.js'
import { SocketDoor } from '../live/socket.js'
import { readBody } from './body.js'

/** What the HTTP server answers with, in this order. */
export interface FrontDoorParts {
  life: Life
  edge: Middleware
  /** The GraphiQL editor; null: there is none. */
  editor: Middleware | null
  graphql: GraphqlDoor
  docs: Middleware
  /** Null: there is none. */
  queueBoard: Middleware | null
  socket: SocketDoor
}

/** The HTTP server of the web process: GraphQL over HTTP and WebSocket, edge API, docs, queue board, health and metrics. Not listening yet. */
export function createHttpServer({ life, edge, editor, graphql, docs, queueBoard, socket }: FrontDoorParts): Server {
  const { log } = life
  const koa = new Koa()
  koa.on('error', (error: Error, ctx: Context) => log.error({ err: error, path: ctx?.path }, 'request failed'))
  for (const middleware of [edge, editor, serveGraphql(graphql), serveHealth(life), docs, queueBoard]) if (middleware) koa.use(middleware)

  const answerOthers = koa.callback()
  const server = createServer((request, response) => {
    // The hottest path of the process goes without Koa, whose conveniences it does not use.
    if (request.method !== 'POST' || !isGraphql(request)) return void answerOthers(request, response)
    answerGraphql(graphql, request, response).catch((error: unknown) => {
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
