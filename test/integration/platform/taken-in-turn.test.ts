import { expect } from 'chai'
import { Client } from 'pg'
import { findLateUsageDue, findUncollected } from '../../../src/billing/records/due.js'
import { findWaiting } from '../../../src/billing/records/intents.js'
import { findAbandoned, findNext } from '../../../src/customer/records/imports.js'
import { findDueCustomers as findPromotionalDue } from '../../../src/entitlement/records/promotional.js'
import type { PrismaClient } from '../../../src/platform/postgres.js'
import { dueLagSeconds, findDueCustomers } from '../../../src/subscription/records/due.js'
import { customersOnOlderVersions, openMigrations } from '../../../src/subscription/records/migrations.js'
import { findEndingTrials } from '../../../src/subscription/records/trial-reminders.js'
import { lookedAt } from '../../support/looked-at.js'
import { type Bench, newAcme, openBench, start } from '../billing/fixture.js'

const manyCalls = 100_000
const many = 3_000
const limit = 20
/** Each part of a plan counts what it hands on. */
const mostLookedAt = 500

describe('what is due in many environments', function () {
  this.timeout(300_000)
  let bench: Bench
  let crowded: string
  let other: string

  before(async () => {
    bench = await openBench()
    crowded = await newAcme(bench)
    other = await newAcme(bench)
    for (const environmentId of [crowded, other]) {
      await bench.prisma.environment.update({ where: { id: environmentId }, data: { hearsEvents: true } })
      const billing = { collectionMethod: 'INVOICE' as const }
      await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'team', billing })
      await bench.customers.provision(environmentId, { refId: 'trying' })
      await bench.subscriptions.provision(environmentId, { customerRefId: 'trying', planRefId: 'tried' })
      await bench.promotional.grant(environmentId, 'acme', [
        { featureRefId: 'calls', usageLimit: 1, period: 'CUSTOM', customEndDate: start + 86_400_000 },
      ])
      await bench.imports.start(environmentId, 'CUSTOMERS', [{ refId: 'imported' }])
      const tried = { refId: 'tried', product: 'cloud', displayName: 'Tried', publish: 'ALL_CUSTOMERS' }
      await bench.catalog.apply(environmentId, { plans: [tried] }, { dryRun: false, archiveMissing: false })
    }
    await fill()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** All is due in both, in the crowded one before that of the other. */
  async function fill(): Promise<void> {
    await bench.pool.query(`
      UPDATE environment SET test_clock = test_clock + interval '12 days' WHERE id IN ('${crowded}', '${other}');
      UPDATE subscription_billing SET payment_due_at = '2026-01-02', late_usage_due_at = '2026-01-02';
      UPDATE invoice SET failed_since = '2026-01-02';
      UPDATE subscription SET due_at = '2026-01-02' WHERE status = 'IN_TRIAL';
      UPDATE import_job SET created_at = '2026-01-02'`)
    // What is made here takes longer than a process may take for a statement.
    const client = new Client({ connectionString: bench.databaseUrl })
    await client.connect()
    const copies = (table: string, count: number, columns: string, where = 'true') =>
      client.query(`
        INSERT INTO ${table} SELECT (jsonb_populate_record(one, jsonb_build_object(${columns}))).*
        FROM (SELECT copied AS one FROM ${table} AS copied WHERE environment_id = '${crowded}' AND ${where} LIMIT 1) AS known
        CROSS JOIN generate_series(1, ${count}) AS n`)
    try {
      // What they refer to need not be there.
      await client.query("SET session_replication_role = 'replica'")
      const id = "'id', gen_random_uuid()"
      const holder = "'subscription_id', gen_random_uuid(), 'customer_id', gen_random_uuid()"
      await copies(
        'billing_intent',
        manyCalls,
        `${id}, ${holder}, 'idempotency_key', n::text, 'sequence', -n, 'next_attempt_at', '2026-01-01'`,
      )
      await copies('subscription_billing', many, `${holder}, 'payment_due_at', '2026-01-01', 'late_usage_due_at', '2026-01-01'`)
      await copies('invoice', many, `${id}, ${holder}, 'billing_id', null, 'failed_since', '2026-01-01'`)
      // Some came due before that of the other, some after it.
      const due = "'due_at', CASE n % 2 WHEN 0 THEN '2026-01-01' ELSE '2026-01-03' END"
      await copies('subscription', many, `${id}, 'ref_id', n::text, 'customer_id', gen_random_uuid(), ${due}`, "status = 'IN_TRIAL'")
      await copies('package_migration', many, `${id}, 'package_id', gen_random_uuid(), 'created_at', '2027-01-01'`)
      await copies('promotional_entitlement', many, `${id}, 'customer_id', gen_random_uuid()`)
      await copies('import_job', many, `${id}, 'created_at', '2026-01-01'`)
      await client.query('ANALYZE')
    } finally {
      await client.end()
    }
  }

  type Found = readonly { environmentId: string }[]
  const finders: Readonly<Record<string, (prisma: PrismaClient) => Promise<Found>>> = {
    'calls of the provider': (prisma) => findWaiting(prisma, { environmentId: null, underWay: [], mostOfOne: 4, limit }),
    'payments that are missing': (prisma) => findUncollected(prisma, 1, limit, null),
    'late usage': (prisma) => findLateUsageDue(prisma, limit, null),
    'trials that end soon': (prisma) => findEndingTrials(prisma, { environmentId: null, leadMs: 7 * 86_400_000, limit }),
    'promotional entitlements': (prisma) => findPromotionalDue(prisma, limit, []),
    'subscriptions that are due': (prisma) => findDueCustomers(prisma, limit, []),
    imports: (prisma) => findAbandoned(prisma, limit),
  }
  for (const [what, find] of Object.entries(finders))
    it(`is taken of each in turn and found by an index: ${what}`, async () => {
      let found: Found = []
      const looked = await lookedAt(bench, async (prisma) => {
        found = await find(prisma)
      })
      expect(new Set(found.slice(0, 2).map(({ environmentId }) => environmentId))).to.deep.equal(new Set([crowded, other]))
      for (const { rows, plan } of looked) expect(rows, plan).to.be.below(mostLookedAt)
    })

  it('is found by an index, however late it is, of subscriptions', async () => {
    let seconds = 0
    const [looked] = await lookedAt(bench, async (prisma) => {
      seconds = await dueLagSeconds(prisma)
    })
    expect(seconds).to.be.closeTo(Date.now() / 1_000 - Date.parse('2026-01-01T00:00Z') / 1_000, 3_600)
    expect(looked!.rows, looked!.plan).to.be.below(mostLookedAt)
  })

  it('is found by an index of each, few at a time: packages to be migrated, and their customers', async () => {
    const looked = await lookedAt(bench, async (prisma) => {
      const open = await openMigrations(prisma, { except: [], limit })
      expect(open.filter(({ environmentId }) => environmentId === crowded)).to.have.length(limit)
      expect(open.filter(({ environmentId }) => environmentId === other)).to.have.length(1)
      const oldest = open.find(({ environmentId }) => environmentId === crowded)!
      expect(await customersOnOlderVersions(prisma, oldest, [], limit)).to.have.length(limit)
    })
    expect(looked).to.have.length(2)
    for (const { rows, plan } of looked) expect(rows, plan).to.be.below(mostLookedAt)
  })

  it('is found although all of the crowded one was tried lately, or is being worked on', async () => {
    const inWork = "leased_until = clock_timestamp() + interval '1 hour'"
    await bench.pool.query(`
      UPDATE billing_intent SET ${inWork} WHERE environment_id = '${crowded}';
      UPDATE import_job SET ${inWork} WHERE environment_id = '${crowded}'`)
    await bench.pool.query('VACUUM ANALYZE billing_intent')
    const [looked] = await lookedAt(bench, async (prisma) => {
      const found = await finders['calls of the provider']!(prisma)
      expect(found.length).to.be.above(0)
      expect(found.every(({ environmentId }) => environmentId === other)).to.equal(true)
    })
    expect(looked!.rows, looked!.plan).to.be.below(mostLookedAt)
    expect(await findNext(bench.prisma, crowded, '00000000-0000-0000-0000-000000000000')).to.equal(null)
  })
})
