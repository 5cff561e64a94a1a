import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BaseTransportOptions, Event, Exception, StackFrame, StackParser } from '@sentry/core'
import { LRUCache } from 'lru-cache'
import { Problem } from '../../kernel/problem.js'
import type { Secret } from '../../kernel/secret.js'
import type { Life } from '../process.js'

/** An error that comes with every message is told once in so long. */
const onceInMs = 60_000
/** Different ones that are remembered for that. */
const mostRemembered = 500
/** Longest wait for the tracker, at the end of the process too. */
const timeoutMs = 2_000
/** Errors hold their causes, which hold theirs. */
const maxCauses = 4

/**
 * Tells unexpected errors (`Life.unexpected`) to Sentry, or to a server that speaks its protocol. What is told is what kind of error came from which place in the
 * code, and nothing else: messages may name customers and addresses, so they stay here, as do variables, requests and the name of the machine.
 */
export async function trackErrors(life: Life, { dsn }: { dsn: Secret }): Promise<void> {
  // Loaded only where errors are told: it is large.
  const { createStackParser, createTransport, stackParserFromStackParserOptions } = await import('@sentry/core')
  const { nodeStackLineParser, ServerRuntimeClient } = await import('@sentry/core/server')
  const stackParser = stackParserFromStackParserOptions(createStackParser(nodeStackLineParser()))
  const client = new ServerRuntimeClient({
    dsn: dsn.reveal(),
    platform: 'node',
    integrations: [],
    stackParser,
    sendClientReports: false,
    transport: (options: BaseTransportOptions) =>
      createTransport(options, async ({ body }) => {
        const headers = { ...options.headers, 'content-type': 'application/x-sentry-envelope' }
        const response = await fetch(options.url, {
          method: 'POST',
          headers,
          body: body as string,
          signal: AbortSignal.timeout(timeoutMs),
        })
        await response.arrayBuffer()
        const told = (name: string) => response.headers.get(name)
        return {
          statusCode: response.status,
          headers: { 'x-sentry-rate-limits': told('x-sentry-rate-limits'), 'retry-after': told('retry-after') },
        }
      }),
  })
  client.init()
  life.open('error tracking', client, (c) => c.close(timeoutMs))
  const told = new LRUCache<string, true>({ max: mostRemembered, ttl: onceInMs })
  life.onUnexpected((error) => {
    const event = eventOf(error, { process: life.name, stackParser })
    const kind = JSON.stringify(event.exception)
    if (told.has(kind)) return
    told.set(kind, true)
    client.captureEvent(event)
  })
}

/** What is told of an error. */
export function eventOf(error: unknown, { process: name, stackParser }: { process: string; stackParser: StackParser }): Event {
  const exceptions = causesOf(error).map((cause) => exceptionOf(cause, stackParser))
  // The cause of all comes first.
  return { level: 'error', platform: 'node', tags: { process: name }, exception: { values: exceptions.reverse() } }
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = error; causes.length < maxCauses && cause !== undefined && cause !== null; cause = (cause as Error).cause)
    causes.push(cause)
  return causes
}

function exceptionOf(error: unknown, stackParser: StackParser): Exception {
  if (!(error instanceof Error)) return { type: typeof error }
  const { stack = '', message } = error
  // A message may have lines that look like places in the code.
  const at = message === '' ? 0 : stack.indexOf(message)
  const frames = at < 0 ? [] : stackParser(stack.slice(at + message.length)).map(frameOf)
  const value = codeOf(error)
  return { type: error.constructor.name, ...(value !== null && { value }), ...(frames.length > 0 && { stacktrace: { frames } }) }
}

/** A name that our code or Node has given to the kind of error, if there is one. */
function codeOf(error: Error): string | null {
  const code: unknown = error instanceof Problem ? error.reason : (error as NodeJS.ErrnoException).code
  return typeof code === 'string' && /^[A-Z][A-Z\d_]{1,60}$/.test(code) ? code : null
}

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** Where the platform is installed is nobody's concern. */
function frameOf({ filename = '', function: name, lineno, colno, in_app }: StackFrame): StackFrame {
  const path = filename.startsWith('file:') ? fileURLToPath(filename) : filename
  return { filename: isAbsolute(path) ? relative(root, path) : path, function: name, lineno, colno, in_app }
}
