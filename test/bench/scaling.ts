import type { Comparison } from './figures/compare.js'
import { median, spread } from './figures/statistics.js'
import type { Benchmark } from './harness/benchmark.js'
import { HttpConnection, postRequest } from './load/http-connection.js'
import { wrong } from './sidecar-calls.js'
import { addCustomers, type ProcessName, startStack } from './stack/stack.js'

const copies = [1, 2, 4]
const customers = 100
const callers = 64
const warmUpMs = 1_000
const fewestRounds = 3

const catalog = {
  features: [{ refId: 'calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' }],
  products: [{ refId: 'cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      pricingType: 'FREE',
      entitlements: [{ feature: 'calls', limit: 1_000_000_000, resetPeriod: 'MONTH' }],
    },
  ],
}

const ofCustomer = (n: number) => ({ customerId: `customer-${n}`, featureId: 'calls' })
const operations = {
  checks: (n: number) => ({
    query: 'query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted currentUsage } }',
    variables: { query: ofCustomer(n) },
  }),
  reports: (n: number) => ({
    query: 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }',
    variables: { input: { ...ofCustomer(n), value: 1 } },
  }),
}

/** What more copies of a process are good for on this machine: as long as it has cores for them, and what they share is not what is full. */
export const scaling: Benchmark = {
  name: 'scaling',
  about: `checks with ${copies.join(', ')} web processes, reports with as many usage-ingestion workers, ${callers} at once; reference: one`,
  async run({ seconds, life, note }) {
    const stack = await startStack(life, catalog)
    await addCustomers(stack, customers, 'free')
    const webs = [await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })]
    await stack.start('usage-ingestion')
    await stack.start('cache-invalidation')
    const connections = new Map<string, HttpConnection[]>()
    const rate = async (kind: keyof typeof operations, urls: readonly string[], forMs: number): Promise<number> => {
      const requests = Array.from({ length: customers }, (_, n) =>
        postRequest('/graphql', { 'x-api-key': stack.serverKey }, JSON.stringify(operations[kind](n))),
      )
      const beganAt = performance.now()
      let count = 0
      await Promise.all(
        Array.from({ length: callers }, async (_, caller) => {
          const url = urls[caller % urls.length]!
          const free = connections.get(url) ?? []
          connections.set(url, free)
          const connection = free.pop() ?? life.open('connection', new HttpConnection(url), (c) => c.close())
          while (performance.now() - beganAt < forMs) {
            const answer = await connection.send(requests[count++ % customers]!)
            if (answer.includes('"errors"')) throw wrong(answer.slice(0, 300))
          }
          free.push(connection)
        }),
      )
      return count / ((performance.now() - beganAt) / 1_000)
    }

    const sides: [kind: keyof typeof operations, process: ProcessName, add: () => Promise<unknown>][] = [
      ['reports', 'usage-ingestion', () => stack.start('usage-ingestion')],
      ['checks', 'web', async () => webs.push(await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' }))],
    ]
    const forMs = (seconds * 1_000) / sides.length / copies.length / fewestRounds - warmUpMs / fewestRounds
    const comparisons: Comparison[] = []
    for (const [kind, process, add] of sides) {
      let running = 1
      let reference = Number.NaN
      for (const count of copies) {
        for (; running < count; running++) await add()
        const urls = webs.map(({ url }) => url)
        await rate(kind, urls, warmUpMs)
        const rates: number[] = []
        for (let round = 0; round < fewestRounds; round++) rates.push(await rate(kind, urls, forMs))
        const subject = Math.round(median(rates))
        if (count === 1) reference = subject
        note(`${count} ${process}: ${rates.map(Math.round).join(', ')} ${kind}/s`)
        const name = `scaling-${process}-${count}`
        comparisons.push({ name, subject, reference, ratio: subject / reference, unit: `${kind}/s`, spread: spread(rates) })
      }
    }
    return comparisons
  },
}
