import { Client } from 'undici'
import * as decimal from '../../src/kernel/decimal.js'
import { newId } from '../../src/kernel/id.js'
import { Problem } from '../../src/kernel/problem.js'
import { Bindings } from '../../src/metering/bindings.js'
import { readTime } from '../../src/metering/counter-repository.js'
import { DatabaseClock } from '../../src/metering/database-clock.js'
import { Gatherer } from '../../src/metering/gatherer.js'
import { countingSession } from '../../src/metering/ingestion.js'
import { createIngestionMetrics } from '../../src/metering/ingestion-metrics.js'
import type { Call, ReportAnswer } from '../../src/metering/jobs.js'
import { checkReport, type ReportItem } from '../../src/metering/report.js'
import { ReportIngestion } from '../../src/metering/report-ingestion.js'
import { silentLogger } from '../../src/platform/logger.js'
import { openPostgres } from '../../src/platform/postgres.js'
import { Life } from '../../src/platform/process.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { compare, type Sample } from './compare.js'
import { addCustomers, type Stack, startStack } from './metering-stack.js'

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

type Measure = 'alone' | 'rate' | 'p99'
type Report = (caller: number) => Promise<void>

/** Acknowledged reports through GraphQL, the queue and a worker; beside it the same counting in one process, so that the price of the way is seen. */
export const report: Benchmark = {
  name: 'report',
  about: 'reportUsage through GraphQL, acknowledged, alone and 64 at once; reference: the same gathering and SQL without door and queue',
  async run({ seconds, life, note }) {
    const stack = await startStack(life, catalog)
    await addCustomers(stack, customers, 'free')
    const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
    const processes = [web, await stack.start('usage-ingestion'), await stack.start('cache-invalidation')]
    const through = overGraphql(life, stack, web.url)
    const direct = straight(life, stack)
    for (const side of [through, direct]) await measure(side)
    const cpu = async () => Promise.all(processes.map((p) => p.cpuMicroseconds()))
    return compare<Measure>({
      subject: async () => {
        const before = await cpu()
        const { reports, ...sample } = await measure(through)
        const after = await cpu()
        note(processes.map(({ name }, i) => `${name} ${Math.round((after[i]! - before[i]!) / reports)} µs`).join(', '))
        return sample
      },
      reference: async () => measure(direct),
      measures: {
        alone: { name: 'report-alone-p50', unit: 'ms' },
        rate: { name: 'report-64-rate', unit: 'reports/s' },
        p99: { name: 'report-64-p99', unit: 'ms' },
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

async function measure(report: Report): Promise<Sample<Measure> & { reports: number }> {
  const alone = await load(report, 1, aloneMs)
  const together = await load(report, callers, togetherMs)
  return {
    alone: at(alone.times, 0.5),
    rate: together.rate,
    p99: at(together.times, 0.99),
    reports: alone.times.length + together.times.length,
  }
}

const at = (sorted: number[], share: number) => sorted[Math.floor(sorted.length * share)]!

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
  times.sort((a, b) => a - b)
  return { times, rate: (times.length / (performance.now() - began)) * 1_000 }
}

let serial = 0
const nextCustomer = () => `customer-${serial++ % customers}`

function overGraphql(life: BenchmarkContext['life'], { serverKey }: Stack, url: string): Report {
  const clients = life.open(
    'clients',
    Array.from({ length: callers }, () => new Client(url)),
    (all) => Promise.all(all.map((client) => client.close())),
  )
  return async (caller) => {
    const variables = { input: { customerId: nextCustomer(), featureId: 'calls', value: 1 } }
    const { body } = await clients[caller]!.request({
      path: '/graphql',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': serverKey },
      body: JSON.stringify({ query: mutation, variables }),
    })
    const text = await body.text()
    if (!text.startsWith('{"data":{"reportUsage":{"id"')) throw new Problem('ABORTED', 'WRONG_ANSWERS', text.slice(0, 500))
  }
}

interface DirectCall {
  call: Call<ReportItem>
  answer?: ReportAnswer
}

function straight(life: BenchmarkContext['life'], { app, databaseUrl, environmentId }: Stack): Report {
  const { pool, prisma } = openPostgres(life, databaseUrl, { poolSize: 5, session: countingSession })
  const ingestion = new ReportIngestion({
    pool,
    bindings: new Bindings((id, places) =>
      prisma.$transaction((db) => app.entitlements.holdings(db, id, places), { isolationLevel: 'RepeatableRead' }),
    ),
    metrics: createIngestionMetrics(new Life('reference', silentLogger()).metrics),
    log: silentLogger(),
    clock: new DatabaseClock(() => readTime(pool)),
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
      customerId: nextCustomer(),
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
