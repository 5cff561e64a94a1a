import { setTimeout as sleep } from 'node:timers/promises'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { changesPerSecond, featureId, measureChanges, startChanges } from './changes.js'
import type { Benchmark } from './harness/benchmark.js'
import { definitionOf, metricOf } from './sidecar-calls.js'
import { ServerProcess } from './stack/server-process.js'

/** What a change may take until the sidecar answers with it. */
const targetMs = 250

const definition = definitionOf({ method: 'GetMeteredEntitlement', request: {} })

/** From the acknowledgement of a change by the API until a connected sidecar answers with it, through all processes in between. */
export const sidecarChanges: Benchmark = {
  name: 'sidecar-changes',
  about: `commit to visible in a sidecar, at ${changesPerSecond} changes per second; reference: ${targetMs} ms`,
  async run({ seconds, life, note }) {
    const { stack, web } = await startChanges(life)
    const env = {
      SERVER_API_KEY: stack.serverKey,
      API_URL: web.url,
      BIND_ADDRESS: '127.0.0.1',
      PORT: '0',
      SIDECAR_HTTP_PORT: '0',
      LOG_LEVEL: 'info',
    }
    const sidecar = life.open(
      'sidecar',
      await ServerProcess.start('sidecar', new URL('../../src/sidecar/main.js', import.meta.url), { env }),
      (server) => server.stop(),
    )
    const client = life.open('client', new Client(`127.0.0.1:${sidecar.ports.grpcPort}`, credentials.createInsecure()), (c) => c.close())

    /** Null when the call failed. */
    const usageOf = (customerId: string): Promise<number | null> =>
      new Promise((resolve) => {
        const request = { customer_id: customerId, feature_id: featureId }
        const options = { deadline: Date.now() + 5_000 }
        client.makeUnaryRequest(
          definition.path,
          definition.requestSerialize,
          definition.responseDeserialize,
          request,
          new Metadata(),
          options,
          (error, answer) =>
            resolve(error ? null : ((answer as { entitlement?: { current_usage?: number } }).entitlement?.current_usage ?? 0)),
        )
      })
    while ((await metricOf(sidecar, 'sidecar_real_time_connected')) !== 1) await sleep(50)
    return measureChanges({ name: 'sidecar-changes', targetMs, stack, web, usageOf, seconds, life, note })
  },
}
