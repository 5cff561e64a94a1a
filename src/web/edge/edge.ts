import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type DocumentNode, execute, type GraphQLSchema, type OperationDefinitionNode, parse } from 'graphql'
import type { Middleware } from 'koa'
import type { EntitlementState } from '../../entitlement/rules/state.js'
import { Problem, type ProblemCode } from '../../kernel/problem.js'
import { tracedRequest } from '../../platform/context/traced-request.js'
import { currentSpan, newTraceId } from '../../platform/context/tracing.js'
import { withinSignal } from '../../platform/context/within-signal.js'
import type { Logger } from '../../platform/logger.js'
import type { AskedFreshness } from '../../updates/held/fresh-reads.js'
import type { TrustedProxies } from '../access/address.js'
import { authorize, credentialsOf, type Identity, identify } from '../access/auth.js'
import { allowBrowsers, openToBrowsers } from '../access/cors.js'
import { turns } from '../access/fair-turns.js'
import { freshnessOf } from '../access/freshness.js'
import type { RateLimits } from '../access/rate-limits.js'
import { serverTime } from '../access/server-time.js'
import { tooMuchUnread, type UnreadAnswers } from '../access/unread-answers.js'
import { AnswerRoom, textOf } from '../graphql/operations/answer-text.js'
import { createContext, type Services } from '../graphql/operations/context.js'
import { type DocumentBounds, documentBounds } from '../graphql/operations/document-bounds.js'
import { toProblem, toWireError } from '../graphql/operations/errors.js'
import { logProblem } from '../graphql/operations/problem-log.js'
import { Turns } from '../graphql/operations/turns.js'
import { type EdgeDocument, edgeDocuments } from './documents.js'
import { type EdgeRoute, readRoute } from './route.js'

export interface EdgeOptions {
  app: Services & { entitlements: EdgeStates }
  schema: GraphQLSchema
  trusted: TrustedProxies
  rateLimits: RateLimits
  timeoutMs: number
  log: Logger
  unread: UnreadAnswers
}

/** Where states come from; `held` answers at once or null. `grow`: room for what is kept of one; false: it is not to be kept. */
interface EdgeStates {
  grow(state: EntitlementState, bytes: number): boolean
  held(environmentId: string, customerId: string, resourceId: string | null, maxAgeMs?: number): EntitlementState | null
}

/** An answer as it goes over the wire. */
interface Page {
  /** Characters of one byte each, which Node sends in one piece with the headers, or bytes. */
  body: string | Buffer
  bytes: number
  etag: string
}

/** Of a page beside its text. */
const pageBytes = 250

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
    const page = await pages.get(route, identity, freshnessOf(req.headers, { identity, address, rateLimits }))
    const isKnown = matches(req.headers['if-none-match'], page.etag)
    if (isKnown) res.writeHead(304, { ...alwaysSent, ...serverTime(app.clock), etag: page.etag }).end()
    else {
      if (!unread.hasRoom(page.bytes, identity.environmentId)) throw tooMuchUnread()
      const headers = { ...alwaysSent, ...serverTime(app.clock), etag: page.etag, 'content-type': json, 'content-length': page.bytes }
      res.writeHead(200, headers)
      res.end(req.method === 'HEAD' ? undefined : page.body, 'latin1')
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

interface PreparedPage {
  document: DocumentNode
  operation: OperationDefinitionNode
  bounds: DocumentBounds
}

function preparePage(schema: GraphQLSchema, text: string): PreparedPage {
  const document = parse(text)
  return { document, operation: document.definitions[0] as OperationDefinitionNode, bounds: documentBounds(schema, document) }
}

class Pages {
  readonly #options: EdgeOptions
  readonly #prepared = new Map<EdgeDocument, PreparedPage>()
  readonly #ofState = new WeakMap<EntitlementState, Map<EdgeDocument, Page>>()

  constructor(options: EdgeOptions) {
    this.#options = options
  }

  async get(
    { document, input, resourceIds, environmentId }: EdgeRoute,
    identity: Identity,
    freshness: AskedFreshness | undefined,
  ): Promise<Page> {
    if (document !== 'entitlements' && document !== 'entitlementsState') {
      const variables = variablesOf(document, input, resourceIds)
      this.#check(document, variables)
      return this.#execute(document, identity, variables)
    }
    const { customerId = '' } = input
    const variables = { query: { customerId, resourceId: resourceIds[0] ?? null, ...(environmentId !== undefined && { environmentId }) } }
    authorize(identity, { operation: 'Query', field: 'entitlementsState', args: variables })
    const { entitlements } = this.#options.app
    const of = [identity.environmentId, customerId, resourceIds[0] ?? null] as const
    const held = entitlements.held(...of, freshness?.maxAgeMs)
    const known = held && this.#ofState.get(held)?.get(document)
    if (known) return known
    this.#check(document, variables)
    const state = held ?? (await entitlements.state(...of, freshness))
    const page = await this.#execute(document, identity, variables, state)
    const ofState = this.#ofState.get(state) ?? new Map<EdgeDocument, Page>()
    if (!ofState.has(document) && entitlements.grow(state, pageBytes + page.bytes)) this.#ofState.set(state, ofState.set(document, page))
    return page
  }

  #prepare(name: EdgeDocument): PreparedPage {
    const prepared = this.#prepared.get(name) ?? preparePage(this.#options.schema, edgeDocuments[name])
    this.#prepared.set(name, prepared)
    return prepared
  }

  /** What addresses say has the bounds of the fields that it is for. */
  #check(name: EdgeDocument, variables: Record<string, unknown>): void {
    const { operation, bounds } = this.#prepare(name)
    bounds.check(operation, variables)
  }

  /** With `state`, the answer is about that one. Fails with the Problem of the first error. */
  async #execute(name: EdgeDocument, identity: Identity, variables: Record<string, unknown>, state?: EntitlementState): Promise<Page> {
    const { app, schema, timeoutMs } = this.#options
    const source = app.entitlements
    const entitlements = state ? { state: async () => state, check: source.check.bind(source) } : source
    const room = new AnswerRoom()
    const operation = { traceId: newTraceId(), signal: AbortSignal.timeout(timeoutMs), weigh: room.takeValue.bind(room) }
    const nextTurn = () => turns.take(identity.environmentId)
    const isShort = state !== undefined && state.entitlements.length <= fewEntitlements
    const inTurns = isShort ? null : new Turns(givenUpBy(operation.signal), nextTurn)
    const contextValue = createContext({ app: { ...app, entitlements }, identity, operation, turns: inTurns })
    const { document } = this.#prepare(name)
    const { data, errors } = await withinSignal(operation, async () =>
      execute({ schema, document, variableValues: variables, contextValue, fieldResolver: inTurns?.fieldResolver }),
    )
    if (operation.signal.aborted) throw new Problem('DEADLINE_EXCEEDED', 'TIMEOUT', `The answer was not ready within ${timeoutMs} ms.`)
    if (errors?.[0]) throw toProblem(errors[0])
    return toPage(await textOf({ data }, room, nextTurn), nextTurn)
  }
}

function variablesOf(document: EdgeDocument, input: EdgeRoute['input'], resourceIds: string[]): Record<string, unknown> {
  if (document === 'activeSubscriptions')
    return { input: { customerId: input.customerId, ...(resourceIds.length > 0 ? { resourceIds } : {}) } }
  return document === 'paywall' ? { input } : {}
}

const givenUpBy = (signal: AbortSignal) => ({
  get givenUp() {
    return signal.aborted ? { reason: signal.reason as unknown } : null
  },
})

/** An answer about no more than these takes a millisecond or two. */
const fewEntitlements = 50

/** Of a page that is large, so much is hashed before others get their turn. */
const hashedAtOnce = 1024 * 1024

async function toPage(text: string, nextTurn: () => Promise<void>): Promise<Page> {
  const encoded = Buffer.from(text)
  const isAscii = encoded.length === text.length
  const hash = createHash('sha256')
  for (let at = 0; at < encoded.length; at += hashedAtOnce) {
    if (at > 0) await nextTurn()
    hash.update(encoded.subarray(at, at + hashedAtOnce))
  }
  return { body: isAscii ? text : encoded, bytes: encoded.length, etag: `"${hash.digest('base64url')}"` }
}

/** As RFC 9110 compares for GET: weak and strong alike. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header === etag || header.trim() === '*') return true
  return header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}
