import { advanceRounds } from '../../../src/changes/evaluations.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { newId } from '../../../src/kernel/id.js'
import type { NewAlert } from '../../../src/notifications/alerts/service.js'
import { Evaluator } from '../../../src/notifications/evaluation/evaluator.js'
import { bodyOf, type EventType } from '../../../src/notifications/model/catalog.js'
import { toldBody } from '../../../src/notifications/webhooks/records/deliveries.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { type MeteringBench, openMeteringBench, report } from '../metering/fixture.js'

export interface ToldEvent {
  id: string
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read as JSON
  data: any
}

const catalog = `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: seats, type: NUMBER, meter: Fluctuating }
  - { refId: requests, type: NUMBER, meter: Incremental, events: { aggregation: COUNT, filters: [[{ field: eventName, operation: EQUALS, value: request }]] } }
  - { refId: sso, type: BOOLEAN }
products:
  - { refId: cloud, settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free } }
  - { refId: rooms, settings: { multipleSubscriptions: true } }
plans:
  - refId: free
    product: cloud
    entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }, { feature: seats, limit: 5 }, { feature: requests, limit: 10, resetPeriod: MONTH }]
  - refId: team
    product: cloud
    basePlan: free
    entitlements: [{ feature: calls, limit: 100, resetPeriod: MONTH }, { feature: sso }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 29 }]
  - refId: endless
    product: cloud
    basePlan: free
    entitlements: [{ feature: calls, unlimited: true, resetPeriod: MONTH }, { feature: seats, limit: 0 }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 299 }]
  - refId: metered
    product: cloud
    entitlements: [{ feature: calls, limit: 1000, softLimit: true, resetPeriod: MONTH }]
    prices: [{ billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: 1, feature: calls }]
  - { refId: room, product: rooms, entitlements: [{ feature: seats, limit: 20 }] }
`

/** Counting as it is, and evaluations when the test asks for them. */
export interface AlertBench extends MeteringBench {
  evaluator: Evaluator
  newEvaluator(): Evaluator
  /** A test environment with a webhook endpoint, unless it has none. */
  openEnvironment(options?: { clockAt?: number; hasEndpoint?: boolean }): Promise<AlertEnvironment>
}

export interface AlertEnvironment {
  id: string
  createAlert(alert: Partial<NewAlert>): Promise<string>
  use(customerId: string, value: number, more?: Parameters<typeof report>[2]): Promise<unknown>
  /** Evaluates until nobody is due; answers what was told since the last time, in its order, each valid by its schema. */
  news(): Promise<ToldEvent[]>
  types(): Promise<string[]>
}

export async function openAlertBench(): Promise<AlertBench> {
  const bench = await openMeteringBench({ shards: 1 })
  bench.startIngestion()
  bench.startAggregation()
  const newEvaluator = () =>
    new Evaluator({
      pool: bench.pool,
      prisma: bench.prisma,
      entitlements: bench.app.entitlements,
      clock: bench.app.clock,
      announce: () => undefined,
      log: silentLogger(),
      metrics: createMetrics('evaluation'),
    })
  const evaluator = newEvaluator()
  const evaluateAll = async () => {
    while (await advanceRounds(bench.pool, 100));
    await evaluator.askEnded()
    while ((await evaluator.run(100)) > 0);
  }
  return {
    ...bench,
    evaluator,
    newEvaluator,
    async openEnvironment({ clockAt, hasEndpoint = true } = {}) {
      const { environment } = await bench.app.environments.create({ refId: newId(), isTest: true })
      const { id } = environment
      await bench.app.catalog.apply(id, catalog, { dryRun: false, archiveMissing: false })
      if (clockAt !== undefined) await bench.app.testClocks.create(id, clockAt)
      if (hasEndpoint) await bench.app.webhooks.create(id, { url: 'https://example.com/hooks' })
      const seen = new Set<string>()
      const news = async () => {
        await evaluateAll()
        const rows = await bench.prisma.notificationEvent.findMany({
          where: { environmentId: id },
          orderBy: [{ customerId: 'asc' }, { customerIndex: 'asc' }, { id: 'asc' }],
        })
        const fresh = rows.map((row) => toldBody(row)).filter((event) => !seen.has(event.id))
        for (const event of fresh) {
          seen.add(event.id)
          const read = bodyOf(event.type as EventType).safeParse(JSON.parse(JSON.stringify(event)))
          if (!read.success) throw new Error(`${event.type}: ${read.error.message}`)
        }
        return fresh.filter(({ type }) => /^(usage|budget|entitlements)\./.test(type)) as unknown as ToldEvent[]
      }
      return {
        id,
        createAlert: async (alert) => {
          const given = { featureId: 'calls', thresholds: [{ kind: 'SHARE' as const, value: decimal.fromText('80') }], ...alert }
          return (await bench.app.alerts.create(id, given)).id
        },
        use: (customerId, value, more) => bench.usage.report(id, [report(customerId, value, more)]),
        news,
        types: async () => (await news()).map(({ type }) => type),
      }
    },
  }
}

export const share = (value: number) => ({ kind: 'SHARE' as const, value: decimal.fromNumber(value) })
export const amount = (value: number) => ({ kind: 'AMOUNT' as const, value: decimal.fromNumber(value) })
