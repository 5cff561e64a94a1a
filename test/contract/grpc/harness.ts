import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { loadSync, type MessageTypeDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { readConfig } from '../../../src/platform/config.js'
import { type Logger, silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { sidecarDefinition } from '../../../src/sidecar/config/config.js'
import { serviceName, sidecarPackage } from '../../../src/sidecar/grpc/proto.js'
import { startSidecar } from '../../../src/wiring/sidecar.js'

/** A sidecar in this process, started from environment variables as a real one, and a client that speaks to it over TCP. */
export interface RunningSidecar {
  grpcPort: number
  httpPort: number
  /** Calls a method; rejects with the gRPC error. */
  call(method: string, request: object, deadlineMs?: number): Promise<Answer>
  /** The value of a metric, all its labels summed or only those given. */
  metric(name: string, label?: string): Promise<number>
  stop(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever message was answered
export type Answer = Record<string, any>

export async function runSidecar(env: Record<string, string>, log: Logger = silentLogger()): Promise<RunningSidecar> {
  // Reads over GraphQL only, so that each is one operation; tests of the edge turn it on.
  const quiet = {
    EDGE_ENABLED: 'FALSE',
    BIND_ADDRESS: '127.0.0.1',
    PORT: '0',
    SIDECAR_HTTP_PORT: '0',
    SHUTDOWN_TIMEOUT_MS: '1000',
  }
  const config = readConfig(sidecarDefinition.spec, { ...quiet, ...env }, sidecarDefinition.check)
  const life = new Life('sidecar', log)
  const { grpcPort, httpPort } = await startSidecar(config, life, () => import('../../../src/wiring/sidecar-direct-queue.js')).catch(
    async (error: unknown) => {
      await life.stop()
      throw error
    },
  )
  const client = new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure())
  const definition = sidecarPackage[serviceName] as ServiceDefinition
  return {
    grpcPort,
    httpPort,
    call(method, request, deadlineMs = 5_000) {
      const { path, requestSerialize, responseDeserialize } = definition[method]!
      return new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + deadlineMs }
        client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, new Metadata(), options, (error, answer) => {
          if (error) reject(error)
          else resolve(answer as Answer)
        })
      })
    },
    async metric(name, label = '') {
      const text = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`)).text()
      const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(label))
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    },
    async stop() {
      client.close()
      const failures = await life.stop()
      if (failures[0]) throw failures[0]
    },
  }
}

export async function errorOf(call: Promise<unknown>): Promise<ServiceError> {
  return call.then(
    (answer) => {
      throw new Error(`expected an error, got ${JSON.stringify(answer)}`)
    },
    (error) => error as ServiceError,
  )
}

/** Waits for a condition, for two seconds at most unless told otherwise. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, withinMs = 2_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const rpc = loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'], { includeDirs: ['proto'], keepCase: true })
const decode = (name: string, bytes: Buffer) =>
  (rpc[`google.rpc.${name}`] as MessageTypeDefinition<object, object>).deserialize(bytes) as Answer

/** What an error says beside its status: why, and which fields are to blame. */
export function detailsOf(error: ServiceError): { info: Answer; violations: Answer[] } {
  const status = decode('Status', error.metadata.get('grpc-status-details-bin')[0] as Buffer)
  const of = (name: string) =>
    status.details.find(({ type_url }: Answer) => type_url === `type.googleapis.com/google.rpc.${name}`)?.value as Buffer | undefined
  const request = of('BadRequest')
  return {
    info: decode('ErrorInfo', of('ErrorInfo')!),
    violations: request ? (decode('BadRequest', request).field_violations as Answer[]) : [],
  }
}
