import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { isPure, rankOf, rooms } from '../support/rooms.js'
import { functionsCalled, functionsIn, literalsOf, readSchema, type TableUse, tableUses } from '../support/table-use.js'

/** Who writes a table, and locks its rows: the files of one folder. Everybody else asks a function of theirs, in the own transaction. */
const owners: Record<string, string> = {
  'src/changes': 'customer_state outbox_message notification_event customer_evaluation evaluation_round',
  'src/audit': 'audit_entry',
  'src/environment': 'environment api_key',
  'src/catalog': `
    feature meter meter_version product package package_version package_entitlement price plan_compatible_addon addon_dependency coupon`,
  'src/customer': 'customer customer_resource import_job import_item',
  'src/metering': `
    usage_measurement raw_event pending_batch ingestion_key usage_series usage_counter usage_member usage_rollup usage_grouping usage_group_rollup
    usage_recomputation`,
  'src/billing': 'invoice invoice_line balance_entry subscription_billing billing_intent coupon_redemption',
  'src/billing/builtin': 'builtin_invoice builtin_request builtin_payment_method builtin_tax_rate builtin_invoice_number',
  'src/subscription': `
    subscription subscription_addon subscription_quantity subscription_entitlement subscription_renewal scheduled_update trial package_migration`,
  'src/entitlement': 'promotional_entitlement',
  'src/updates': 'environment_feed cache_warming',
  'src/notifications': 'webhook_endpoint webhook_delivery webhook_attempt alert alert_crossing told_entitlements',
}

const ownerOf = new Map(
  Object.entries(owners).flatMap(([owner, tables]) =>
    tables
      .trim()
      .split(/\s+/)
      .map((table) => [table, owner] as const),
  ),
)

const domainOf = (file: string) => file.split('/').slice(0, 2).join('/')
const isIn = (folder: string, file: string) => file.startsWith(`${folder}/`)
/** Where its records begin: whoever stands before them knows nothing of its tables. */
const firstRank = (owner: string) => rooms.findIndex((room) => (room === owner || isIn(owner, room)) && !isPure(room))

/** What is wrong with the uses of a file; nothing: null. */
function faults(file: string, uses: readonly TableUse[]): string[] {
  return uses.flatMap(({ table, use }) => {
    const owner = ownerOf.get(table)!
    if (isIn(owner, file)) return []
    if (use !== 'read') return [`${file} ${use}s ${table}, which is of ${owner}`]
    return rankOf(file) < firstRank(owner) ? [`${file} reads ${table}, which is of a later room: ${owner}`] : []
  })
}

const schema = readSchema(readFileSync('prisma/schema.prisma', 'utf8'))
const sources = ['src', 'workers']
  .flatMap((top) => readdirSync(top, { recursive: true, encoding: 'utf8' }).map((file) => `${top}/${file}`))
  .filter((file) => /\.(ts|sql)$/.test(file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))

describe('tables of the database', () => {
  it('have an owner each', () => {
    expect([...ownerOf.keys()].sort()).to.deep.equal([...schema.tables].sort())
  })

  it('are written, and their rows locked, by their owner; and read by nobody who stands before it', () => {
    expect(sources.flatMap(({ file, text }) => faults(file, tableUses(file, text, schema)))).to.deep.equal([])
  })

  it('are changed by functions of the database that nobody calls who stands before them', () => {
    const madeIn = new Map(
      sources.flatMap(({ file, text }) => (file.endsWith('.sql') ? functionsIn(text).map((name) => [name, file] as const) : [])),
    )
    const wrong = sources.flatMap(({ file, text }) =>
      functionsCalled(file, text, madeIn.keys())
        .map((name) => ({ name, maker: madeIn.get(name)! }))
        .filter(({ maker }) => domainOf(file) !== domainOf(maker) && rankOf(file) < rankOf(maker))
        .map(({ name, maker }) => `${file} calls ${name}, which is of ${maker}`),
    )
    expect(wrong).to.deep.equal([])
  })
})

describe('reading what is done with tables', () => {
  /** What stands in a template of the source that is read. */
  const hole = "\u0024{c ? `y \u0024{d}` : 'z'}"
  const usesOf = (text: string, file = 'src/a.ts') => tableUses(file, text, schema).map(({ table, use }) => `${use} ${table}`)

  it('finds writes in SQL', () => {
    expect(usesOf("query('INSERT INTO customer (id) VALUES (1)')")).to.deep.equal(['write customer'])
    expect(usesOf(`sql\`UPDATE customer AS c SET name = ${hole} WHERE id = 1\``)).to.deep.equal(['write customer'])
    expect(usesOf('sql`WITH gone AS (DELETE FROM raw_event RETURNING id) SELECT FROM gone`')).to.deep.equal(['write raw_event'])
    expect(usesOf(`sql\`INSERT INTO ${hole} DO UPDATE SET usage = 1\``)).to.deep.equal([])
    expect(usesOf("await insertRows(db, 'invoice_line', rows)")).to.deep.equal(['write invoice_line'])
  })

  it('finds writes however they are written', () => {
    for (const sql of [
      'insert into outbox_message (id) values (1)',
      'INSERT INTO "outbox_message" VALUES (1)',
      'UPDATE public.outbox_message SET id = 1',
      'MERGE INTO outbox_message USING customer ON true WHEN MATCHED THEN DO NOTHING',
      'TRUNCATE unknown, outbox_message',
      'LOCK TABLE outbox_message',
      'COPY outbox_message (id) FROM STDIN',
      'WITH outbox_message AS (SELECT 1) INSERT INTO outbox_message SELECT 1',
    ])
      expect(usesOf(`sql\`${sql}\``), sql).to.include('write outbox_message')
    expect(usesOf('db.outboxMessage\n  .create<Data>({ data })')).to.deep.equal(['write outbox_message'])
    expect(usesOf("insertRows(this.db, 'outbox_message', rows)")).to.deep.equal(['write outbox_message'])
    expect(usesOf('db.customer.update({ where, data: { state: { update: { version: 1 } } } })')).to.include('write customer_state')
    expect(functionsCalled('src/a.ts', "callOf('count_reports', values)", ['count_reports'])).to.deep.equal(['count_reports'])
  })

  it('finds reads in SQL, and none in names that a statement makes up', () => {
    expect(usesOf('sql`SELECT FROM customer AS c, environment e JOIN price ON true`')).to.have.members([
      'read customer',
      'read environment',
      'read price',
    ])
    expect(usesOf('sql`WITH coupon AS MATERIALIZED (SELECT 1) SELECT FROM coupon`')).to.deep.equal([])
    expect(usesOf(`sql\`SELECT FROM unnest(${hole}) AS customer (id) -- FROM price\``)).to.deep.equal([])
    expect(usesOf('const list = { from: Prisma.sql`product` }')).to.deep.equal(['read product'])
    expect(usesOf('// FROM customer\n/* FROM price */ const it = /`FROM coupon/')).to.deep.equal([])
  })

  it('finds locks', () => {
    expect(usesOf('sql`SELECT FROM coupon WHERE id = 1 FOR UPDATE`')).to.have.members(['read coupon', 'lock coupon'])
    expect(usesOf('sql`SELECT FROM customer c JOIN customer_state AS state ON true FOR UPDATE OF state SKIP LOCKED`')).to.include(
      'lock customer_state',
    )
  })

  it('finds calls of the Prisma client, and what they reach by relations', () => {
    expect(usesOf('await this.#prisma.customer.updateMany({ data: {} })')).to.deep.equal(['write customer'])
    expect(usesOf('db.billingIntent.findMany({ include: { subscription: { select: { product: true } } } })')).to.have.members([
      'read billing_intent',
      'read subscription',
      'read product',
    ])
    expect(usesOf('const related = { customer: true } satisfies Prisma.SubscriptionInclude')).to.deep.equal(['read customer'])
  })

  it('reads files of SQL, and who calls their functions', () => {
    const text = 'CREATE FUNCTION tell(a int) RETURNS void AS $$ BEGIN INSERT INTO outbox_message VALUES (a); END $$'
    expect(usesOf(text, 'src/a.sql')).to.deep.equal(['write outbox_message'])
    expect(functionsIn(text)).to.deep.equal(['tell'])
    expect(functionsCalled('src/a.ts', "query('SELECT tell($1)')", ['tell', 'other'])).to.deep.equal(['tell'])
    expect(functionsCalled('src/a.sql', text, ['tell'])).to.deep.equal([])
  })

  it('tells strings from code', () => {
    expect(literalsOf(`const a = 'it\\'s' // 'no'\nconst b = \`x ${hole} w\``)).to.deep.equal(["it\\'s", 'y  ', 'z', 'x   w'])
  })

  it('says whose table is used by whom', () => {
    expect(faults('src/billing/ledger.ts', [{ table: 'customer', use: 'write' }])).to.deep.equal([
      'src/billing/ledger.ts writes customer, which is of src/customer',
    ])
    expect(faults('src/billing/ledger.ts', [{ table: 'subscription', use: 'read' }])).to.deep.equal([
      'src/billing/ledger.ts reads subscription, which is of a later room: src/subscription',
    ])
    expect(faults('src/billing/ledger.ts', [{ table: 'customer', use: 'read' }])).to.deep.equal([])
    expect(faults('src/billing/records/invoices.ts', [{ table: 'invoice', use: 'write' }])).to.deep.equal([])
  })
})
