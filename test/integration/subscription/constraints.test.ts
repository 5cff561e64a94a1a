import { expect } from 'chai'
import { type Bench, day, openBench } from './fixture.js'

/** What the database refuses even if the code is wrong. */
describe('the database refuses', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
    environmentId = await bench.createEnvironment()
    await bench.customers.provision(environmentId, { refId: 'acme' })
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'room', resourceRefId: 'r1' })
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  /** The name of the constraint that refused it, or the error's text; null when nothing did. Nothing of it stays. */
  async function refusal(sql: string, values: unknown[] = []): Promise<string | null> {
    const client = await bench.pool.connect()
    try {
      await client.query('BEGIN')
      await client.query(sql, values)
      return null
    } catch (error) {
      const { constraint, message } = error as { constraint?: string; message: string }
      return constraint ?? message
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  }

  const copy = (changes: string) => `
    INSERT INTO subscription (environment_id, id, ref_id, customer_id, resource_id, product_id, plan_version_id, pricing_type, start_date, billing_anchor, usage_anchor, updated_at, status, cancel_reason)
    SELECT environment_id, gen_random_uuid(), gen_random_uuid()::text, customer_id, resource_id, product_id, plan_version_id, pricing_type, start_date, billing_anchor, usage_anchor, now(), ${changes}
    FROM subscription WHERE environment_id = $1`

  const cases: [string, string, string][] = [
    ['a second active subscription of a product in one place', copy(`'ACTIVE', NULL`), 'subscription_in_force_key'],
    [
      'a final status without a reason',
      `UPDATE subscription SET status = 'CANCELED', effective_end_date = now() WHERE environment_id = $1`,
      'subscription_final_check',
    ],
    [
      'a reason without a final status',
      `UPDATE subscription SET cancel_reason = 'Immediate' WHERE environment_id = $1`,
      'subscription_final_check',
    ],
    ['an end without a date', copy(`'CANCELED', 'Immediate'`), 'subscription_ended_check'],
    ['a trial without an end', copy(`'IN_TRIAL', NULL`), 'subscription_trial_check'],
    [
      'a term that ends before it starts',
      `UPDATE subscription SET end_date = start_date WHERE environment_id = $1`,
      'subscription_dates_check',
    ],
    [
      'something due of what has ended',
      `UPDATE subscription SET status = 'EXPIRED', cancel_reason = 'Expired', effective_end_date = now(), due_at = now() WHERE environment_id = $1`,
      'subscription_ended_check',
    ],
    [
      'an archived customer with a name',
      `UPDATE customer SET archived_at = now(), name = 'Acme' WHERE environment_id = $1`,
      'customer_archived_check',
    ],
    [
      'an archived customer with an email',
      `UPDATE customer SET archived_at = now(), email = 'a@b.test' WHERE environment_id = $1`,
      'customer_archived_check',
    ],
    [
      'a second customer of an identifier',
      `INSERT INTO customer (environment_id, id, ref_id, updated_at) VALUES ($1, gen_random_uuid(), 'acme', now())`,
      'customer_environment_id_ref_id_key',
    ],
    [
      'access that is newer than the state',
      `UPDATE customer_state SET access_version = version + 1 WHERE environment_id = $1`,
      'customer_state_version_check',
    ],
    [
      'an add-on that is held no times',
      `INSERT INTO subscription_addon SELECT s.environment_id, gen_random_uuid(), s.id, v.id, 0 FROM subscription s, package_version v WHERE s.environment_id = $1 AND v.environment_id = $1 LIMIT 1`,
      'subscription_addon_quantity_check',
    ],
    [
      'a promotion for life that ends',
      `INSERT INTO promotional_entitlement (environment_id, id, customer_id, feature_id, period, start_date, end_date, updated_at) SELECT c.environment_id, gen_random_uuid(), c.id, f.id, 'LIFETIME', now(), now() + interval '1 day', now() FROM customer c, feature f WHERE c.environment_id = $1 AND f.environment_id = $1 LIMIT 1`,
      'promotional_entitlement_period_check',
    ],
  ]
  for (const [name, sql, constraint] of cases) it(name, async () => expect(await refusal(sql, [environmentId])).to.equal(constraint))

  const frozen: [string, string][] = [
    ['a change of a published version', `UPDATE package_version SET display_name = 'x' WHERE environment_id = $1`],
    ['the removal of a published version', 'DELETE FROM package_version WHERE environment_id = $1'],
    [
      'a published version that becomes a draft again',
      `UPDATE package_version SET status = 'DRAFT', published_at = NULL, is_latest = false WHERE environment_id = $1`,
    ],
    ['a change of an entitlement of a published version', 'UPDATE package_entitlement SET usage_limit = 1 WHERE environment_id = $1'],
    ['the removal of an entitlement of a published version', 'DELETE FROM package_entitlement WHERE environment_id = $1'],
    ['a change of a price of a published version', 'UPDATE price SET amount = 1 WHERE environment_id = $1'],
    ['an add-on that is no longer compatible with a published version', 'DELETE FROM plan_compatible_addon WHERE environment_id = $1'],
    [
      'an entitlement more of a published version',
      `INSERT INTO package_entitlement (environment_id, id, package_version_id, feature_id, behavior)
       SELECT v.environment_id, gen_random_uuid(), v.id, f.id, 'Override' FROM package_version v, feature f WHERE v.environment_id = $1 AND f.environment_id = $1 LIMIT 1`,
    ],
  ]
  for (const [name, sql] of frozen) it(name, async () => expect(await refusal(sql, [environmentId])).to.include('cannot be changed'))

  it('a subscription of another environment’s plan', async () => {
    const other = await bench.createEnvironment()
    const foreign = await bench.catalog.latestVersion(bench.prisma, other, 'PLAN', 'team')
    expect(
      await refusal('UPDATE subscription SET plan_version_id = $2 WHERE environment_id = $1', [environmentId, foreign!.id]),
    ).to.include('plan_version')
  })

  it('a subscription of another customer’s resource', async () => {
    const { customer } = await bench.customers.provision(environmentId, { refId: 'other' })
    const sql =
      'UPDATE subscription SET resource_id = (SELECT id FROM customer_resource WHERE environment_id = $1) WHERE environment_id = $1 AND customer_id = $2'
    expect(await refusal(sql, [environmentId, customer.id])).to.include('resource')
  })

  it('nothing of what is allowed: a retired version, and one of each status in a place', async () => {
    expect(
      await refusal(`UPDATE package_version SET status = 'ARCHIVED', is_latest = false WHERE environment_id = $1`, [environmentId]),
    ).to.equal(null)
    expect(await refusal(copy(`'NOT_STARTED', NULL`), [environmentId])).to.equal(null)
    const later = new Date(Date.now() + day)
    const trial = `INSERT INTO trial (environment_id, customer_id, product_id, subscription_id, started_at) SELECT environment_id, customer_id, product_id, id, $2 FROM subscription WHERE environment_id = $1 LIMIT 1`
    expect(await refusal(trial, [environmentId, later])).to.equal(null)
  })
})
