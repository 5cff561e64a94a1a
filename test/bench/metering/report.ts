import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import { Problem } from '../../../src/kernel/problem.js'
import { Bindings } from '../../../src/metering/counting/bindings.js'
import { countingSession } from '../../../src/metering/counting/counting-session.js'
import { createIngestionMetrics } from '../../../src/metering/ingestion/batch/batch-metrics.js'
import { ReportIngestion } from '../../../src/metering/ingestion/reports/report-ingestion.js'
import { checkReport, type ReportItem } from '../../../src/metering/model/report.js'
import type { Call, ReportAnswer } from '../../../src/metering/wire/call.js'
import { Gatherer } from '../../../src/platform/gatherer.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { compare, type Sample } from '../figures/compare.js'
import { quantile } from '../figures/statistics.js'
import type { Benchmark, BenchmarkContext } from '../harness/benchmark.js'
import { HttpConnection, postRequest } from '../load/http-connection.js'
import { CpuMeter, describeCpu, sumOf } from '../stack/cpu-meter.js'
import { addCustomers, type Stack, startStack } from '../stack/stack.js'
import { sendUntilAcknowledged } from './event-calls.js'
import { untilNone } from './event-load.js'

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
const callers = 64
const aloneMs = 1_500
const togetherMs = 2_500
const mutation = 'mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id currentUsage } }'

type Measure = 'alone' | 'rate' | 'p99' | 'pushed' | 'cpu'
type Report = (caller: number) => Promise<void>

/** Acknowledged reports through GraphQL, the queue and a worker; beside it the same counting in one process, so that the price of the way is seen. */
export const report: Benchmark = {
  name: 'report',
  about: 'reportUsage through GraphQL, acknowledged, alone and 64 at once; reference: the same gathering and SQL without door and queue',
  async run({ seconds, life, note }) {
    const stack = await startStack(life, catalog)
    await addCustomers(stack, customers, 'free')
    const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
    await stack.start('usage-ingestion')
    const delivery = await stack.start('cache-invalidation')
    const cpu = new CpuMeter(stack)
    const through = overGraphql(life, stack, web.url)
    const direct = straight(life, stack)
    const measure = async (of: 'report' | 'reference', report: Report): Promise<Sample<Measure>> => {
      const alone = await load(report, 1, aloneMs)
      cpu.lap()
      const began = performance.now()
      const { times, rate } = await load(report, callers, togetherMs)
      // The reference is alone: what it leaves is told later, and not by its side.
      if (of === 'report') await untilNone(stack, 'outbox_message')
      const pushed = (times.length / (performance.now() - began)) * 1_000
      const used = cpu.lap()
      note(`${of}: ${describeCpu(used, times.length, 'a report')}`)
      return { alone: quantile(alone.times, 0.5), rate, p99: quantile(times, 0.99), pushed, cpu: sumOf(used) / times.length }
    }
    const reference = async () => {
      const sample = await delivery.whileFrozen(() => measure('reference', direct))
      await untilNone(stack, 'outbox_message')
      return sample
    }
    await measure('report', through)
    await reference()
    return compare<Measure>({
      subject: () => measure('report', through),
      reference,
      measures: {
        alone: { name: 'report-alone-p50', unit: 'ms' },
        rate: { name: 'report-64-rate', unit: 'reports/s' },
        p99: { name: 'report-64-p99', unit: 'ms' },
        pushed: { name: 'report-64-pushed', unit: 'reports/s' },
        cpu: { name: 'report-64-cpu', unit: 'µs of CPU/report' },
      },
      rounds: 20,
      seconds,
      onRound: (round, { rate, alone }, bare) =>
        note(
          `round ${round}: ${Math.round(rate)} and ${Math.round(bare.rate)} reports/s; alone ${alone.toFixed(2)} and ${bare.alone.toFixed(2)} ms`,
        ),
    })
  },
}

/** Each of so many callers reports again as soon as it has its answer. Answers how long each waited, in ms. */
async function load(report: Report, count: number, forMs: number): Promise<{ times: number[]; rate: number }> {
  const times: number[] = []
  const began = performance.now()
  await Promise.all(
    Array.from({ length: count }, async (_, caller) => {
      while (performance.now() - began < forMs) {
        const startedAt = performance.now()
        await report(caller)
        times.push(performance.now() - startedAt)
      }
    }),
  )
  return { times, rate: (times.length / (performance.now() - began)) * 1_000 }
}

let serial = 0
const nextCustomer = () => serial++ % customers

function overGraphql(life: BenchmarkContext['life'], { serverKey }: Stack, url: string): Report {
  const connections = Array.from({ length: callers }, () => life.open('connection', new HttpConnection(url), (c) => c.close()))
  const requests = Array.from({ length: customers }, (_, customer) => {
    const variables = { input: { customerId: `customer-${customer}`, featureId: 'calls', value: 1 } }
    return postRequest('/graphql', { 'x-api-key': serverKey }, JSON.stringify({ query: mutation, variables }))
  })
  return async (caller) => {
    await sendUntilAcknowledged(connections[caller]!, requests[nextCustomer()]!, '{"data":{"reportUsage":{"id"')
  }
}

interface DirectCall {
  call: Call<ReportItem>
  answer?: ReportAnswer
}

function straight(life: BenchmarkContext['life'], { app, databaseUrl, environmentId }: Stack): Report {
  const { pool } = openPostgres(life, databaseUrl, { poolSize: 5, session: countingSession })
  const ingestion = new ReportIngestion({
    pool,
    bindings: new Bindings(app.heldSeries),
    metrics: createIngestionMetrics(new Life('reference', silentLogger()).metrics),
    log: silentLogger(),
    clock: app.clock,
  })
  const gatherer = new Gatherer<DirectCall>(500, async (_, calls) => {
    const answers = await ingestion.ingest(
      environmentId,
      calls.map(({ call }) => call),
      false,
    )
    for (const [index, call] of calls.entries()) call.answer = answers[index]!
  })
  return async () => {
    const usage = {
      customerId: `customer-${nextCustomer()}`,
      resourceId: null,
      featureId: 'calls',
      value: decimal.fromNumber(1),
      behavior: 'DELTA' as const,
      timestamp: null,
      idempotencyKey: null,
      dimensions: null,
    }
    const call: DirectCall = { call: { deadline: Date.now() + 4_000, items: [checkReport(usage, newId(), Date.now())] } }
    await gatherer.add(environmentId, call)
    if (!call.answer || 'problem' in call.answer) throw new Problem('ABORTED', 'WRONG_ANSWERS', JSON.stringify(call.answer))
  }
}
