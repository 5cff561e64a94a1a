import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from 'koa'
import type { Clock } from '../../kernel/clock.js'
import { Problem } from '../../kernel/problem.js'
import { tracedRequest } from '../../platform/context/traced-request.js'
import type { Logger } from '../../platform/logger.js'
import type { TrustedProxies } from '../access/address.js'
import { type Admission, type Waiting, weightOf } from '../access/admission.js'
import { bytesOf, endWith } from '../access/answer-body.js'
import { allowBrowsers, openToBrowsers } from '../access/cors.js'
import { charactersPerField, type RateLimits } from '../access/rate-limits.js'
import { serverTime } from '../access/server-time.js'
import { tooMuchUnread, type UnreadAnswers } from '../access/unread-answers.js'
import type { GraphqlDoor } from '../graphql/door/door.js'
import type { KnownQuestion } from '../graphql/door/known-questions.js'
import type { Asker, GraphqlAnswer, GraphqlRequest } from '../graphql/door/request.js'
import { Aborted, type Bodies, type Body } from './body.js'
import { parseJson, pieceLength } from './json.js'

/** Whether a request is for the GraphQL door. */
export const isGraphql = ({ url = '' }: IncomingMessage) => url === '/graphql' || url.startsWith('/graphql?')

export interface GraphqlParts {
  door: GraphqlDoor
  bodies: Bodies
  unread: UnreadAnswers
  rateLimits: RateLimits
  admission: Admission
  trusted: TrustedProxies
  clock: Clock
  log: Logger
}

export function serveGraphql(parts: GraphqlParts): Middleware {
  return (ctx, next) => {
    if (!isGraphql(ctx.req)) return next()
    if (ctx.method === 'OPTIONS') return allowBrowsers(ctx, async () => undefined)
    ctx.respond = false
    return tracedRequest('/graphql', ctx.req, ctx.res, () => answerGraphql(parts, ctx.req, ctx.res))
  }
}

/** Reads the request, has the door answer it, and writes the answer. Koa is not needed for it. Who asks is known before the body is read. */
export async function answerGraphql(parts: GraphqlParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const held: Held = { release: () => undefined }
  try {
    const answer = await answerOf(parts, request, response, held)
    if (answer) write(parts, request, response, answer)
  } finally {
    held.release()
  }
}

/** The body, once there is one. */
type Held = Pick<Body, 'release'>

function write({ door, unread, clock }: GraphqlParts, request: IncomingMessage, response: ServerResponse, answer: GraphqlAnswer): void {
  const { environmentId } = answer
  // From here on it is counted by what its reader has not taken.
  answer.release?.()
  const bytes = bytesOf(answer.body ?? '')
  const given = answer.isOfChange || unread.hasRoom(bytes, environmentId) ? answer : door.refuse(tooMuchUnread(), 503)
  const body = given.body ?? ''
  // What is left of a body that was refused is not read, but for a little: the connection cannot be used again.
  const isLeft = !request.complete && !(Number(request.headers['content-length']) <= smallRestBytes)
  const ending = isLeft ? { connection: 'close' } : {}
  const length = given === answer ? bytes : bytesOf(body)
  response.writeHead(given.status, { ...openToBrowsers, ...given.headers, ...ending, ...serverTime(clock), 'content-length': length })
  endWith(response, body)
  unread.follow(response, environmentId)
}

/** Null: there is nobody to answer. */
async function answerOf(
  { door, bodies, rateLimits, admission, trusted, log }: GraphqlParts,
  request: IncomingMessage,
  response: ServerResponse,
  held: Held,
): Promise<GraphqlAnswer | null> {
  const { method, url = '', headers } = request
  const address = trusted.callerOf(request)
  if (method !== 'POST') return door.answer(toGraphqlRequest(request, response, { address, body: undefined, bodyText: '' }))
  let asker: Asker
  try {
    asker = await door.admit({ url, headers, address })
  } catch (error) {
    // As any answer with errors and without data.
    return door.refuse(Problem.from(error), headers.accept?.includes('application/graphql-response+json') ? 400 : 200)
  }
  const { environmentId } = asker.identity
  let entered: number | null = null
  try {
    let [body, bodyText]: [body: unknown, bodyText: string] = [undefined, '']
    let known: KnownQuestion | undefined
    // What carries no JSON is for graphql-http to judge.
    if (isJson(request)) {
      const { text, release } = bodies.atHand(request) ?? (await bodies.read(request, asker.identity))
      held.release = release
      if (text.length > longBodyLength) rateLimits.takeCost(asker.identity, address, text.length / charactersPerField)
      known = door.questionIn(text)
      if (!known) body = text.length > pieceLength ? await parseJson(text, environmentId) : parseJson(text, environmentId)
      bodyText = text
    }
    const weight = weightOf(bodyText.length, Array.isArray(body) ? body.length : 1)
    const waiting = admission.enter(environmentId, weight)
    if (waiting) await orGone(waiting, response)
    entered = weight
    if (known) {
      const answer = door.answerKnown(known, { headers, asker, bodyText })
      if (answer) return answer
      body = parseJson(bodyText, environmentId)
    }
    return await door.answer(toGraphqlRequest(request, response, { address, asker, body, bodyText }))
  } catch (error) {
    if (!(error instanceof Aborted)) return door.refuse(Problem.from(error), statusOfBody(error))
    log.debug({ err: error, path: '/graphql' }, 'request was aborted')
    return null
  } finally {
    if (entered !== null) admission.leave(environmentId, entered)
  }
}

/** Who hangs up waits no more. */
async function orGone({ entered, giveUp }: Waiting, response: ServerResponse): Promise<void> {
  const gone = () => giveUp(new Aborted())
  response.once('close', gone)
  try {
    await entered
  } finally {
    response.off('close', gone)
  }
}

function statusOfBody(error: unknown): number {
  if (!(error instanceof Problem)) return 500
  if (error.details.limit !== undefined) return 413
  return { DEADLINE_EXCEEDED: 408, UNAVAILABLE: 503, RESOURCE_EXHAUSTED: 429 }[error.code as string] ?? 400
}

function toGraphqlRequest(
  { method = 'GET', url = '', headers }: IncomingMessage,
  response: ServerResponse,
  read: Pick<GraphqlRequest, 'address' | 'asker' | 'body' | 'bodyText'>,
): GraphqlRequest {
  let listeners: (() => void)[] | undefined
  const onHangUp = (listener: () => void) => {
    if (listeners) return void listeners.push(listener)
    listeners = [listener]
    response.once('close', () => {
      if (!response.writableFinished) for (const heard of listeners!) heard()
    })
  }
  return { ...read, method, url, headers, onHangUp }
}

/** What is longer takes so long to read and check that it costs. */
const longBodyLength = 1024 * 1024

const isJson = ({ headers }: IncomingMessage) => /^application\/(?:[\w.+-]+\+)?json\b/i.test(headers['content-type'] ?? '')

/** So much is read of a body that is refused, so that the connection can be used again. */
const smallRestBytes = 65_536
