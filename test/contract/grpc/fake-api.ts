import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { EntitlementJson, StateJson } from '../../../src/reader/api/messages.js'

/** A metered entitlement as the API answers it, with whatever the test cares about changed. */
export function metered(featureId: string, changes: Partial<EntitlementJson> = {}): EntitlementJson {
  return {
    isGranted: true,
    accessDeniedReason: null,
    usageLimit: 10,
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: null,
    currentUsage: 0,
    resetPeriod: 'MONTH',
    resetPeriodConfiguration: { monthlyAccordingTo: 'SubscriptionStart' },
    usagePeriodAnchor: '2026-01-01T00:00:00.000Z',
    usagePeriodStart: '2026-01-01T00:00:00.000Z',
    usagePeriodEnd: '2126-01-01T00:00:00.000Z',
    validUntil: null,
    entitlementUpdatedAt: at(1),
    usageUpdatedAt: at(1),
    feature: { refId: featureId, featureType: 'NUMBER', meterType: 'Incremental', featureUnits: 'call', featureUnitsPlural: 'calls' },
    ...changes,
  }
}

const unmetered = {
  currentUsage: null,
  resetPeriod: null,
  resetPeriodConfiguration: null,
  usagePeriodAnchor: null,
  usagePeriodStart: null,
  usagePeriodEnd: null,
  usageUpdatedAt: null,
}

const featureOf = (refId: string, featureType: 'BOOLEAN' | 'NUMBER' | 'ENUM') => ({
  refId,
  featureType,
  meterType: 'None' as const,
  featureUnits: null,
  featureUnitsPlural: null,
})

export const boolean = (featureId: string, changes: Partial<EntitlementJson> = {}) =>
  metered(featureId, { ...unmetered, usageLimit: null, feature: featureOf(featureId, 'BOOLEAN'), ...changes })

export const numeric = (featureId: string, value: number | null, changes: Partial<EntitlementJson> = {}) =>
  metered(featureId, { ...unmetered, usageLimit: value, feature: featureOf(featureId, 'NUMBER'), ...changes })

export const enumerated = (featureId: string, enumValues: string[]) =>
  metered(featureId, { ...unmetered, usageLimit: null, enumValues, feature: featureOf(featureId, 'ENUM') })

/** Version n as the API writes it. */
export const at = (version: number) => new Date(Date.UTC(2026, 0, 1) + version).toISOString()

export const holding = (...entitlements: EntitlementJson[]): StateJson => ({ accessDeniedReason: null, entitlements })
export const deniedFor = (accessDeniedReason: string): StateJson => ({ accessDeniedReason, entitlements: [] })

/**
 * How the API behaves: as asked; an error of a code; an HTTP status with no GraphQL in it; accepting and never answering; or
 * closing the connection.
 */
export type Behaviour =
  | 'ok'
  | { code: string; message?: string; items?: object[]; outcome?: 'notCounted' | 'unknown' }
  | { status: number }
  | 'hangs'
  | 'breaks'

interface Operation {
  name: 'entitlementsState' | 'reportUsage' | 'reportUsageBulk' | 'reportEvent'
  variables: {
    query?: { customerId: string; resourceId: string | null }
    input?: ReportInput & { usages?: ReportInput[] }
    events?: { usageEvents: Record<string, unknown>[] }
  }
}

interface ReportInput extends Record<string, unknown> {
  customerId: string
  resourceId?: string
  featureId: string
  value: number
  idempotencyKey: string
}

interface Change {
  id: string
  kind: string
  customerId: string
  resourceId: string | null
  version?: number
  accessDeniedReason?: string | null
  entitlements?: EntitlementJson[] | null
  usage?: object | null
}

/**
 * Speaks the platform's door as a sidecar sees it: GraphQL over HTTP, and graphql-transport-ws. A real server on a real port, so
 * that what is tested is what goes over the wire.
 */
export class FakeApi {
  behaviour: Behaviour = 'ok'
  /** How it answers the next requests, one each, before it behaves as ever. */
  readonly next: Behaviour[] = []
  /** Answers wait for this before they are sent. */
  gate: Promise<void> = Promise.resolve()
  acceptedKey = 'server-test-key'
  /** How far its clock is ahead of ours. */
  aheadMs = 0
  /** `customer` or `customer/resource` to what it holds; others are unknown. */
  readonly states = new Map<string, StateJson>()
  readonly operations: Operation[] = []
  /** Of them, those that the database was to be asked for. */
  strongReads = 0
  port = 0
  /** TCP connections ever accepted. */
  connections = 0
  /** False: closes real-time connections at once. */
  acceptsSockets = true
  /** False: leaves pings of the protocol unanswered, as a half-open connection does. */
  answersPings = true
  /** How the edge API behaves; its reads are in `edgeReads` and not among the operations. */
  edgeBehaviour: Behaviour = 'ok'
  /** Raw paths. */
  readonly edgeReads: string[] = []
  /** The stream of changes. Emptied, what readers know is not in it any more. */
  changes: Change[] = []
  /** Of the platform, which every id says. */
  epoch = 'first'
  #lastChange = 0
  readonly #server: Server
  /** The live subscription of each socket that has one. */
  readonly #sockets = new Map<WebSocket, string | null>()

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
    this.#server.on('connection', () => {
      this.connections++
    })
    const webSockets = new WebSocketServer({ server: this.#server, path: '/graphql', handleProtocols: () => 'graphql-transport-ws' })
    webSockets.on('connection', (socket) => this.#converse(socket))
  }

  static async start(port = 0): Promise<FakeApi> {
    const api = new FakeApi()
    await new Promise<void>((resolve) => api.#server.listen(port, '127.0.0.1', resolve))
    api.port = (api.#server.address() as AddressInfo).port
    return api
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Operations of one name that arrived so far. */
  count(name: Operation['name']): number {
    return this.operations.filter((operation) => operation.name === name).length
  }

  /** Real-time connections that listen. */
  get listeners(): number {
    return [...this.#sockets.values()].filter((id) => id !== null).length
  }

  /** Adds a change to the stream and tells it to whoever listens. */
  push(change: Omit<Change, 'id'>): void {
    const told = { ...change, id: this.#nextId() }
    this.changes.push(told)
    for (const [socket, id] of this.#sockets) if (id !== null) tell(socket, id, told)
  }

  /** Pushes what the customer (or resource) holds now. */
  pushState(key: string): void {
    const [customerId = '', resourceId = null] = key.split('/')
    this.push({ kind: 'STATE', customerId, resourceId, ...(this.states.get(key) ?? deniedFor('CustomerNotFound')) })
  }

  pushUsage(key: string, featureId: string, currentUsage: number, version: number): void {
    const [customerId = '', resourceId = null] = key.split('/')
    const period = { usagePeriodStart: Date.UTC(2026, 0, 1), usagePeriodEnd: Date.UTC(2126, 0, 1) }
    this.push({ kind: 'USAGE', customerId, resourceId, usage: { featureId, currentUsage, ...period, updatedAt: Date.parse(at(version)) } })
  }

  dropConnections(): void {
    for (const socket of this.#sockets.keys()) socket.terminate()
  }

  #nextId(): string {
    return `${++this.#lastChange}-0@${this.epoch}`
  }

  async stop(): Promise<void> {
    this.dropConnections()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return this.#answerEdge(request, response)
    let text = ''
    for await (const chunk of request) text += chunk
    const { query, variables } = JSON.parse(text) as { query: string; variables: Operation['variables'] }
    // Not an operation that a test asks for.
    if (query.includes('KeyCheck')) return this.#respond(request, response, this.behaviour, 'testClock', () => null)
    const name = (['entitlementsState', 'reportUsage', 'reportUsageBulk', 'reportEvent'] as const).find((field) =>
      query.includes(`${field}(`),
    )
    if (!name) throw new Error(`the test API does not know ${query}`)
    this.operations.push({ name, variables })
    if (request.headers['x-consistency'] === 'strong') this.strongReads++
    await this.#respond(request, response, this.next.shift() ?? this.behaviour, name, () => this.#execute({ name, variables }))
  }

  async #answerEdge(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.edgeReads.push(request.url ?? '')
    const [, customerId = ''] = /^\/v1\/c\/([^/]+)\/entitlements-state\.json/.exec(request.url ?? '') ?? []
    const resourceId = new URL(request.url ?? '', this.url).searchParams.get('resourceId')
    const query = { customerId: decodeURIComponent(customerId), resourceId }
    await this.#respond(request, response, this.edgeBehaviour, 'entitlementsState', () =>
      this.#execute({ name: 'entitlementsState', variables: { query } }),
    )
  }

  async #respond(
    request: IncomingMessage,
    response: ServerResponse,
    behaviour: Behaviour,
    name: string,
    execute: () => unknown,
  ): Promise<void> {
    // What is answered is decided when the request arrives, as a database snapshot is.
    const data = behaviour === 'ok' ? structuredClone(execute()) : null
    await this.gate
    if (behaviour === 'hangs') return
    response.setHeader('x-server-time', String(Date.now() + this.aheadMs))
    if (behaviour === 'breaks') return void request.socket.destroy()
    if (behaviour !== 'ok' && 'status' in behaviour) return void response.writeHead(behaviour.status).end('<h1>no GraphQL here</h1>')
    const errorCode = behaviour !== 'ok' ? behaviour.code : request.headers['x-api-key'] !== this.acceptedKey ? 'Unauthenticated' : null
    const extensions = behaviour === 'ok' ? { code: errorCode } : { code: errorCode, items: behaviour.items, outcome: behaviour.outcome }
    const message = behaviour !== 'ok' ? (behaviour.message ?? 'refused') : 'The key is not known'
    const body = errorCode ? { data: null, errors: [{ message, extensions }] } : { data: { [name]: data } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  #execute({ name, variables: { query, input } }: Operation): unknown {
    if (name === 'entitlementsState' && query) {
      return (
        this.states.get(
          query.resourceId === null || query.resourceId === undefined ? query.customerId : `${query.customerId}/${query.resourceId}`,
        ) ?? deniedFor('CustomerNotFound')
      )
    }
    if (name === 'reportUsage' && input) return measured(input, 0)
    if (name === 'reportUsageBulk') return input?.usages?.map(measured)
    return null
  }

  #converse(socket: WebSocket): void {
    if (!this.acceptsSockets) return void socket.close(1013, 'Try again later')
    this.#sockets.set(socket, null)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as {
        type: string
        id?: string
        payload?: { query?: string; variables?: { after?: string }; headers?: Record<string, string> }
      }
      if (message.type === 'ping' && this.answersPings) socket.send('{"type":"pong"}')
      if (message.type === 'connection_init') {
        if (message.payload?.headers?.['X-API-KEY'] === this.acceptedKey) socket.send('{"type":"connection_ack"}')
        else socket.close(4403, 'Invalid API key')
      }
      if (message.type !== 'subscribe' || !message.id) return
      if (message.payload?.query?.includes('stateChanges(after: $after)'))
        this.#catchUp(socket, message.id, message.payload.variables?.after ?? '')
      else this.#sockets.set(socket, message.id)
    })
  }

  /** What was missed, without what it changed to; a position that is not in the stream is a gap. */
  #catchUp(socket: WebSocket, id: string, after: string): void {
    const position = this.changes.findIndex((change) => change.id === after)
    const nobody = { customerId: null, resourceId: null }
    if (this.changes.length === 0) this.changes.push({ id: this.#nextId(), kind: 'PACKAGE', customerId: '', resourceId: null })
    const last = this.changes.at(-1)!.id
    const missed = position === -1 ? [] : this.changes.slice(position + 1)
    for (const change of missed) tell(socket, id, { ...change, entitlements: null, usage: null })
    tell(socket, id, { ...nobody, id: last, kind: position === -1 ? 'GAP' : 'CAUGHT_UP' })
  }
}

function tell(socket: WebSocket, id: string, change: object): void {
  const whole = { accessDeniedReason: null, entitlements: null, usage: null, ...change }
  socket.send(JSON.stringify({ id, type: 'next', payload: { data: { stateChanges: whole } } }))
}

function measured({ customerId, resourceId, featureId, value }: ReportInput, index: number): object {
  const usage = { currentUsage: value, timestamp: at(100), usagePeriodStart: at(0), usagePeriodEnd: '2126-01-01T00:00:00.000Z' }
  return { id: `measurement-${index + 1}`, customerId, resourceId: resourceId ?? null, featureId, ...usage }
}
