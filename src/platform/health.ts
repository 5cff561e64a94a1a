import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Server as NetServer, Socket } from 'node:net'
import type { Registry } from './metrics.js'

/** Of an HTTP server from its beginning on: bytes and time for the head of a request, and time for all of it. */
export const headLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 1_000,
}

/** `UP` only when the process does its work: a worker with waiting jobs that finishes none is DOWN. Further fields are facts for operators. */
export interface Readiness {
  status: 'UP' | 'DOWN'
  [fact: string]: unknown
}

export interface HealthSource {
  ready: () => Readiness | Promise<Readiness>
  /** Null: they are on a port of their own, as `/metrics` says. */
  metrics: Registry | null
  /** What `/readyz` says of it; absent: everything. */
  toldAs?: (readiness: Readiness) => Readiness
  /** Paths without the leading slash. */
  livePath?: string
  readyPath?: string
}

/** Answers `/livez`, `/readyz` and `/metrics`; resolves to false when the path is another one and nothing was written. */
export function healthHandler({
  ready,
  metrics,
  toldAs = (readiness) => readiness,
  livePath = 'livez',
  readyPath = 'readyz',
}: HealthSource) {
  let written: Promise<string> | undefined
  /** One text for all who ask while it is made: some of its figures are asked for elsewhere. */
  const metricsText = (registry: Registry) => {
    written ??= registry.metrics().finally(() => {
      written = undefined
    })
    return written
  }
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const path = (request.url ?? '/').split('?')[0]
    if (path === `/${livePath}`) return answer(response, 200, { status: 'UP' })
    if (path === `/${readyPath}`) {
      const readiness = await Promise.resolve(ready()).catch(
        (error: unknown): Readiness => ({ status: 'DOWN', error: String((error as Error).message) }),
      )
      return answer(response, readiness.status === 'UP' ? 200 : 503, toldAs(readiness))
    }
    if (path === '/metrics' && metrics === null) return answer(response, 404, { error: 'Metrics have a port of their own: METRICS_PORT' })
    if (path === '/metrics' && metrics !== null) {
      const text = await metricsText(metrics)
      response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
      return true
    }
    return false
  }
}

function answer(response: ServerResponse, status: number, body: object): true {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body))
  return true
}

/** Of a process's health: a few probes and scrapers ask there. */
export const maxHealthConnections = 256
/** Nothing came, and nothing that was answered was taken, for so long. Probes ask anew. */
const idleMs = 20_000

/**
 * An HTTP server with nothing but health and metrics (processes that have no other). When all places are taken, the oldest connection makes room: whoever holds many
 * keeps no probe out.
 */
export function createHealthServer(source: HealthSource): Server {
  const handle = healthHandler(source)
  const server = createServer({ ...headLimits, keepAliveTimeout: 5_000 }, (request, response) => {
    handle(request, response).then(
      (handled) => {
        if (!handled) response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
      },
      () => response.destroy(),
    )
  })
  server.timeout = idleMs
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= maxHealthConnections) return
    const [oldest] = open
    // It is told that it has closed later, and others may come until then.
    open.delete(oldest!)
    oldest!.destroy()
  })
  return server
}

/** Listens, or says in a sentence why it can't. Answers the port. */
export async function listen(server: NetServer, { port, host }: { port: number; host: string }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : port
}

/** The sentence for a port that can't be had; other errors as they are. */
export function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE')
    return new StartError(`port ${port} on ${host} is already in use: stop the other process or choose another port`)
  if (error.code === 'EACCES') return new StartError(`no permission to listen on port ${port}: choose one above 1023`)
  if (error.code === 'EADDRNOTAVAIL') return new StartError(`${host} is not an address of this machine: check BIND_ADDRESS`)
  return error
}

/** A reason not to start that an operator can mend; printed as one sentence without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
