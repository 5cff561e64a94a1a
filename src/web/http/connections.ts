import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Counter, Gauge, type Registry } from '../../platform/metrics.js'
import type { TrustedProxies } from '../access/address.js'

export interface ConnectionLimits {
  /** Of all callers together. */
  connections: number
  /** Of one address. Trusted proxies bring those of many. */
  connectionsPerAddress: number
}

/** For an answer to be read, once it is there whole. */
export const writeTimeoutMs = 20_000
/** What the system has not taken of an answer, from which on somebody has to read. */
const unreadBytes = 16_384

/** Bounds who is connected, and for how long somebody may take to ask or to read. Before any of it is looked at. */
export function boundConnections(
  server: Server,
  {
    limits,
    trusted,
    metrics,
    timeoutMs = writeTimeoutMs,
  }: { limits: ConnectionLimits; trusted: TrustedProxies; metrics: Registry; timeoutMs?: number },
): void {
  const byAddress = new Map<string, number>()
  let open = 0
  const registers = [metrics]
  const refused = new Counter({
    name: 'tollgate_connections_refused_total',
    help: 'Connections that were closed at once, by reason',
    labelNames: ['reason'],
    registers,
  })
  const unread = new Counter({
    name: 'tollgate_answers_unread_total',
    help: 'Connections cut off because nobody read the answer',
    registers,
  })
  new Gauge({
    name: 'tollgate_connections',
    help: 'Open connections, WebSockets too',
    registers,
    collect() {
      this.set(open)
    },
  })

  server.on('connection', (socket: Socket) => {
    const address = trusted.connectedOf(socket)
    const ofAddress = (byAddress.get(address) ?? 0) + 1
    const isProxy = trusted.has(socket.remoteAddress ?? '')
    const reason = open >= limits.connections ? 'all' : ofAddress > limits.connectionsPerAddress && !isProxy ? 'address' : null
    if (reason !== null) {
      refused.inc({ reason })
      socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n')
      socket.destroySoon()
      return
    }
    open += 1
    byAddress.set(address, ofAddress)
    socket.once('close', () => {
      open -= 1
      const left = byAddress.get(address)! - 1
      if (left > 0) byAddress.set(address, left)
      else byAddress.delete(address)
    })
  })
  /** Since when somebody has left so much unread. What was sent one request after another is on one connection, so that is what is looked at. */
  const unreadSince = new Map<Socket, number>()
  const look = setInterval(() => {
    const now = performance.now()
    for (const [socket, since] of unreadSince) {
      if (socket.writableLength < unreadBytes) unreadSince.set(socket, now)
      else if (now - since > timeoutMs) {
        unread.inc()
        socket.destroy()
      }
    }
  }, timeoutMs / 8)
  look.unref()
  server.on('close', () => clearInterval(look))
  server.on('connection', (socket: Socket) => {
    unreadSince.set(socket, performance.now())
    socket.once('close', () => unreadSince.delete(socket))
  })
  // WebSockets have a bound of their own.
  server.on('upgrade', ({ socket }) => unreadSince.delete(socket))
}
