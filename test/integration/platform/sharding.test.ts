import { expect } from 'chai'
import { Client } from 'pg'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'
import { keyExceptions } from '../../support/sharding/exceptions.js'
import { watchStatements } from '../../support/sharding/sent-statements.js'
import { openFrontDoor } from '../web/front-door.js'

/** Partitions have the keys of their tables. */
const tables = `
  SELECT relname AS name, NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'environment_id' AND attnotnull
  ) AS is_faulty
  FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`

/** Of tables that belong to environments: what is unique, and primary keys are, is unique on one server only. */
const indexes = `
  SELECT index.relname AS name, NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey::int2[]) AND attname = 'environment_id'
  ) AS is_faulty
  FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid JOIN pg_class AS of ON of.oid = indrelid
  WHERE indisunique AND of.relnamespace = current_schema()::regnamespace AND NOT of.relispartition
    AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = of.oid AND attname = 'environment_id')`

/** A row leads to rows of its own environment only, and to that itself. */
const foreignKeys = `
  SELECT conname AS name, NOT EXISTS (
    SELECT FROM unnest(conkey, confkey) AS pair (own, other)
    JOIN pg_attribute AS own ON own.attrelid = conrelid AND own.attnum = pair.own
    JOIN pg_attribute AS other ON other.attrelid = confrelid AND other.attnum = pair.other
    WHERE own.attname = 'environment_id' AND other.attname = CASE WHEN confrelid = 'environment'::regclass THEN 'id' ELSE 'environment_id' END
  ) AS is_faulty
  FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conparentid = 0`

describe('keys of a database that is sharded by environment', () => {
  let database: TestDatabase
  let client: Client

  before(async () => {
    database = await createTestDatabase()
    client = new Client({ connectionString: database.url })
    await client.connect()
  })
  after(async () => {
    await client.end()
    await database.drop()
  })

  const find = async (kind: string, query: string, atLeast: number) => {
    const { rows } = await client.query<{ name: string; is_faulty: boolean }>(query)
    expect(rows.length, `looked at of ${kind}`).to.be.at.least(atLeast)
    return rows.filter((row) => row.is_faulty).map(({ name }) => `${kind} ${name}`)
  }
  const findAll = async () => [
    ...(await find('table', tables, 45)),
    ...(await find('index', indexes, 70)),
    ...(await find('foreign key', foreignKeys, 70)),
  ]

  it('all have the environment, but for those that docs/scaling lists', async () => {
    expect((await findAll()).sort()).to.deep.equal(keyExceptions.flatMap(({ names }) => names).sort())
  })

  it('would be found without it', async () => {
    const known = await findAll()
    await client.query('BEGIN')
    await client.query('CREATE TABLE note (id uuid PRIMARY KEY)')
    await client.query('CREATE UNIQUE INDEX coupon_id_key ON coupon (id)')
    await client.query('ALTER TABLE coupon ADD COLUMN also uuid CONSTRAINT coupon_also_fkey REFERENCES coupon (id)')
    const found = (await findAll()).filter((name) => !known.includes(name))
    await client.query('ROLLBACK')
    expect(found).to.deep.equal(['table note', 'index coupon_id_key', 'foreign key coupon_also_fkey'])
  })

  it('are of no use to a statement that leaves it out, which is found when it is sent', async () => {
    const watched = await watchStatements()
    try {
      const { rows } = await client.query<{ count: string }>(
        'SELECT count(*) FROM customer JOIN coupon ON coupon.id = customer.coupon_id WHERE customer.environment_id IS NULL',
      )
      expect(rows).to.have.length(1)
      expect(watched.take()).to.have.length(1)
    } finally {
      watched.end()
    }
  })

  it('are used by what is sent when a customer comes, buys, uses, changes and goes', async function () {
    this.timeout(60_000)
    const door = await openFrontDoor()
    const watched = await watchStatements()
    try {
      const run = async (operation: string, type: string, input: object, fields: string) => {
        const { errors } = await door.ask(`mutation ($input: ${type}!) { ${operation}(input: $input) ${fields} }`, { input })
        expect(errors, operation).to.equal(undefined)
      }
      const plan = { customerId: 'acme', planId: 'team', billingPeriod: 'MONTHLY' }
      await run('provisionCustomer', 'ProvisionCustomerInput', { customerId: 'acme' }, '{ customer { id } }')
      await run('provisionSubscriptionV2', 'ProvisionSubscriptionInput', { ...plan, subscriptionId: 'sub' }, '{ id }')
      await run('updateOneCustomer', 'UpdateCustomerInput', { customerId: 'acme', name: 'Acme' }, '{ id }')
      const question = { customerId: 'acme', featureId: 'api-calls' }
      for (const query of [
        'query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted } }',
        '{ sdkConfiguration { showWatermark } }',
      ])
        expect((await door.ask(query, query.includes('$query') ? { query: question } : {})).errors, query).to.equal(undefined)
      await run('cancelSubscription', 'SubscriptionCancellationInput', { subscriptionRefId: 'sub' }, '{ id }')
      await run('archiveCustomer', 'ArchiveCustomerInput', { customerId: 'acme' }, '{ id }')
      expect(watched.take()).to.deep.equal([])
    } finally {
      watched.end()
      expect(await door.close()).to.deep.equal([])
    }
  })
})
