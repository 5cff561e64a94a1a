import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type AuditFilter, AuditLog } from '../../../src/audit/log.js'
import { lookedAt as statements } from '../../support/looked-at.js'
import { type Bench, openBench } from '../subscription/fixture.js'

const months = 8
const perMonth = 15_000
/** An index may lead to a few more than a page; a look through the log would meet all of it. */
const mostLookedAt = 1_000

/** As ours are: with the time in front. */
const idAt = (at: string) =>
  `(lpad(to_hex(floor(extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid`

describe('the audit log of many months', function () {
  this.timeout(120_000)
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
    environmentId = await bench.createEnvironment()
    await bench.pool.query("SELECT ensure_audit_partitions(now() + interval '1 month')")
    // Months of the past, as those that were made in their time.
    for (let month = 1; month < months; month++)
      await bench.pool.query(`
        DO $$ DECLARE start timestamptz := date_trunc('month', now() - interval '${month} month', 'UTC'); BEGIN
          EXECUTE format('CREATE TABLE audit_entry_%s PARTITION OF audit_entry FOR VALUES FROM (%L) TO (%L)',
            to_char(start AT TIME ZONE 'UTC', 'YYYYMM'), start, date_trunc('month', start + interval '32 days', 'UTC'));
        END $$`)
    // Almost all of it is of one key and one mutation; what is looked for is rare, and old.
    await bench.pool.query(
      `INSERT INTO audit_entry (environment_id, id, at, actor_kind, actor_id, actor_name, operation, entity_kind, entity_id, after)
       SELECT $1::uuid, ${idAt('at')}, at, 'KEY', $2, 'backend', 'provisionCustomer', 'CUSTOMER', 'customer-' || n, '{"customerId": "x"}'
       FROM generate_series(1, ${months * perMonth}) AS n, LATERAL (SELECT date_trunc('milliseconds',
         least(now(), date_trunc('month', now() - interval '1 month' * (n % ${months}), 'UTC') + (n / ${months}) * interval '20 seconds')) AS at) AS entry`,
      [environmentId, randomUUID()],
    )
    await bench.pool.query(
      `INSERT INTO audit_entry (environment_id, id, at, actor_kind, actor_id, actor_name, operation, entity_kind, entity_id)
       SELECT $1::uuid, ${idAt('at')}, at, kind::audit_actor_kind, id, name, operation, 'SUBSCRIPTION', 'rare-' || n
       FROM generate_series(3, 6) AS n CROSS JOIN LATERAL (SELECT date_trunc('month', now() - interval '1 month' * n, 'UTC') + interval '3 days' AS at) AS entry CROSS JOIN (VALUES ('KEY', 'id-of-a-key', 'old key', 'cancelSubscription'), ('OPERATOR', NULL, 'operator', 'setTaxRate'),
         ('SYSTEM', NULL, 'trialEnd', 'trialEnd')) AS rare (kind, id, name, operation)`,
      [environmentId],
    )
    await bench.pool.query('ANALYZE audit_entry')
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** What a page of the filter costs: entries that were looked at, also in vain. */
  async function lookedAt(filter: AuditFilter): Promise<{ found: number; looked: number; plan: string }> {
    let found = 0
    const [page] = await statements(bench, async (prisma) => {
      found = (await new AuditLog(prisma).page(environmentId, filter, { first: 10 })).rows.length
    })
    return { found, looked: page!.rows, plan: page!.plan }
  }

  const cases: [string, AuditFilter, number][] = [
    ['nothing', {}, 10],
    ['the name of a rare actor', { actor: 'old key' }, 4],
    ['the id of a rare actor', { actor: 'id-of-a-key' }, 4],
    ['an actor that there is not', { actor: 'nobody' }, 0],
    ['the operator', { actorKind: 'OPERATOR' }, 4],
    ['an actor of almost everything', { actor: 'backend' }, 10],
    ['a rare operation', { operation: 'cancelSubscription' }, 4],
    ['an operation that there is not', { operation: 'nothing' }, 0],
    ['an operation of almost everything', { operation: 'provisionCustomer' }, 10],
    ['an actor and an operation', { actor: 'backend', operation: 'cancelSubscription' }, 0],
    ['an entity', { entityKind: 'CUSTOMER', entityId: 'customer-77' }, 1],
    ['an actor within some months', { actor: 'operator', from: Date.now() - 150 * 86_400_000, to: Date.now() }, 2],
  ]
  for (const [what, filter, expected] of cases)
    it(`finds a page by ${what} without looking through all of it`, async () => {
      const { found, looked, plan } = await lookedAt(filter)
      if (!('from' in filter)) expect(found).to.equal(expected)
      expect(looked, plan).to.be.below(mostLookedAt)
    })
})
