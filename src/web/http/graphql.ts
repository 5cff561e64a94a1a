import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from 'koa'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { allowBrowsers, openToBrowsers } from '../access/cors.js'
import { tooMuchUnread, type UnreadAnswers } from '../access/unread-answers.js'
import type { GraphqlDoor } from '../graphql/door/door.js'
import type { GraphqlRequest } from '../graphql/door/request.js'
import { readBody } from './body.js'

/** Whether a request is for the GraphQL door. */
export const isGraphql = ({ url = '' }: IncomingMessage) => url === '/graphql' || url.startsWith('/graphql?')

export function serveGraphql(door: GraphqlDoor, unread: UnreadAnswers): Middleware {
  return (ctx, next) => {
    if (!isGraphql(ctx.req)) return next()
    if (ctx.method === 'OPTIONS') return allowBrowsers(ctx, async () => undefined)
    ctx.respond = false
    return answerGraphql({ door, unread }, ctx.req, ctx.res)
  }
}

/** Reads the request, has the door answer it, and writes the answer. Koa is not needed for it. */
export async function answerGraphql(
  { door, unread }: { door: GraphqlDoor; unread: UnreadAnswers },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await readGraphql(request).then(
    ({ json, text }) => door.answer(toGraphqlRequest(request, response, json, text)),
    (error: unknown) => door.refuse(Problem.from(error), isTooLarge(error) ? 413 : 400),
  )
  // A body that was refused is not read to its end: the connection cannot be used again.
  const ending = request.complete ? {} : { connection: 'close' }
  const { environmentId } = answer
  const isTaken = unread.hasRoom(answer.body?.length ?? 0, environmentId)
  const { status, headers, body } = isTaken ? answer : door.refuse(tooMuchUnread(), 503)
  const text = body ?? ''
  response.writeHead(status, { ...openToBrowsers, ...headers, ...ending, 'content-length': Buffer.byteLength(text) }).end(text)
  unread.follow(response, environmentId)
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
