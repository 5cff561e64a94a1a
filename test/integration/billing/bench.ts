import { type App, createApp } from '../../../src/app.js'
import type { FrozenClock } from '../../../src/kernel/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { createTestDatabase } from '../../support/database.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

/** Plans in two currencies, with seats, calls in arrears, a trial and an add-on. */
const catalogText = `
features:
  - { refId: seats, type: NUMBER, meter: Fluctuating }
  - { refId: calls, type: NUMBER, meter: Incremental }
products:
  - refId: cloud
    settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free }
plans:
  - { refId: free, product: cloud, entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }] }
  - refId: team
    product: cloud
    compatibleAddons: [support]
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 30 }
      - { billingModel: FLAT_FEE, billingPeriod: ANNUALLY, currency: USD, amount: 300 }
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 12, feature: seats }
      - { billingModel: PER_UNIT, billingPeriod: ANNUALLY, currency: USD, amount: 120, feature: seats }
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: JPY, amount: 3000 }
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: JPY, amount: 1200, feature: seats }
  - refId: business
    product: cloud
    compatibleAddons: [support]
    defaultTrial: { duration: 14, units: DAY, endBehavior: CONVERT_TO_PAID }
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 100 }
      - { billingModel: PER_UNIT, billingPeriod: MONTHLY, currency: USD, amount: 20, feature: seats }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: 0.0001, feature: calls }
addons:
  - refId: support
    product: cloud
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 49.99 }
coupons:
  - { refId: tenth, name: Ten percent, percentOff: 10 }
`

export interface Bench extends Postgres, App {
  clock?: FrozenClock
  /** Real or test; with the catalog above applied. */
  createEnvironment(): Promise<string>
  close(): Promise<Error[]>
}

export async function openBench(): Promise<Bench> {
  const database = await createTestDatabase()
  const life = new Life('test', silentLogger())
  const postgres = openPostgres(life, database.url, { poolSize: 20 })
  const app = createApp({ life, postgres, queues: { redisUrl: testRedisUrl(), prefix: testRedisPrefix() } })
  let count = 0
  return {
    ...postgres,
    ...app,
    createEnvironment: async () => {
      const { id } = await app.environments.create({ refId: `billing-${++count}`, displayName: 'Billing', isTest: true })
      await app.catalog.apply(id, catalogText, { dryRun: false, archiveMissing: false })
      return id
    },
    close: async () => {
      const failures = await life.close()
      await database.drop()
      return failures
    },
  }
}
