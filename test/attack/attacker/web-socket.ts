import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { Attacker } from './attacker.js'
import { open } from './http.js'

/** The bytes of a WebSocket without a client that keeps to the rules: once it is let in, what comes back is never read. */
export async function openDeaf(attacker: Attacker, address: string): Promise<Socket> {
  const socket = open(new URL(attacker.target.webUrl), address)
  const lines = [
    'GET /graphql HTTP/1.1',
    'host: localhost',
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-protocol: graphql-transport-ws',
    `sec-websocket-key: ${randomBytes(16).toString('base64')}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await onceAny(socket, ['data', 'close'], attacker.signal)
  return socket.pause()
}

const pingOpcode = 0x89
const maskedPayload = 0x80
/** The longest payload of a control frame. */
const pingPayload = 125

/** So many pings, as a client sends them: masked, with zeros, which leaves the payload as it is. */
export function pings(count: number): Buffer {
  const frame = Buffer.concat([Buffer.from([pingOpcode, maskedPayload | pingPayload, 0, 0, 0, 0]), Buffer.alloc(pingPayload, 'p')])
  return Buffer.concat(Array.from({ length: count }, () => frame))
}

/** Writes it again and again, as fast as the socket takes it, until it is closed or the end. */
export async function pour(attacker: Attacker, socket: Socket, bytes: Buffer): Promise<void> {
  while (!attacker.signal.aborted && !socket.destroyed) {
    if (!socket.write(bytes)) await onceAny(socket, ['drain', 'close'], attacker.signal)
    await new Promise(setImmediate)
  }
}

function onceAny(socket: Socket, events: readonly string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      for (const event of events) socket.off(event, finish)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    for (const event of events) socket.once(event, finish)
    signal.addEventListener('abort', finish)
  })
}

/** A client of the protocol; null when it was not let in. Counted as one try; `headers` of `connection_init`, absent: it is never sent. */
export function enter(attacker: Attacker, address: string, headers?: Record<string, string>): Promise<WebSocket | null> {
  const { signal, target } = attacker
  attacker.tried += 1
  return new Promise((resolve) => {
    const socket = new WebSocket(`${target.webUrl.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { localAddress: address })
    let isRefused = false
    const refuse = () => {
      if (!isRefused && !signal.aborted) attacker.refused += 1
      isRefused = true
      resolve(null)
    }
    socket.on('error', () => undefined)
    socket.on('close', refuse)
    signal.addEventListener('abort', () => resolve(null), { once: true })
    socket.on('open', () => {
      if (headers === undefined) return resolve(socket)
      socket.send(JSON.stringify({ type: 'connection_init', payload: { headers } }))
      socket.once('message', () => resolve(socket))
    })
  })
}

export const subscribe = (id: string, query: string): string => JSON.stringify({ id, type: 'subscribe', payload: { query } })
