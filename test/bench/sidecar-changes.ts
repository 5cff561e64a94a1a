import { setTimeout as sleep } from 'node:timers/promises'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { Pool } from 'undici'
import { Problem } from '../../src/kernel/problem.js'
import type { Comparison } from './figures/compare.js'
import { quantile, significant } from './figures/statistics.js'
import type { Benchmark } from './harness/benchmark.js'
import { definitionOf, metricOf } from './sidecar-calls.js'
import { ServerProcess } from './stack/server-process.js'
import { addCustomers, startStack } from './stack/stack.js'

const changesPerSecond = 200
const customers = 400
/** What a change may take until the sidecar answers with it. */
const targetMs = 250
/** How exactly it is seen. */
const lookEveryMs = 3
const warmUpSeconds = 3

const featureId = 'calls'
const catalog = {
  features: [{ refId: featureId, displayName: 'Calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' }],
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      displayName: 'Free',
      pricingType: 'FREE',
      entitlements: [{ feature: featureId, limit: 1_000_000, resetPeriod: 'MONTH' }],
    },
  ],
}
const definition = definitionOf({ method: 'GetMeteredEntitlement', request: {} })

/** From the acknowledgement of a change by the API until a connected sidecar answers with it, through all processes in between. */
export const sidecarChanges: Benchmark = {
  name: 'sidecar-changes',
  about: `commit to visible in a sidecar, at ${changesPerSecond} changes per second; reference: ${targetMs} ms`,
  async run({ seconds, life, note }) {
    const stack = await startStack(life, catalog)
    await addCustomers(stack, customers, 'free')
    const web = await stack.start('web')
    await stack.start('usage-ingestion')
    await stack.start('cache-invalidation')
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

    const pool = life.open('pool', new Pool(web.url, { connections: 32 }), (p) => p.destroy())

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
    /** Null: not counted in time, so nothing changed. */
    const report = async (customerId: string): Promise<number | null> => {
      const query = 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }'
      const { body } = await pool.request({
        method: 'POST',
        path: '/graphql',
        headers: { 'content-type': 'application/json', 'x-api-key': stack.serverKey },
        body: JSON.stringify({ query, variables: { input: { customerId, featureId, value: 1 } } }),
      })
      const { data, errors } = (await body.json()) as {
        data?: { reportUsage: { currentUsage: number } }
        errors?: { message: string; extensions: { code: string } }[]
      }
      if (errors?.[0]?.extensions.code === 'Timeout') return null
      if (!data) throw new Problem('ABORTED', 'WRONG_ANSWERS', `A report was not acknowledged: ${errors?.[0]?.message}`)
      return data.reportUsage.currentUsage
    }
    const names = Array.from({ length: customers }, (_, n) => `customer-${n}`)
    while ((await metricOf(sidecar, 'sidecar_real_time_connected')) !== 1) await sleep(50)
    for (const name of names) await usageOf(name)

    const delays: number[] = []
    const answers: number[] = []
    let lateReports = 0
    const change = async (customerId: string, isCounted: boolean) => {
      const sentAt = performance.now()
      const usage = await report(customerId)
      const committedAt = performance.now()
      if (usage === null) {
        lateReports++
        return
      }
      while (((await usageOf(customerId)) ?? 0) < usage) {
        if (performance.now() - committedAt > 10_000)
          throw new Problem('ABORTED', 'WRONG_ANSWERS', `${customerId} is not seen to have used ${usage}`)
        await sleep(lookEveryMs)
      }
      if (!isCounted) return
      delays.push(performance.now() - committedAt)
      answers.push(committedAt - sentAt)
    }
    const running: Promise<void>[] = []
    const beganAt = performance.now()
    const total = Math.round((seconds + warmUpSeconds) * changesPerSecond)
    for (let n = 0; n < total; n++) {
      const wait = beganAt + (n * 1_000) / changesPerSecond - performance.now()
      if (wait > 0) await sleep(wait)
      const changed = change(names[n % customers]!, n >= warmUpSeconds * changesPerSecond)
      changed.catch(() => undefined)
      running.push(changed)
    }
    await Promise.all(running)
    const rate = (total / (performance.now() - beganAt)) * 1_000
    if (lateReports > 0) note(`${lateReports} reports were not counted in time: this machine is too slow, or busy`)
    note(
      `${Math.round(rate)} changes per second; reports were answered in ${quantile(answers, 0.5).toFixed(1)} ms (p50), ${quantile(answers, 0.99).toFixed(1)} ms (p99)`,
    )
    const measure = (name: string, q: number): Comparison => {
      const subject = significant(quantile(delays, q))
      return { name, subject, reference: targetMs, ratio: significant(subject / targetMs), unit: 'ms', spread: 0 }
    }
    return [measure('sidecar-changes-p99', 0.99), measure('sidecar-changes-p50', 0.5)]
  },
}
