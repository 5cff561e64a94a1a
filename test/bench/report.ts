import { Client } from 'undici'
import type { Benchmark } from './benchmark.js'
import { addCustomers, startStack } from './metering-stack.js'

const catalog = {
  features: [{ refId: 'calls', displayName: 'Calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' }],
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      displayName: 'Free',
      pricingType: 'FREE',
      entitlements: [{ feature: 'calls', limit: 1_000_000, resetPeriod: 'MONTH' }],
    },
  ],
}
const customers = 100
const mutation = 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id currentUsage } }'

/** Acknowledged reports through GraphQL. */
export const report: Benchmark = {
  name: 'report',
  about: 'reportUsage through GraphQL, acknowledged',
  async run({ seconds, life, note }) {
    const stack = await startStack(life, catalog)
    await addCustomers(stack, customers, 'free')
    const web = await stack.start('web')
    const processes = [web, await stack.start('usage-ingestion'), await stack.start('cache-invalidation')]
    const headers = { 'content-type': 'application/json', 'x-api-key': stack.serverKey }
    let serial = 0
    const call = async (client: Client): Promise<number> => {
      const customerId = `customer-${serial++ % customers}`
      const began = performance.now()
      const { body } = await client.request({
        path: '/graphql',
        method: 'POST',
        headers,
        body: JSON.stringify({ query: mutation, variables: { input: { customerId, featureId: 'calls', value: 1 } } }),
      })
      const text = await body.text()
      if (!text.startsWith('{"data":{"reportUsage":{"id"')) throw new Error(text)
      return performance.now() - began
    }
    const load = async (callers: number, ms: number) => {
      const clients = Array.from({ length: callers }, () => new Client(web.url))
      const times: number[] = []
      const cpu = await Promise.all(processes.map((p) => p.cpuMicroseconds()))
      const began = performance.now()
      await Promise.all(
        clients.map(async (client) => {
          while (performance.now() - began < ms) times.push(await call(client))
          await client.close()
        }),
      )
      const elapsed = performance.now() - began
      const after = await Promise.all(processes.map((p) => p.cpuMicroseconds()))
      times.sort((a, b) => a - b)
      const at = (share: number) => times[Math.floor(times.length * share)]!.toFixed(2)
      note(
        `${callers} callers: ${Math.round((times.length / elapsed) * 1000)}/s p50 ${at(0.5)} p99 ${at(0.99)} ms; CPU per report: ${processes
          .map((p, i) => `${p.name} ${Math.round((after[i]! - cpu[i]!) / times.length)} µs`)
          .join(', ')}`,
      )
    }
    await load(64, 3_000)
    for (let i = 0; i < 2; i++) {
      await load(1, (seconds * 1000) / 8)
      if (!process.env.LONE) await load(64, (seconds * 1000) / 4)
    }
    return []
  },
}
