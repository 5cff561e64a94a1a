import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from 'koa'
import { Problem, type ProblemCode } from '../../kernel/problem.js'
import { tracedRequest } from '../../platform/context/traced-request.js'
import { currentSpan, newTraceId } from '../../platform/context/tracing.js'
import type { Logger } from '../../platform/logger.js'
import type { TrustedProxies } from '../access/address.js'
import { endWith } from '../access/answer-body.js'
import { credentialsOf, type Identity, identify } from '../access/auth.js'
import { allowBrowsers, openToBrowsers } from '../access/cors.js'
import { freshnessOf } from '../access/freshness.js'
import { serverTime } from '../access/server-time.js'
import { tooMuchUnread } from '../access/unread-answers.js'
import { toWireError } from '../graphql/operations/errors.js'
import { logProblem } from '../graphql/operations/problem-log.js'
import { type PageOptions, Pages } from './pages.js'
import { type EdgeRoute, readRoute } from './route.js'

export interface EdgeOptions extends PageOptions {
  trusted: TrustedProxies
  log: Logger
}

/** To give more of what is kept costs its bytes. */
const shortPageBytes = 64 * 1024

/** The Problem's HTTP status: caches and SDKs of the edge look at nothing else. */
const statusOf: Readonly<Record<ProblemCode, number>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  FAILED_PRECONDITION: 400,
  RESOURCE_EXHAUSTED: 429,
  ABORTED: 503,
  // The caller hung up, so that nobody reads it.
  CANCELLED: 503,
  DEADLINE_EXCEEDED: 504,
  UNAVAILABLE: 503,
  UNIMPLEMENTED: 501,
  UNKNOWN: 504,
  INTERNAL: 500,
}

const tooManyRequests = Buffer.from(JSON.stringify({ error: 'rate_limit_exceeded', message: 'Too many requests' }))

/**
 * The edge API: GET requests whose answers a cache may keep and revalidate. Answers are those of the GraphQL API; the texts made of a state are
 * kept as long as the state is held, so that a warm answer is two look-ups and a write.
 */
export function openEdge(options: EdgeOptions): Edge {
  const pages = new Pages(options)
  return {
    isFor: ({ method, url = '' }) => (method === 'GET' || method === 'HEAD') && url.startsWith('/v1/'),
    answer: (request, response) => tracedRequest('/v1', request, response, () => answer(request, response, pages, options)),
  }
}

/** Its pages, without Koa, whose conveniences they do not use. */
export interface Edge {
  isFor(request: IncomingMessage): boolean
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** What else browsers may ask there. */
export function serveEdgeOptions(): Middleware {
  return async (ctx, next) => {
    if (!(ctx.req.url ?? '').startsWith('/v1/')) return next()
    if (ctx.method === 'OPTIONS') return allowBrowsers(ctx, async () => undefined)
    ctx.status = 405
    ctx.set('allow', 'GET, HEAD, OPTIONS')
    ctx.body = ''
  }
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  pages: Pages,
  { app, trusted, rateLimits, log, unread }: EdgeOptions,
): Promise<void> {
  const facts: { environmentId?: string } = {}
  try {
    const address = trusted.callerOf(req)
    const identity = await identify(app.environments, credentialsOf(req.headers), address)
    facts.environmentId = identity.environmentId
    rateLimits.take(identity, address)
    const route = readRoute(req.url ?? '')
    tellTrace(req.method, route, identity)
    const asker = { identity, address, rateLimits, res }
    const page = await pages.get(route, asker, freshnessOf(req.headers, asker))
    const isKnown = matches(req.headers['if-none-match'], page.etag)
    if (isKnown) res.writeHead(304, { ...alwaysSent, ...serverTime(app.clock), etag: page.etag }).end()
    else {
      if (!unread.hasRoom(page.bytes, identity.environmentId)) throw tooMuchUnread()
      if (page.bytes > shortPageBytes && !page.isMade && req.method !== 'HEAD') rateLimits.takeBytes(identity, address, page.bytes)
      const headers = { ...alwaysSent, ...serverTime(app.clock), etag: page.etag, 'content-type': json, 'content-length': page.bytes }
      res.writeHead(200, headers)
      if (req.method === 'HEAD') res.end()
      else endWith(res, page.body, 'latin1')
      unread.follow(res, identity.environmentId)
    }
  } catch (error) {
    refuse(res, Problem.from(error), log, facts)
  }
}

function tellTrace(method = 'GET', { document }: EdgeRoute, { environmentId }: Identity): void {
  const span = currentSpan()
  span?.rename(`${method} /v1 ${document}`)
  span?.set({ 'tollgate.operation': document, 'tollgate.environment_id': environmentId })
}

const json = 'application/json; charset=utf-8'
const alwaysSent = {
  'cache-control': 'private, no-cache',
  vary: 'X-API-KEY, X-CUSTOMER-KEY',
  ...openToBrowsers,
}

function refuse(res: ServerResponse, problem: Problem, log: Logger, facts: { environmentId?: string }): void {
  const traceId = newTraceId()
  logProblem(log, 'edge request', problem, { traceId, ...facts })
  const headers = { ...alwaysSent, 'cache-control': 'no-store', 'content-type': json, 'x-trace-id': traceId }
  if (problem.code === 'RESOURCE_EXHAUSTED') {
    const seconds = Math.max(1, Math.ceil(Number(problem.details.retryAfterMs ?? 1_000) / 1_000))
    res.writeHead(429, { ...headers, 'retry-after': String(seconds) }).end(tooManyRequests)
  } else res.writeHead(statusOf[problem.code], headers).end(JSON.stringify({ data: null, errors: [toWireError(problem, traceId)] }))
}

/** As RFC 9110 compares for GET: weak and strong alike. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header === etag || header.trim() === '*') return true
  return header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}
