import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from 'koa'
import { invalidInput, Problem } from '../../kernel/problem.js'
import type { Logger } from '../../platform/logger.js'
import type { TrustedProxies } from '../access/address.js'
import { allowBrowsers, openToBrowsers } from '../access/cors.js'
import { tooMuchUnread, type UnreadAnswers } from '../access/unread-answers.js'
import type { GraphqlDoor } from '../graphql/door/door.js'
import type { Asker, GraphqlAnswer, GraphqlRequest } from '../graphql/door/request.js'
import { Aborted, type Bodies } from './body.js'

/** Whether a request is for the GraphQL door. */
export const isGraphql = ({ url = '' }: IncomingMessage) => url === '/graphql' || url.startsWith('/graphql?')

export interface GraphqlParts {
  door: GraphqlDoor
  bodies: Bodies
  unread: UnreadAnswers
  trusted: TrustedProxies
  log: Logger
}

export function serveGraphql(parts: GraphqlParts): Middleware {
  return (ctx, next) => {
    if (!isGraphql(ctx.req)) return next()
    if (ctx.method === 'OPTIONS') return allowBrowsers(ctx, async () => undefined)
    ctx.respond = false
    return answerGraphql(parts, ctx.req, ctx.res)
  }
}

/** Reads the request, has the door answer it, and writes the answer. Koa is not needed for it. Who asks is known before the body is read. */
export async function answerGraphql(parts: GraphqlParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { door, unread } = parts
  const answer = await answerOf(parts, request, response)
  if (!answer) return
  const { environmentId } = answer
  const isTaken = answer.isOfChange || unread.hasRoom(answer.body?.length ?? 0, environmentId)
  const { status, headers, body } = isTaken ? answer : door.refuse(tooMuchUnread(), 503)
  // What is left of a body that was refused is not read, but for a little: the connection cannot be used again.
  const isLeft = !request.complete && !(Number(request.headers['content-length']) <= smallRestBytes)
  const ending = isLeft ? { connection: 'close' } : {}
  const text = body ?? ''
  response.writeHead(status, { ...openToBrowsers, ...headers, ...ending, 'content-length': Buffer.byteLength(text) }).end(text)
  unread.follow(response, environmentId)
}

/** Null: there is nobody to answer. */
async function answerOf(
  { door, bodies, trusted, log }: GraphqlParts,
  request: IncomingMessage,
  response: ServerResponse,
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
  try {
    const { json, text } = await readGraphql(bodies, request, asker.identity.keyId)
    return await door.answer(toGraphqlRequest(request, response, { address, asker, body: json, bodyText: text }))
  } catch (error) {
    if (!(error instanceof Aborted)) return door.refuse(Problem.from(error), statusOfBody(error))
    log.debug({ err: error, path: '/graphql' }, 'request was aborted')
    return null
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

/** Undefined: the request carries no JSON, which is for graphql-http to judge. */
async function readGraphql(bodies: Bodies, request: IncomingMessage, keyId: string): Promise<{ json: unknown; text: string }> {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(request.headers['content-type'] ?? '')) return noBody
  const text = await bodies.read(request, keyId)
  try {
    return { json: JSON.parse(text), text }
  } catch {
    throw invalidInput('The body is not JSON')
  }
}

const noBody = { json: undefined, text: '' }

/** So much is read of a body that is refused, so that the connection can be used again. */
const smallRestBytes = 65_536
