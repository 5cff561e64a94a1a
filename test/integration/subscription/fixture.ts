import { BillingLedger } from '../../../src/billing/ledger.js'
import { Problem } from '../../../src/kernel/problem.js'
import { readUsageOf } from '../../../src/metering/counting/current-usage.js'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { ProviderRequests } from '../../../src/subscription/use-cases/provider-requests.js'
import { type App, createApp } from '../../../src/wiring/app.js'
import { createTestDatabase } from '../../support/database.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { testWebhooks } from '../../support/webhooks.js'

export const day = 86_400_000

/** A product with a free fallback, and one whose plans are held per resource. */
const catalogText = `
features:
  - { refId: sso, type: BOOLEAN }
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: seats, type: NUMBER, meter: Fluctuating }
products:
  - refId: cloud
    settings: { newCustomer: FREE_PLAN, newCustomerPlan: free, endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free }
  - refId: rooms
    settings: { multipleSubscriptions: true }
plans:
  - refId: free
    product: cloud
    entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }, { feature: seats, limit: 1 }]
  - refId: team
    product: cloud
    basePlan: free
    compatibleAddons: [extra]
    defaultTrial: { duration: 14, units: DAY, endBehavior: CANCEL_SUBSCRIPTION }
    entitlements: [{ feature: calls, limit: 1000, resetPeriod: MONTH }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 29 }]
  - refId: business
    product: cloud
    basePlan: team
    compatibleAddons: [extra]
    entitlements: [{ feature: sso }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 199 }]
  - refId: room
    product: rooms
    entitlements: [{ feature: seats, limit: 20 }]
addons:
  - refId: extra
    product: cloud
    entitlements: [{ feature: calls, limit: 100, behavior: Increment, resetPeriod: MONTH }]
`

/** The services on a database of their own, each test in an environment of its own. */
export interface Bench extends Postgres, App {
  life: Life
  /** Of processes that a test starts beside itself. */
  databaseUrl: string
  queues: { redisUrl: string; prefix: string }
  /** With the catalog above applied and nothing left to deliver. */
  /** Parts of the services that a test makes services of its own with. */
  ledger: BillingLedger
  providerRequests: ProviderRequests
  createEnvironment(options?: { isTest?: boolean; catalog?: string }): Promise<string>
  /** Answers the failures of closing. */
  close(): Promise<Error[]>
}

export async function openBench(): Promise<Bench> {
  const database = await createTestDatabase()
  const life = new Life('test', silentLogger())
  const postgres = openPostgres(life, database.url, { poolSize: 10 })
  const queues = { redisUrl: testRedisUrl(), prefix: testRedisPrefix() }
  const app = createApp({ life, postgres, queues, clock: await DatabaseClock.open(life, postgres.pool), webhooks: testWebhooks })
  let count = 0
  return {
    ...postgres,
    ...app,
    life,
    databaseUrl: database.url,
    queues,
    ledger: new BillingLedger({ findUsage: readUsageOf }),
    providerRequests: new ProviderRequests({ prisma: postgres.prisma, provider: app.billingProvider }),
    async createEnvironment({ isTest = false, catalog = catalogText } = {}) {
      const { environment } = await app.environments.create({ refId: `environment-${++count}`, isTest })
      await app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
      await postgres.prisma.outboxMessage.deleteMany({ where: { environmentId: environment.id } })
      return environment.id
    },
    async close() {
      const failures = await life.stop()
      await database.drop()
      return failures
    },
  }
}

/** The stable reason of a refusal; null when there was none. */
export const reasonOf = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: unknown) => Problem.from(error).reason,
  )

/** As often at once as there are workers in a busy installation. */
export const atOnce = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 8 }, (_, index) => work(index)))
