import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ExecutionArgs, type ExecutionResult, GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql'
import {
  type Context,
  handleProtocols,
  makeServer,
  type Server as ProtocolServer,
  type ServerOptions,
  type SubscribePayload,
} from 'graphql-ws'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { newId } from '../../kernel/id.js'
import { Problem } from '../../kernel/problem.js'
import { Counter, Gauge, showKept } from '../../platform/metrics.js'
import type { Life } from '../../platform/process.js'
import { type Credentials, credentialsOf, type Identity, identify } from '../access/auth.js'
import { Documents } from '../graphql/door/documents.js'
import type { Services } from '../graphql/operations/context.js'
import { toProblem, toWireError } from '../graphql/operations/errors.js'
import { logProblem } from '../graphql/operations/problem-log.js'
import type { ChangeFeed } from './change-feed.js'
import type { Push } from './push.js'

/** Documents of subscriptions are short. */
const maxMessageBytes = 256 * 1024
const maxSubscriptionsPerSocket = 50
/** A socket that does not answer a ping until the next one is gone; the key is looked at again as often. */
const heartbeatMs = 15_000
/** Some states of the largest customers; a client that is further behind reconnects and starts afresh. */
const maxBufferedBytes = 4 * 1024 * 1024

export interface SocketOptions {
  app: Services
  schema: GraphQLSchema
  push: Push
  feed: ChangeFeed
  life: Life
}

/** GraphQL subscriptions over `graphql-transport-ws` at `/graphql`. */
export class SocketDoor {
  readonly #options: SocketOptions
  readonly #documents: Documents
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, handleProtocols })
  readonly #clients = new Set<Client>()
  readonly #protocol: ProtocolServer<Client>
  readonly #dropped: Counter

  constructor(options: SocketOptions) {
    const { life, schema, feed } = options
    this.#options = options
    this.#documents = new Documents(schema)
    showKept(life.metrics, 'documents', () => this.#documents.bytes)
    this.#protocol = makeServer<ConnectionParams, Client>({
      onConnect: (context) => this.#connect(context),
      onSubscribe: (context, id, payload) => this.#subscription(context, id, payload),
      subscribe: (args) => this.#subscribe(args),
    })
    const registers = [life.metrics]
    this.#dropped = new Counter({
      name: 'tollgate_sockets_dropped_total',
      help: 'WebSockets cut off, by reason',
      labelNames: ['reason'],
      registers,
    })
    const clients = this.#clients
    new Gauge({
      name: 'tollgate_sockets',
      help: 'Open WebSockets',
      registers,
      collect() {
        this.set(clients.size)
      },
    })
    const heartbeat = setInterval(() => this.#beat(), heartbeatMs)
    life.open('socket heartbeat', heartbeat, clearInterval)
    life.onStop('sockets', () => this.#closeAll(1001, 'Going away'))
    feed.onGap(() => this.#closeAll(1012, 'Updates were interrupted'))
  }

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      if (request.url?.split('?')[0] !== '/graphql' || this.#options.life.signal.aborted) {
        stream.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
        return
      }
      this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#open(socket, request))
    })
  }

  #open(socket: WebSocket, request: IncomingMessage): void {
    const { log } = this.#options.life
    const client: Client = { socket, credentials: credentialsOf(request.headers), identity: null, release: null, isAlive: true }
    this.#clients.add(client)
    socket.on('error', (error) => log.debug({ err: error }, 'socket failed'))
    socket.on('pong', () => {
      client.isAlive = true
    })
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: async (text) => send(socket, text),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) => {
          socket.on('message', (data: RawData) => {
            handle(String(data)).catch((error: unknown) => {
              log.error({ err: error }, 'socket message could not be handled')
              socket.close(1011, 'Internal error')
            })
          })
        },
      },
      client,
    )
    socket.on('close', (code, reason) => {
      this.#clients.delete(client)
      client.release?.()
      closed(code, String(reason)).catch((error: unknown) => log.error({ err: error }, 'socket could not be cleaned up'))
    })
  }

  /** The key comes in the payload, as browsers cannot send headers with a WebSocket; headers of the request are taken too. */
  async #connect({ connectionParams, extra: client }: Context<ConnectionParams, Client>): Promise<boolean> {
    const { app, feed, life } = this.#options
    client.credentials = { ...client.credentials, ...payloadCredentials(connectionParams) }
    try {
      client.identity = await identifyListener(app, client.credentials)
      client.release = await feed.hold(client.identity.environmentId)
    } catch (error) {
      refuse(client.socket, Problem.from(error), life)
      return false
    }
    if (client.socket.readyState !== client.socket.OPEN) client.release()
    return true
  }

  #subscription(
    { extra: client, subscriptions }: Context<ConnectionParams, Client>,
    id: string,
    payload: SubscribePayload,
  ): ExecutionArgs | readonly GraphQLError[] {
    const { schema } = this.#options
    const { query, operationName, variables } = payload
    const prepared = this.#documents.prepare(query)
    if (!('document' in prepared)) return prepared.map((error) => toWireError(toProblem(error), newId(), error))
    if (getOperationAST(prepared.document, operationName)?.operation !== 'subscription')
      return refusal('Only subscriptions are served over WebSocket: send queries and mutations with POST')
    if (Object.keys(subscriptions).length > maxSubscriptionsPerSocket)
      return refusal(`A socket takes at most ${maxSubscriptionsPerSocket} subscriptions`)
    const request = { identity: client.identity!, query, prepared, operationName, variables }
    return { schema, document: prepared.document, operationName, contextValue: { request, client, id } satisfies Accepted }
  }

  /** What is pushed goes to the socket directly; the stream that graphql-ws sees only ends. */
  async #subscribe({ contextValue }: ExecutionArgs): Promise<AsyncIterable<never> | ExecutionResult> {
    const { request, client, id } = contextValue as Accepted
    const stream = new SilentStream()
    const head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
    try {
      const leave = await this.#options.push.join(request, {
        push: (payload) => this.#send(client.socket, Buffer.concat([head, payload, tail])),
        fail: (error) => stream.fail(error),
      })
      stream.ended.then(leave, leave)
      return stream
    } catch (error) {
      const [problem, traceId] = [Problem.from(error), newId()]
      logProblem(this.#options.life.log, 'subscription', problem, { traceId, environmentId: request.identity.environmentId })
      return { errors: [toWireError(problem, traceId)] }
    }
  }

  #send(socket: WebSocket, message: Buffer): void {
    if (socket.bufferedAmount > maxBufferedBytes) {
      this.#dropped.inc({ reason: 'slow' })
      socket.terminate()
    } else if (socket.readyState === socket.OPEN) socket.send(message, { binary: false })
  }

  #beat(): void {
    for (const client of this.#clients) {
      const { socket, isAlive, identity, credentials } = client
      if (!isAlive) {
        this.#dropped.inc({ reason: 'silent' })
        socket.terminate()
        continue
      }
      client.isAlive = false
      socket.ping()
      if (identity) void this.#recheck(socket, credentials)
    }
  }

  /** Keys are revoked and expire while sockets live on. A look-up that fails otherwise says nothing about the key. */
  async #recheck(socket: WebSocket, credentials: Credentials): Promise<void> {
    const { app, life } = this.#options
    try {
      await identifyListener(app, credentials)
    } catch (error) {
      const problem = Problem.from(error)
      if (isRefusedKey(problem)) refuse(socket, problem, life)
    }
  }

  /** Resolves when all are closed; who does not answer the close within a second is cut off. */
  async #closeAll(code: number, reason: string): Promise<void> {
    const sockets = [...this.#clients].map(({ socket }) => socket)
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of sockets) socket.close(code, reason)
    const cutOff = setTimeout(() => {
      for (const socket of sockets) socket.terminate()
    }, 1_000)
    await Promise.all(closed)
    clearTimeout(cutOff)
  }
}

interface Client {
  socket: WebSocket
  credentials: Credentials
  identity: Identity | null
  /** Gives the environment's changes back. */
  release: (() => void) | null
  isAlive: boolean
}

/** A subscription on its way through graphql-ws. */
interface Accepted {
  request: Parameters<Push['join']>[0]
  client: Client
  id: string
}

type ConnectionParams = NonNullable<Parameters<NonNullable<ServerOptions['onConnect']>>[0]['connectionParams']>

const tail = Buffer.from('}')

/** Has no values of its own; ends when the client completes it, or with the error of what it stands for. */
class SilentStream implements AsyncIterableIterator<never> {
  readonly ended: Promise<void>
  #end!: () => void
  fail!: (error: Error) => void

  constructor() {
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve
      this.fail = reject
    })
  }

  async next(): Promise<IteratorResult<never>> {
    await this.ended
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<never>> {
    this.#end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** Without a valid customer token a client key would hear of every customer. */
async function identifyListener({ environments }: Services, credentials: Credentials): Promise<Identity> {
  const identity = await identify(environments, credentials)
  if (identity.kind === 'CLIENT' && identity.customerId === null)
    throw new Problem('UNAUTHENTICATED', 'UNAUTHENTICATED', 'A client key needs the signed token of a customer: X-CUSTOMER-KEY.')
  return identity
}

/** `{ headers: { "X-API-KEY": … } }`, names in any case. */
function payloadCredentials(params: Readonly<Record<string, unknown>> | undefined): Partial<Credentials> {
  const headers = params?.headers
  if (typeof headers !== 'object' || headers === null) return {}
  const entries = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name.toLowerCase(), value]] : []))
  return Object.fromEntries(Object.entries(credentialsOf(Object.fromEntries(entries))).filter(([, value]) => value !== undefined))
}

const isRefusedKey = ({ code }: Problem) => code === 'UNAUTHENTICATED' || code === 'PERMISSION_DENIED'

/** Older clients reconnect in a hot loop unless a refused key is told by just this code and reason. */
function refuse(socket: WebSocket, problem: Problem, { log }: Life): void {
  logProblem(log, 'socket', problem, {})
  if (isRefusedKey(problem)) socket.close(4403, 'Invalid API key')
  else socket.close(1013, 'Try again later')
}

function refusal(message: string): readonly GraphQLError[] {
  return [toWireError(new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', message), newId())]
}

function send(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) resolve()
    // A failed send closes the socket, which is where it is handled.
    else socket.send(text, () => resolve())
  })
}
