import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface HttpCall {
  /** The caller's own. */
  address: string
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body?: string | Buffer
}

export interface HttpAnswer {
  /** 0: the connection was closed. */
  status: number
  /** Its beginning. */
  text: string
}

const closed: HttpAnswer = { status: 0, text: '' }
/** Enough to see whether it is an error. */
const keptCharacters = 4_000
const agents = new Map<string, Agent>()

function agentOf(address: string): Agent {
  const known = agents.get(address)
  if (known) return known
  const agent = new Agent({ keepAlive: true, localAddress: address })
  agents.set(address, agent)
  return agent
}

/** Never fails: a connection that is closed is an answer too. */
export function send(
  { hostname, port }: URL,
  { address, method, path, headers, body }: HttpCall,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const options = { hostname, port, method, path, headers: { ...headers, ...length }, agent: agentOf(address), signal }
    const sent = request(options, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        if (text.length < keptCharacters) text += chunk.toString('latin1', 0, keptCharacters)
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', () => resolve(closed))
      response.on('close', () => resolve(closed))
    })
    sent.on('error', () => resolve(closed))
    sent.end(body)
  })
}

export const isRefused = ({ status, text }: HttpAnswer): boolean => status === 0 || status >= 400 || text.includes('"errors":[')

/** A bare connection of a caller that speaks HTTP by hand. Errors show as its close. */
export function open({ hostname, port }: URL, address: string): Socket {
  const socket = connect({ host: hostname, port: Number(port), localAddress: address })
  socket.on('error', () => undefined)
  return socket
}

/** The head of a POST to the GraphQL API, whose body follows. */
export function headOf(length: number, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ host: 'localhost', 'content-type': 'application/json', ...headers, 'content-length': String(length) })
  return `POST /graphql HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}
