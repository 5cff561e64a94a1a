import { rm, stat } from 'node:fs/promises'
import type { Http2Server } from 'node:http2'
import { connect } from 'node:net'
import {
  logVerbosity,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import { listenError, StartError } from '../../platform/health.js'
import type { Life } from '../../platform/process.js'
import { Arrivals, largestRequestBytes } from './arrivals.js'
import { ofNames, serviceName, serviceNamed } from './proto.js'
import { addReflection } from './reflection-service.js'
import { beginInRounds } from './rounds.js'

/**
 * Of one connection at a time: each may hold a request that has not arrived whole, and all that are taken back at once cost some hundred microseconds each.
 * Clients wait for the end of another call.
 */
const mostStreams = 100

const serverOptions = {
  'grpc.max_receive_message_length': largestRequestBytes,
  'grpc.max_concurrent_streams': mostStreams,
  // Finds clients that vanished without closing.
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
  // Lets a load balancer in front of several sidecars move clients.
  'grpc.max_connection_age_ms': 60 * 60_000,
  'grpc.max_connection_age_grace_ms': 30_000,
  'grpc.enable_channelz': 0,
}

/**
 * A caller that takes its calls back at once has many of them begun all the same: a connection may take back as many as it may have open, and as many again a
 * second; then it is closed. grpc-js has no option for what `node:http2` takes (from Node 24 on; before, a thousand).
 */
const resetOptions = { streamResetBurst: mostStreams, streamResetRate: mostStreams }

/** What grpc-js has within. It makes a server for each address, and has no options for what is bounded here. */
interface WithinServer {
  commonServerOptions: object
  createHttp2Server(credentials: ServerCredentials): Http2Server
}

const isAsExpected = (server: object): server is WithinServer =>
  'commonServerOptions' in server &&
  typeof server.commonServerOptions === 'object' &&
  'createHttp2Server' in server &&
  typeof server.createHttp2Server === 'function'

/** Bounds what a connection takes back, how many calls begin at once, and what arrives. */
function boundCalls(server: Server, arrivals: Arrivals): void {
  const within: object = server
  if (!isAsExpected(within))
    throw new Error('This version of @grpc/grpc-js is another within than what bounds calls expects: see src/sidecar/grpc/server.ts')
  Object.assign(within.commonServerOptions, resetOptions)
  const { createHttp2Server } = within
  within.createHttp2Server = (credentials) => {
    const made = createHttp2Server.call(server, credentials)
    beginInRounds(made)
    arrivals.watch(made)
    return made
  }
}

interface GrpcServerOptions {
  handlers: UntypedServiceImplementation
  host: string
  port: number
  credentials: ServerCredentials
  /** Path of a Unix domain socket to serve on as well; null: none. */
  socketPath: string | null
  /** Fully qualified names under which the same service is served too. */
  aliases: readonly string[]
  /** What the health service tells; null: it is ready as long as it serves. */
  readiness: { isReady: boolean; onChange(listener: () => void): void } | null
  /** Time for calls in flight to end when the server stops. */
  drainMs: number
  /** For a request to arrive whole. */
  arrivalTimeoutMs?: number
}

/**
 * Serves the handlers, grpc.health.v1 and reflection; answers the port. On stop: not serving, no new calls, those in flight finish
 * within `drainMs`.
 */
export async function serveGrpc(life: Life, options: GrpcServerOptions): Promise<number> {
  const { handlers, host, credentials, socketPath, aliases, readiness, drainMs } = options
  // It writes to standard error past our log; what matters arrives as errors.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server(serverOptions)
  const arrivals = new Arrivals({ metrics: life.metrics, timeoutMs: options.arrivalTimeoutMs })
  boundCalls(server, arrivals)
  const names = [serviceName, ...aliases]
  for (const name of names) server.addService(serviceNamed(name), handlers)
  const statusNow = () => ((readiness?.isReady ?? true) && !life.signal.aborted ? 'SERVING' : 'NOT_SERVING')
  const health = new HealthImplementation(Object.fromEntries(['', ...names].map((name) => [name, statusNow()])))
  const tellHealth = () => {
    for (const name of ['', ...names]) health.setStatus(name, statusNow())
  }
  readiness?.onChange(tellHealth)
  health.addToServer({
    addService: (service: ServiceDefinition, methods: UntypedServiceImplementation) => server.addService(ofNames(service), methods),
  } as Server)
  addReflection(server)

  life.onStop('gRPC server', async () => {
    arrivals.stop()
    tellHealth()
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        server.forceShutdown()
        resolve()
      }, drainMs)
      server.tryShutdown(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  })

  const bind = (address: string, secured: ServerCredentials) =>
    new Promise<number>((resolve, reject) => {
      server.bindAsync(address, secured, (error, bound) => (error ? reject(toListenError(error, options)) : resolve(bound)))
    })
  const port = await bind(`${host.includes(':') ? `[${host}]` : host}:${options.port}`, credentials)
  if (socketPath !== null) {
    await removeStaleSocket(socketPath)
    // Who may open the socket is for the permissions of its folder to say.
    await bind(`unix:${socketPath}`, ServerCredentials.createInsecure())
  }
  return port
}

/** A process that was killed leaves its socket behind. One that somebody listens on is not touched. */
async function removeStaleSocket(path: string): Promise<void> {
  const isListenedOn = await new Promise<boolean>((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
  if (isListenedOn) throw new StartError(`another process listens on ${path}: stop it or choose another UNIX_SOCKET_PATH`)
  const found = await stat(path).catch(() => null)
  if (found?.isSocket()) await rm(path, { force: true })
  else if (found) throw new StartError(`UNIX_SOCKET_PATH ${path} exists and is not a socket`)
}

/** grpc-js hides the system's error code in its text. */
function toListenError(error: Error, { host, port }: { host: string; port: number }): Error {
  const code = /\b(EADDRINUSE|EACCES|EADDRNOTAVAIL)\b/.exec(error.message)?.[1]
  return code === undefined ? error : listenError(Object.assign(error, { code }), host, port)
}
