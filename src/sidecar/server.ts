import { logVerbosity, Server, ServerCredentials, setLogVerbosity, type UntypedServiceImplementation } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { HealthImplementation } from 'grpc-health-check'
import { listenError } from '../platform/health.js'
import type { Life } from '../platform/process.js'
import { serviceName, sidecarService } from './proto.js'
import { reflectedPackage } from './reflection.js'

/** A batch of 1,000 events with their dimensions; the API has its own limits. */
const largestRequestBytes = 32 * 1024 * 1024

const serverOptions = {
  'grpc.max_receive_message_length': largestRequestBytes,
  // Finds clients that vanished without closing.
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
  // Lets a load balancer in front of several sidecars move clients.
  'grpc.max_connection_age_ms': 60 * 60_000,
  'grpc.max_connection_age_grace_ms': 30_000,
  'grpc.enable_channelz': 0,
}

/**
 * Serves the handlers, grpc.health.v1 and reflection; answers the port. On stop: not serving, no new calls, those in flight finish
 * within `drainMs`.
 */
export async function serveGrpc(
  life: Life,
  handlers: UntypedServiceImplementation,
  address: { host: string; port: number },
  drainMs: number,
): Promise<number> {
  // It writes to standard error past our log; what matters arrives as errors.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server(serverOptions)
  server.addService(sidecarService, handlers)
  const health = new HealthImplementation({ '': 'SERVING', [serviceName]: 'SERVING' })
  health.addToServer(server)
  new ReflectionService(reflectedPackage()).addToServer(server)

  const port = await new Promise<number>((resolve, reject) => {
    const host = address.host.includes(':') ? `[${address.host}]` : address.host
    server.bindAsync(`${host}:${address.port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(toListenError(error, address))
      else resolve(bound)
    })
  })
  life.onStop('gRPC server', async () => {
    health.setStatus('', 'NOT_SERVING')
    health.setStatus(serviceName, 'NOT_SERVING')
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
  return port
}

/** grpc-js hides the system's error code in its text. */
function toListenError(error: Error, { host, port }: { host: string; port: number }): Error {
  const code = /\b(EADDRINUSE|EACCES|EADDRNOTAVAIL)\b/.exec(error.message)?.[1]
  return code === undefined ? error : listenError(Object.assign(error, { code }), host, port)
}
