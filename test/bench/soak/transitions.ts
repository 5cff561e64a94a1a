// `npm run -s soak:transitions [-- COUNT]`: subscriptions that all come due in the same minute, worked off by sweeps as the worker makes them, while new
// ones keep coming due. Prints the rate, and how long the new ones waited. On servers of its own, or those of TEST_DATABASE_URL and TEST_REDIS_URL.
import { fileURLToPath } from 'node:url'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { sweepDue } from '../../../src/platform/due-sweep.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { createApp } from '../../../src/wiring/app.js'
import { createTestDatabase } from '../../support/database.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { startTestServices } from '../../support/services.js'
import { describeMachine } from '../figures/machine.js'

const count = Number(process.argv[2] ?? 100_000)
/** As the worker does by default. */
const concurrency = 4
const newcomerEveryMs = 2_000

const catalog = `
features: [{ refId: calls, type: NUMBER, meter: Incremental }]
products:
  - { refId: desk, settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: solo } }
plans:
  - { refId: solo, product: desk, entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }] }
  - refId: plus
    product: desk
    entitlements: [{ feature: calls, limit: 1000, resetPeriod: MONTH }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 10 }]
`

/** As many customers as asked for; of each three one is renewed, one ends its trial, and one is at the end that was asked for. */
const fill = `
  WITH given AS (
    SELECT gen_random_uuid() AS customer_id, gen_random_uuid() AS id, n FROM generate_series(1, $2::int) AS n
  ), customers AS (
    INSERT INTO customer (environment_id, id, ref_id, updated_at) SELECT $1::uuid, customer_id, 'crowd-' || n, now() FROM given
  ), states AS (
    INSERT INTO customer_state (environment_id, customer_id, version, access_version) SELECT $1::uuid, customer_id, 1, 1 FROM given
  )
  INSERT INTO subscription (environment_id, id, ref_id, customer_id, product_id, plan_version_id, status, pricing_type, billing_period, start_date,
    trial_end_date, trial_end_behavior, cancellation_date, effective_end_date, billing_anchor, current_period_start, current_period_end, usage_anchor,
    due_at, updated_at)
  SELECT $1::uuid, given.id, given.id::text, given.customer_id, sample.product_id, sample.plan_version_id,
    (CASE WHEN n % 3 = 1 THEN 'IN_TRIAL' ELSE 'ACTIVE' END)::subscription_status, sample.pricing_type, sample.billing_period, due.at - interval '1 month',
    CASE WHEN n % 3 = 1 THEN due.at END, CASE WHEN n % 3 = 1 THEN 'CANCEL_SUBSCRIPTION'::trial_end_behavior END,
    CASE WHEN n % 3 = 2 THEN due.at - interval '1 day' END, CASE WHEN n % 3 = 2 THEN due.at END, due.at - interval '1 month',
    CASE WHEN n % 3 <> 1 THEN due.at - interval '1 month' END, CASE WHEN n % 3 <> 1 THEN due.at END, due.at - interval '1 month', due.at, now()
  FROM given, subscription sample, LATERAL (SELECT date_trunc('minute', now()) - (random() * interval '1 minute') AS at, given.n AS of) AS due
  WHERE sample.environment_id = $1::uuid`

const services = await startTestServices(fileURLToPath(new URL('../../../../', import.meta.url)), new AbortController().signal)
Object.assign(process.env, services.env)
const database = await createTestDatabase()
const life = new Life('soak', silentLogger())
try {
  const postgres = openPostgres(life, database.url, { poolSize: 10 })
  const clock = await DatabaseClock.open(life, postgres.pool)
  const app = createApp({ life, postgres, clock, queues: { redisUrl: testRedisUrl(), prefix: testRedisPrefix() } })
  const { environment } = await app.environments.create({ refId: 'soak' })
  const environmentId = environment.id
  await app.catalog.apply(environmentId, catalog, { dryRun: false, archiveMissing: false })
  const provision = async (refId: string) => {
    const { customer } = await app.customers.provision(environmentId, { refId, subscription: { planRefId: 'plus' } })
    return customer.id
  }
  await provision('sample')
  await postgres.pool.query(fill, [environmentId, count])
  await postgres.pool.query('ANALYZE')
  console.error(describeMachine())
  console.error(`${count} subscriptions came due in the same minute; a new one comes due every ${newcomerEveryMs / 1000} s`)

  const waits: number[] = []
  let isOver = false
  const newcomers = (async () => {
    for (let n = 0; !isOver; n += 1) {
      const customerId = await provision(`newcomer-${n}`)
      const cameDueAt = performance.now()
      const due = { environmentId, customerId, dueAt: { not: null } }
      await postgres.prisma.subscription.updateMany({
        where: due,
        data: { effectiveEndDate: new Date(), cancellationDate: new Date(), dueAt: new Date() },
      })
      while ((await postgres.prisma.subscription.count({ where: { environmentId, customerId, status: 'CANCELED' } })) === 0 && !isOver)
        await new Promise((resolve) => setTimeout(resolve, 20))
      if (!isOver) waits.push(performance.now() - cameDueAt)
      await new Promise((resolve) => setTimeout(resolve, newcomerEveryMs))
    }
  })()
  const startedAt = performance.now()
  const cpuBefore = process.cpuUsage()
  let applied = 0
  for (let left = count; left > 0; ) {
    applied += await sweepDue(
      { log: silentLogger(), signal: life.signal },
      { domain: app.dueTransitions, concurrency, label: 'due transitions' },
    )
    left = await postgres.prisma.subscription.count({ where: { environmentId, dueAt: { lte: new Date() } } })
  }
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  isOver = true
  await newcomers
  waits.sort((a, b) => a - b)
  const ms = (share: number) => Math.round(waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0)
  console.log(`${applied} customers in ${seconds.toFixed(1)} s: ${Math.round(applied / seconds)} a second with ${concurrency} at a time`)
  console.log(`${((cpu.user + cpu.system) / 1000 / applied).toFixed(2)} ms of CPU of this process for each`)
  console.log(`at most ${Math.round(process.resourceUsage().maxRSS / 1024)} MB of memory, what filled the database included`)
  console.log(`${waits.length} that came due meanwhile waited ${ms(0.5)} ms in the middle, ${ms(1)} ms at most`)
} finally {
  await life.stop()
  await database.drop()
  await services.stop()
}
process.exit()
