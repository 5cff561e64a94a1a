import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { ServiceDefinition } from '@grpc/proto-loader'
import { Problem } from '../../src/kernel/problem.js'
import { v8Flags } from '../../src/sidecar/config/v8-flags.js'
import { serviceName, sidecarPackage } from '../../src/sidecar/grpc/proto.js'
import { boolean, enumerated, type FakeApi, holding, metered, numeric } from '../contract/grpc/fake-api.js'
import type { BenchmarkContext } from './harness/benchmark.js'
import { ServerProcess } from './stack/server-process.js'

/** What the benchmarks of the sidecar have in common: two calls, and the servers that answer them. */

export interface BenchmarkedCall {
  method: 'GetMeteredEntitlement' | 'GetBooleanEntitlement'
  request: object
}

export const customerId = 'customer-1'

/** Of a customer that everything is held of. */
export const calls: readonly BenchmarkedCall[] = [
  { method: 'GetMeteredEntitlement', request: { customer_id: customerId, feature_id: 'feature-10', options: { requested_usage: 1 } } },
  { method: 'GetBooleanEntitlement', request: { customer_id: customerId, feature_id: 'feature-9' } },
]

/** Twenty of all types, as of one of two plans; the ones that are asked for are in the middle. */
export const entitlementsOf = (plan: number, currentUsage: number) =>
  holding(
    ...Array.from({ length: 20 }, (_, index) => {
      const id = `feature-${index}`
      if (index % 4 === 1) return boolean(id)
      if (index % 4 === 3) return index % 8 === 3 ? numeric(id, 25 * plan) : enumerated(id, ['small', 'large'])
      return metered(id, { usageLimit: 1_000 * plan, currentUsage })
    }),
  )

export const definitionOf = ({ method }: BenchmarkedCall) => (sidecarPackage[serviceName] as ServiceDefinition)[method]!

export async function startSidecar(
  life: BenchmarkContext['life'],
  api: FakeApi,
  options: { env?: Record<string, string>; nodeArgs?: string[] } = {},
): Promise<ServerProcess> {
  const env = {
    SERVER_API_KEY: api.acceptedKey,
    API_URL: api.url,
    EDGE_ENABLED: 'FALSE',
    // Nothing changes here, and nobody vouches for the entry: it has to stay fresh by itself.
    WS_ENABLED: 'FALSE',
    REFRESH_AFTER_SECS: '86400',
    BIND_ADDRESS: '127.0.0.1',
    PORT: '0',
    SIDECAR_HTTP_PORT: '0',
    // For the line that tells the ports.
    LOG_LEVEL: 'info',
    ...options.env,
  }
  const started = await ServerProcess.start('sidecar', new URL('../../src/sidecar/main.js', import.meta.url), {
    env,
    nodeArgs: options.nodeArgs,
  })
  return life.open('sidecar', started, (server) => server.stop())
}

/** A bare server that answers each method with the given bytes. */
export async function startReference(life: BenchmarkContext['life'], answers: Partial<Record<string, Buffer>>): Promise<ServerProcess> {
  const args = Object.entries(answers).flatMap(([method, bytes]) => [method, bytes!.toString('base64')])
  return life.open(
    'reference',
    // As the sidecar collects its garbage: by itself V8 gets into one of two states, by chance, that differ by a third.
    await ServerProcess.start('reference', new URL('./sidecar-reference.js', import.meta.url), { args, nodeArgs: v8Flags }),
    (server) => server.stop(),
  )
}

/** Makes the call as a client does and answers the message's bytes, after a look at what they say. */
export async function callOnce({ name, ports }: ServerProcess, call: BenchmarkedCall): Promise<Buffer> {
  const definition = definitionOf(call)
  const client = new Client(`127.0.0.1:${ports.grpcPort}`, credentials.createInsecure())
  try {
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      const asBytes = (message: Buffer) => message
      const options = { deadline: Date.now() + 5_000 }
      client.makeUnaryRequest(
        definition.path,
        definition.requestSerialize,
        asBytes,
        call.request,
        new Metadata(),
        options,
        (error, message) => {
          if (message === undefined) reject(error)
          else resolve(message)
        },
      )
    })
    const answer = definition.responseDeserialize(bytes) as { has_access: boolean; is_fallback: boolean; entitlement?: object }
    if (!answer.has_access || answer.is_fallback || !answer.entitlement) throw wrong(`The ${name} answers ${JSON.stringify(answer)}`)
    return bytes
  } finally {
    client.close()
  }
}

/** A figure of the sidecar's, by the beginning of its line in the metrics. */
export async function metricOf({ ports }: ServerProcess, name: string, label = ''): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${ports.httpPort}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(name) && one.includes(label) && !one.startsWith('#'))
  if (line === undefined) throw wrong(`The sidecar has no metric ${name}`)
  return Number(line.split(' ').at(-1))
}

/** Checks that the sidecar answered from its cache, fresh. */
export const countedHits = (server: ServerProcess) => metricOf(server, 'sidecar_cache_lookups_total', 'outcome="hit"')

/** A message as it goes over the wire: not compressed, and its length. */
export function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

export const wrong = (message: string) => new Problem('ABORTED', 'WRONG_ANSWERS', message)
