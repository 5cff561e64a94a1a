import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import * as decimal from '../../src/kernel/decimal.js'
import { eventually } from '../support/eventually.js'
import { quantile } from './figures/statistics.js'
import type { Benchmark } from './harness/benchmark.js'
import { HttpConnection, postRequest } from './load/http-connection.js'
import { wrong } from './sidecar-calls.js'
import { CpuMeter } from './stack/cpu-meter.js'
import { addCustomers, startStack } from './stack/stack.js'

const reportsPerSecond = 200
/** Until the webhook of it has arrived. */
const targetMs = 5_000
/** One that has not arrived by then never will. */
const neverMs = 60_000
/** The customers that there are when an alert is made are looked at first, twice. */
const settledWithinMs = 180_000

const catalog = {
  features: [{ refId: 'calls', type: 'NUMBER', meter: 'Incremental', units: 'call', unitsPlural: 'calls' }],
  products: [{ refId: 'cloud' }],
  plans: [
    { refId: 'free', product: 'cloud', pricingType: 'FREE', entitlements: [{ feature: 'calls', limit: 1_000, resetPeriod: 'MONTH' }] },
  ],
}

/** From an acknowledged report that reaches a threshold until an endpoint of the host application has heard of it, where each report reaches one. */
export const alerts: Benchmark = {
  name: 'alerts',
  about: `from commit to delivered webhook, ${reportsPerSecond} reports a second that each reach a threshold; reference: ${targetMs} ms`,
  async run({ seconds, life, note }) {
    const stack = await startStack(life, catalog)
    const count = reportsPerSecond * seconds
    await addCustomers(stack, count + 1, 'free')
    const heardAt = new Map<string, number>()
    const receiver = createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        response.writeHead(204).end()
        const { type, data } = JSON.parse(text) as { type: string; data: { customerId: string } }
        if (type === 'usage.threshold_reached' && !heardAt.has(data.customerId)) heardAt.set(data.customerId, performance.now())
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    life.open('receiver', receiver, (server) => server.close())
    const { port } = receiver.address() as AddressInfo
    const { webhooks, alerts: service } = stack.app
    await webhooks.create(stack.environmentId, { url: `http://127.0.0.1:${port}/events` })
    await service.create(stack.environmentId, { featureId: 'calls', thresholds: [{ kind: 'AMOUNT', value: decimal.fromNumber(1) }] })
    const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
    for (const name of ['usage-ingestion', 'cache-invalidation', 'alert-evaluation', 'webhook-delivery'] as const) await stack.start(name)
    const isSettled = async () => {
      const { rows } = await stack.pool.query('SELECT FROM evaluation_round UNION ALL SELECT FROM customer_evaluation LIMIT 1')
      return rows.length === 0
    }
    await eventually('the first look at all customers', isSettled, settledWithinMs)

    const free: HttpConnection[] = []
    const reportedAt = new Map<string, number>()
    const report = async (customerId: string) => {
      const connection = free.pop() ?? life.open('connection', new HttpConnection(web.url), (c) => c.close())
      const query = 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }'
      const variables = { input: { customerId, featureId: 'calls', value: 1 } }
      const answer = await connection.send(postRequest('/graphql', { 'x-api-key': stack.serverKey }, JSON.stringify({ query, variables })))
      reportedAt.set(customerId, performance.now())
      free.push(connection)
      if (answer.includes('"errors"')) throw wrong(`A report was answered ${answer.slice(0, 300)}`)
    }
    const cpu = new CpuMeter(stack)
    const beganAt = performance.now()
    const reports: Promise<void>[] = []
    for (let n = 1; n <= count; n++) {
      await sleep(Math.max(0, beganAt + (n * 1_000) / reportsPerSecond - performance.now()))
      reports.push(report(`customer-${n}`))
    }
    await Promise.all(reports)
    const ms = performance.now() - beganAt
    note(`${Math.round((count * 1_000) / ms)} reports per second`)
    note([...cpu.lap()].map(([name, used]) => `${name} ${Math.round(used / 10 / ms)} %`).join(', '))
    const until = performance.now() + neverMs
    while (heardAt.size < count && performance.now() < until) await sleep(50)
    if (heardAt.size < count) throw wrong(`Of ${count} thresholds that were reached ${heardAt.size} were heard of in ${neverMs / 1_000} s`)
    const times = [...heardAt].map(([customerId, at]) => at - reportedAt.get(customerId)!)
    return [0.99, 0.5].map((q) => {
      const subject = quantile(times, q)
      return { name: `alerts-p${q * 100}`, subject, reference: targetMs, ratio: subject / targetMs, unit: 'ms', spread: 0 }
    })
  },
}
