import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { GraphQLSchema } from 'graphql'
import { type Context, handleProtocols, makeServer, type Server as ProtocolServer } from 'graphql-ws'
import { type WebSocket, WebSocketServer, type ServerOptions as WebSocketServerOptions } from 'ws'
import { Problem } from '../../kernel/problem.js'
import { Counter, Gauge, showKept } from '../../platform/metrics.js'
import type { Life } from '../../platform/process.js'
import type { TrustedProxies } from '../access/address.js'
import { type Authenticator, type Credentials, credentialsOf, type Identity } from '../access/auth.js'
import type { RateLimits } from '../access/rate-limits.js'
import { logProblem } from '../graphql/operations/problem-log.js'
import type { ChangeFeed } from './change-feed.js'
import { Connection, closeTimeoutMs, type DropReason, maxMessageBytes } from './connection.js'
import { identifyListener, isRefusedKey } from './listener.js'
import { readMessage } from './message.js'
import { Places } from './places.js'
import type { Push } from './push.js'
import { type Subscriber, Subscriptions } from './subscriptions.js'
import { UnreadBytes } from './unread-bytes.js'

/** A socket that does not answer a ping until the next one is gone; the key is looked at again as often. */
const heartbeatMs = 15_000
/** Between two of as many sockets everybody else is served. */
const socketsAtOnce = 100

/** How many sockets a process has open at a time. */
export interface SocketPlaces {
  /** In all. When they are taken, a socket that has shown no valid key yet makes room for the next one. */
  sockets: number
  /** From one address. */
  socketsPerAddress: number
  /** With one key. */
  socketsPerKey: number
  /** Of one customer with a client key. */
  socketsPerCustomer: number
}

export interface SocketOptions {
  environments: Authenticator
  trusted: TrustedProxies
  schema: GraphQLSchema
  push: Push
  feed: ChangeFeed
  rateLimits: RateLimits
  places: SocketPlaces
  life: Life
}

/** GraphQL subscriptions over `graphql-transport-ws` at `/graphql`. */
export class SocketDoor {
  readonly #options: SocketOptions
  readonly #subscriptions: Subscriptions
  readonly #sockets = new WebSocketServer(serverOptions)
  readonly #clients = new Set<Client>()
  /** Those that have shown no valid key yet, the oldest first. */
  readonly #strangers = new Set<Client>()
  readonly #places = new Places()
  readonly #unread = new UnreadBytes()
  readonly #protocol: ProtocolServer<Client>
  readonly #dropped: Counter

  constructor(options: SocketOptions) {
    const { life, schema, feed, push, rateLimits } = options
    this.#options = options
    this.#subscriptions = new Subscriptions({ schema, push, rateLimits, log: life.log })
    showKept(life.metrics, 'documents', () => this.#subscriptions.documentBytes)
    this.#protocol = makeServer<Record<string, never>, Client>({
      onConnect: (context) => this.#connect(context),
      onSubscribe: ({ extra: client, subscriptions }, id, payload) =>
        this.#subscriptions.prepare({ client, id, subscriptions: Object.keys(subscriptions).length }, payload),
      subscribe: (args) => this.#subscriptions.subscribe(args),
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
    const heartbeat = setInterval(() => void this.#beat(), heartbeatMs)
    life.open('socket heartbeat', heartbeat, clearInterval)
    life.onStop('sockets', () => this.#closeAll(1001, 'Going away'))
    feed.onGap(() => this.#closeAll(1012, 'Updates were interrupted'))
  }

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      const { trusted, rateLimits, life } = this.#options
      const { sockets, socketsPerAddress } = this.#options.places
      if (request.url?.split('?')[0] !== '/graphql' || life.signal.aborted) return refuseUpgrade(stream, '404 Not Found')
      const address = trusted.callerOf(request)
      if (!isWithinRate(rateLimits, address)) return refuseUpgrade(stream, '429 Too Many Requests')
      if (this.#clients.size >= sockets && !this.#makeRoom()) {
        this.#dropped.inc({ reason: 'places' })
        return refuseUpgrade(stream, '503 Service Unavailable')
      }
      const leave = this.#places.take(`address ${address}`, socketsPerAddress)
      if (!leave) {
        this.#dropped.inc({ reason: 'places' })
        return refuseUpgrade(stream, '429 Too Many Requests')
      }
      stream.once('close', leave)
      this.#sockets.handleUpgrade(request, stream, head, (socket) =>
        this.#open(socket, { credentials: credentialsOf(request.headers), address, stream }),
      )
    })
  }

  /** Whoever opens sockets without a key takes no place from those who have one. */
  #makeRoom(): boolean {
    const [oldest] = this.#strangers
    if (!oldest) return false
    this.#forget(oldest)
    oldest.connection.drop('places')
    return true
  }

  #open(socket: WebSocket, { stream, ...caller }: Pick<Client, 'credentials' | 'address'> & { stream: Duplex }): void {
    const { log } = this.#options.life
    const onDrop = (reason: DropReason) => this.#dropped.inc({ reason })
    const connection = new Connection({ socket, stream, unread: this.#unread, onDrop })
    const client: Client = {
      socket,
      connection,
      ...caller,
      identity: null,
      cost: 0,
      held: [],
      isAlive: true,
      isClosed: false,
    }
    this.#clients.add(client)
    this.#strangers.add(client)
    socket.on('error', (error) => log.debug({ err: error }, 'socket failed'))
    socket.on('pong', () => {
      client.isAlive = true
    })
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: async (text) => connection.write(text),
        close: (code, reason) => connection.close(code, reason),
        onMessage: (handle) => {
          connection.onMessage((text) => {
            const read = readMessage(text)
            if ('refusal' in read) return connection.close(badMessage, read.refusal)
            if (read.credentials) client.credentials = { ...client.credentials, ...read.credentials }
            // It is typed for text, and takes what was parsed as well.
            handle(read.message as unknown as string).catch((error: unknown) => {
              if (isServersMessage(error)) return connection.close(badMessage, 'Invalid message received')
              log.error({ err: error }, 'socket message could not be handled')
              connection.close(1011, 'Internal error')
            })
          })
        },
      },
      client,
    )
    socket.on('close', (code, reason) => {
      client.isClosed = true
      this.#forget(client)
      for (const release of client.held.splice(0)) release()
      closed(code, String(reason)).catch((error: unknown) => log.error({ err: error }, 'socket could not be cleaned up'))
    })
  }

  #forget(client: Client): void {
    this.#clients.delete(client)
    this.#strangers.delete(client)
  }

  /** The key comes in the payload, as browsers cannot send headers with a WebSocket; headers of the request are taken too. */
  async #connect({ extra: client }: Context<Record<string, never>, Client>): Promise<boolean> {
    const { environments, feed, life, rateLimits } = this.#options
    const { credentials } = client
    try {
      const identity = await identifyListener(environments, credentials, client.address)
      // Of a server key nobody reads the token of a customer.
      client.credentials = identity.customerId === null ? { ...credentials, customerToken: undefined } : credentials
      rateLimits.take(identity, client.address)
      for (const place of this.#placesOf(identity)) hold(client, place)
      hold(client, await feed.hold(identity.environmentId))
      client.identity = identity
      client.connection.accept(identity.environmentId)
      this.#strangers.delete(client)
      return true
    } catch (error) {
      refuse(client.connection, Problem.from(error), life)
      return false
    }
  }

  #placesOf({ keyId, environmentId, customerId }: Identity): Array<() => void> {
    const { socketsPerKey, socketsPerCustomer } = this.#options.places
    const ofKey = this.#places.take(`key ${keyId}`, socketsPerKey)
    const ofCustomer = customerId === null ? () => {} : this.#places.take(`customer ${environmentId} ${customerId}`, socketsPerCustomer)
    if (ofKey && ofCustomer) return [ofKey, ofCustomer]
    ofKey?.()
    ofCustomer?.()
    this.#dropped.inc({ reason: 'places' })
    throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Too many sockets are open: close some, or listen to more on one.')
  }

  async #beat(): Promise<void> {
    for await (const client of inLots(this.#clients)) {
      const { socket, connection, isAlive, identity } = client
      if (!isAlive) {
        connection.drop('silent')
        continue
      }
      client.isAlive = false
      if (connection.isOpen) socket.ping()
      if (identity) void this.#recheck(client)
    }
  }

  /** Keys are revoked and expire while sockets live on. A look-up that fails otherwise says nothing about the key. */
  async #recheck({ connection, credentials, address }: Client): Promise<void> {
    const { environments, life } = this.#options
    try {
      await identifyListener(environments, credentials, address)
    } catch (error) {
      const problem = Problem.from(error)
      if (isRefusedKey(problem)) refuse(connection, problem, life)
    }
  }

  /** Resolves when all are closed or cut off. */
  async #closeAll(code: number, reason: string): Promise<void> {
    const closed: Promise<unknown>[] = []
    for await (const { socket, connection } of inLots(this.#clients)) {
      closed.push(new Promise((resolve) => socket.once('close', resolve)))
      connection.close(code, reason)
    }
    await Promise.all(closed)
  }
}

interface Client extends Subscriber {
  socket: WebSocket
  credentials: Credentials
  /** Of the caller. */
  address: string
  /** What is given back when the socket is closed: its places, and the environment's changes. */
  held: Array<() => void>
  isAlive: boolean
  isClosed: boolean
}

/** The types do not know of the time after which a close that is not answered cuts off. */
const serverOptions: WebSocketServerOptions & { closeTimeout: number } = {
  noServer: true,
  maxPayload: maxMessageBytes,
  handleProtocols,
  closeTimeout: closeTimeoutMs,
}

/** Clients of the protocol do not try again after it. */
const badMessage = 4400

/** A client says what only a server says (`next`, `error`, `connection_ack`): the library fails with no error of its own for it. */
const isServersMessage = (error: unknown): boolean =>
  error instanceof Error && /^Unexpected message of type \w+ received$/.test(error.message)

/** Older clients reconnect in a hot loop unless a refused key is told by just this code and reason. */
function refuse(connection: Connection, problem: Problem, { log }: Life): void {
  logProblem(log, 'socket', problem, {})
  if (isRefusedKey(problem)) connection.close(4403, 'Invalid API key')
  else connection.close(1013, 'Try again later')
}

/** The socket may have been closed while this was asked for. */
function hold(client: Client, release: () => void): void {
  if (client.isClosed) release()
  else client.held.push(release)
}

/** Takes one request of the address. */
function isWithinRate(rateLimits: RateLimits, address: string): boolean {
  try {
    rateLimits.takeFrom(address)
    return true
  } catch {
    return false
  }
}

/** In a stream that nobody else looks after: a peer that is gone already must not end the process. */
function refuseUpgrade(stream: Duplex, status: string): void {
  stream.on('error', () => stream.destroy())
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => stream.destroy())
}

/** With all others served between the lots. */
async function* inLots<Item>(items: Iterable<Item>): AsyncGenerator<Item, void> {
  let count = 0
  for (const item of items) {
    yield item
    count += 1
    if (count % socketsAtOnce === 0) await nextRound()
  }
}
