import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { EntitlementJson, EntitlementsStateJson } from '../../../src/sidecar/api-messages.js'

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

export const holding = (...entitlements: EntitlementJson[]): EntitlementsStateJson => ({ accessDeniedReason: null, entitlements })
export const deniedFor = (accessDeniedReason: string): EntitlementsStateJson => ({ accessDeniedReason, entitlements: [] })

/**
 * How the API behaves: as asked; an error of a code; an HTTP status with no GraphQL in it; accepting and never answering; or
 * closing the connection.
 */
export type Behaviour = 'ok' | { code: string; message?: string; items?: object[] } | { status: number } | 'hangs' | 'breaks'

interface Operation {
  name: 'entitlementsState' | 'reportUsage' | 'reportEvent'
  variables: {
    query?: { customerId: string; resourceId: string | null }
    input?: ReportInput
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

/**
 * Speaks the platform's door as a sidecar sees it: GraphQL over HTTP, and graphql-transport-ws. A real server on a real port, so
 * that what is tested is what goes over the wire.
 */
export class FakeApi {
  behaviour: Behaviour = 'ok'
  /** Answers wait for this before they are sent. */
  gate: Promise<void> = Promise.resolve()
  acceptedKey = 'server-test-key'
  /** `customer` or `customer/resource` to what it holds; others are unknown. */
  readonly states = new Map<string, EntitlementsStateJson>()
  readonly operations: Operation[] = []
  port = 0
  /** TCP connections ever accepted. */
  connections = 0
  /** False: leaves pings of the protocol unanswered, as a half-open connection does. */
  answersPings = true
  readonly #server: Server
  readonly #sockets = new Set<{ socket: WebSocket; ids: Map<string, string> }>()

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

  /** Real-time connections with both subscriptions. */
  get listeners(): number {
    return [...this.#sockets].filter(({ ids }) => ids.size === 2).length
  }

  push(subscription: 'entitlementsUpdated' | 'usageUpdated', payload: object): void {
    for (const { socket, ids } of this.#sockets) {
      const id = ids.get(subscription)
      if (id) socket.send(JSON.stringify({ id, type: 'next', payload: { data: { [subscription]: payload } } }))
    }
  }

  /** Pushes what the customer (or resource) holds now. */
  pushState(key: string): void {
    const [customerId, resourceId = null] = key.split('/')
    this.push('entitlementsUpdated', { customerId, resourceId, ...(this.states.get(key) ?? deniedFor('CustomerNotFound')) })
  }

  pushUsage(key: string, featureId: string, currentUsage: number, version: number): void {
    const [customerId, resourceId = null] = key.split('/')
    const usage = {
      customerId,
      resourceId,
      featureId,
      currentUsage,
      usagePeriodStart: Date.UTC(2026, 0, 1),
      usagePeriodEnd: Date.UTC(2126, 0, 1),
    }
    this.push('usageUpdated', { usage, entitlement: { usageUpdatedAt: at(version) } })
  }

  dropConnections(): void {
    for (const { socket } of this.#sockets) socket.terminate()
  }

  async stop(): Promise<void> {
    this.dropConnections()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += chunk
    const { query, variables } = JSON.parse(text) as { query: string; variables: Operation['variables'] }
    const name = (['entitlementsState', 'reportUsage', 'reportEvent'] as const).find((field) => query.includes(`${field}(`))
    if (!name) throw new Error(`the test API does not know ${query}`)
    this.operations.push({ name, variables })
    const { behaviour } = this
    // What is answered is decided when the request arrives, as a database snapshot is.
    const data = behaviour === 'ok' ? structuredClone(this.#execute({ name, variables })) : null
    await this.gate
    if (behaviour === 'hangs') return
    if (behaviour === 'breaks') return void request.socket.destroy()
    if (behaviour !== 'ok' && 'status' in behaviour) return void response.writeHead(behaviour.status).end('<h1>no GraphQL here</h1>')
    const errorCode = behaviour !== 'ok' ? behaviour.code : request.headers['x-api-key'] !== this.acceptedKey ? 'Unauthenticated' : null
    const extensions =
      behaviour === 'ok' ? { code: errorCode } : { code: errorCode, ...(behaviour.items ? { items: behaviour.items } : {}) }
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
    if (name === 'reportUsage' && input) {
      const { customerId, resourceId = null, featureId, value } = input
      const usage = { currentUsage: value, timestamp: at(100), usagePeriodStart: at(0), usagePeriodEnd: '2126-01-01T00:00:00.000Z' }
      return { id: 'measurement-1', customerId, resourceId, featureId, ...usage }
    }
    return null
  }

  #converse(socket: WebSocket): void {
    const connection = { socket, ids: new Map<string, string>() }
    this.#sockets.add(connection)
    socket.on('close', () => this.#sockets.delete(connection))
    socket.on('error', () => {})
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as {
        type: string
        id?: string
        payload?: { query?: string; headers?: Record<string, string> }
      }
      if (message.type === 'ping' && this.answersPings) socket.send('{"type":"pong"}')
      if (message.type === 'connection_init') {
        if (message.payload?.headers?.['X-API-KEY'] === this.acceptedKey) socket.send('{"type":"connection_ack"}')
        else socket.close(4403, 'Invalid API key')
      }
      if (message.type === 'subscribe' && message.id) {
        connection.ids.set(/\busageUpdated \{/.test(message.payload?.query ?? '') ? 'usageUpdated' : 'entitlementsUpdated', message.id)
      }
    })
  }
}
