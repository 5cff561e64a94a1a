import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { loadModule } from 'libpg-query'
import { exceptions, keyExceptions, knownAs, plain } from '../support/sharding/exceptions.js'
import { faultsOf } from '../support/sharding/scope.js'
import { statementsOfFunctions, statementsOfSource } from '../support/sharding/statements-in-code.js'
import { prismaCalls, readSchema, whereOf } from '../support/table-use.js'

const schema = readSchema(readFileSync('prisma/schema.prisma', 'utf8'))
const sources = ['src', 'workers']
  .flatMap((top) => readdirSync(top, { recursive: true, encoding: 'utf8' }).map((file) => `${top}/${file}`))
  .filter((file) => /\.(ts|sql)$/.test(file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))

/** What a list is read from, to which the list adds its environment (`readPage`). */
const partsOfLists = ['src/notifications/alerts/records/lists.ts', 'src/subscription/records/list.ts']

/** Whose `where` is made elsewhere in the file, with the environment in it; the last two are exceptions of docs/scaling. */
const callsApart = [
  'src/customer/records/customers.ts: findUnique of customer',
  'src/subscription/records/subscriptions.ts: findMany of subscription',
  'src/environment/records/environments.ts: findFirst of api_key',
  'src/environment/records/environments.ts: findUnique of api_key',
]

describe('a database that is sharded by environment', () => {
  const statements = () =>
    sources.flatMap(({ file, text }) => {
      const { texts, unread } = file.endsWith('.sql') ? statementsOfFunctions(text) : statementsOfSource(text, schema)
      return [...texts.map((sql) => ({ file, sql, isRead: true })), ...unread.map((sql) => ({ file, sql, isRead: false }))]
    })

  before(loadModule)

  it('is asked by statements that say the environment of each of their tables, but for those that docs/scaling lists', () => {
    const found = statements()
    expect(found.filter(({ isRead }) => !isRead).map(({ file, sql }) => `${file}: ${plain(sql)}`)).to.deep.equal([])
    const known: string[] = []
    const unknown = found.flatMap(({ file, sql }) =>
      faultsOf(sql, schema.tables).flatMap((fault) => {
        const name = knownAs(sql, fault)
        if (name !== undefined) known.push(name)
        return name === undefined && !partsOfLists.includes(file) ? [`${file} ${fault}: ${plain(sql)}`] : []
      }),
    )
    expect(unknown).to.deep.equal([])
    // Prisma makes its statements while it runs: of those the calls are read, below.
    const listed = exceptions
      .flatMap((one) => one.statements.map(({ sql }) => sql))
      .filter((sql) => !sql.includes('"public".') && !sql.includes('ctid >='))
    expect([...new Set(known)].sort(), 'exceptions that there are no more').to.deep.equal(listed.sort())
    // Some are tried in many ways until PostgreSQL's parser takes one.
  }).timeout(60_000)

  it('is asked by calls of the Prisma client that name the environment', () => {
    const unnamed = sources.flatMap(({ file, text }) =>
      prismaCalls(text, schema)
        // What is created has all columns of its key, or it would not compile.
        .filter(
          (call) =>
            call.table !== 'environment' && !/^create/.test(call.method) && !/environmentId|environment_id/.test(whereOf(call, text)),
        )
        .map(({ table, method }) => `${file}: ${method} of ${table}`),
    )
    expect(unnamed.sort()).to.deep.equal([...callsApart].sort())
  })

  it('has the same exceptions as docs/scaling, word for word', () => {
    const page = readFileSync('src/web/docs/scaling.md', 'utf8')
    const rows = page.slice(page.indexOf('## PostgreSQL sharded by environment')).match(/^\| (?!what |---).*$/gm) ?? []
    expect(rows).to.deep.equal([...keyExceptions, ...exceptions].map(({ what, why }) => `| ${what} | ${why} |`))
  })
})

describe('reading which environment a statement is about', () => {
  before(loadModule)
  const faults = (sql: string) => faultsOf(sql, schema.tables)

  const joined = (on: string) => `SELECT FROM subscription AS s JOIN customer AS c ON ${on} WHERE s.environment_id = $1 AND s.id = $2`

  it('finds a join without it', () => {
    expect(faults(joined('c.environment_id = s.environment_id AND c.id = s.customer_id'))).to.deep.equal([])
    expect(faults(joined('c.environment_id = $1 AND c.id = s.customer_id'))).to.deep.equal([])
    expect(faults(joined('c.id = s.customer_id'))).to.deep.equal(['apart customer'])
    expect(faults(joined('c.environment_id = s.customer_id AND c.id = s.customer_id'))).to.deep.equal(['apart customer'])
    expect(faults(joined('c.id = s.customer_id OR c.environment_id = s.environment_id'))).to.deep.equal(['apart customer'])
    expect(faults(joined('c.environment_id <> s.environment_id'))).to.deep.equal(['apart customer'])
    expect(faults(joined('c.environment_id = s.environment_id').replace('s.environment_id = $1 AND', ''))).to.deep.equal([
      'sweeps customer',
      'sweeps subscription',
    ])
    expect(faults('SELECT FROM subscription AS s JOIN customer AS c USING (environment_id) WHERE environment_id = $1')).to.deep.equal([])
    expect(faults('SELECT FROM subscription, customer WHERE subscription.environment_id = $1')).to.deep.equal(['apart customer'])
  })

  it('takes the condition of an outer join for none of what is kept', () => {
    const outer = 'SELECT FROM customer AS c LEFT JOIN customer_state AS s ON'
    expect(faults(`${outer} s.environment_id = c.environment_id WHERE c.environment_id = $1`)).to.deep.equal([])
    expect(faults(`${outer} s.environment_id = $1 AND c.environment_id = $1`)).to.deep.equal(['apart customer'])
    expect(faults(`${outer} s.customer_id = c.id WHERE c.environment_id = $1`)).to.deep.equal(['apart customer_state'])
  })

  it('finds what is written or locked in all environments', () => {
    expect(faults('UPDATE customer SET name = $1 WHERE id = $2')).to.deep.equal(['writes by a sweep customer'])
    expect(faults('UPDATE customer SET name = $1 WHERE environment_id = $3 AND id = $2')).to.deep.equal([])
    expect(
      faults('UPDATE customer AS c SET name = given.name FROM unnest($1::uuid[]) AS given (id, name) WHERE c.id = given.id'),
    ).to.deep.equal(['writes by a sweep customer'])
    expect(faults('DELETE FROM raw_event_ahead')).to.deep.equal(['writes by a sweep raw_event'])
    expect(faults('DELETE FROM raw_event_202601')).to.deep.equal(['writes by a sweep raw_event'])
    expect(
      faults('DELETE FROM usage_member AS m USING usage_series AS s WHERE s.environment_id = $1 AND m.series_id = s.id'),
    ).to.deep.equal(['writes by a sweep usage_member'])
    expect(faults('SELECT FROM customer_state WHERE customer_id = $1 FOR UPDATE')).to.deep.equal(['locks by a sweep customer_state'])
    expect(faults('SELECT FROM customer_state WHERE environment_id = $2 AND customer_id = $1 FOR UPDATE')).to.deep.equal([])
    expect(faults('INSERT INTO coupon (id) VALUES ($1)')).to.deep.equal(['inserts without coupon'])
    expect(faults('INSERT INTO coupon (environment_id, id) SELECT $1, id FROM customer')).to.deep.equal(['sweeps customer'])
    expect(faults('TRUNCATE coupon')).to.deep.equal(['truncates coupon'])
  })

  it('looks into what stands inside', () => {
    const bound = 'FROM customer WHERE environment_id = $1'
    for (const sql of [
      `WITH a AS (SELECT id FROM coupon) SELECT ${bound}`,
      `SELECT (SELECT count(*) FROM coupon) ${bound}`,
      `SELECT ${bound} AND id IN (SELECT customer_id FROM coupon)`,
      `SELECT ${bound} AND EXISTS (SELECT FROM coupon)`,
      `SELECT ${bound} UNION SELECT FROM coupon`,
      `SELECT FROM (SELECT id FROM coupon) AS a`,
      `SELECT FROM unnest($1) AS a (id) CROSS JOIN LATERAL (SELECT FROM coupon WHERE id = a.id) AS b`,
      `INSERT INTO customer (environment_id, id) VALUES ($1, $2) ON CONFLICT DO UPDATE SET id = (SELECT id FROM coupon)`,
      `DECLARE rows CURSOR FOR SELECT FROM coupon`,
    ])
      expect(faults(sql), sql).to.deep.equal(['sweeps coupon'])
    expect(faults(`SELECT ${bound} AND EXISTS (SELECT FROM coupon WHERE coupon.environment_id = customer.environment_id)`)).to.deep.equal(
      [],
    )
    // A name that the statement gives is no table.
    expect(faults(`WITH coupon AS (SELECT 1) SELECT FROM coupon`)).to.deep.equal([])
  })

  it('takes lists of environments, rows of values, and alternatives that all say it', () => {
    for (const where of [
      '(environment_id, id) IN (($1, $2), ($3, $4))',
      'environment_id = ANY($1)',
      '(environment_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))',
      '(environment_id = $1 AND id = $2) OR (environment_id = $3 AND id = $4)',
    ])
      expect(faults(`SELECT FROM customer WHERE ${where}`), where).to.deep.equal([])
    expect(faults('SELECT FROM customer WHERE (environment_id = $1 AND id = $2) OR id = $3')).to.deep.equal(['sweeps customer'])
    expect(faults('SELECT FROM customer WHERE NOT environment_id = $1')).to.deep.equal(['sweeps customer'])
  })

  it('reads what stands in the code: templates, functions, and statements that functions make up', () => {
    const hole = '\u0024{id}'
    const source = `const of = 'id = 1'; db.query(\`DELETE FROM customer WHERE \u0024{of} AND name = ${hole}\`)`
    expect(statementsOfSource(source, schema)).to.deep.equal({ texts: ['DELETE FROM customer WHERE id = 1 AND name =  $1 '], unread: [] })
    expect(statementsOfSource("db.query('DELETE FROM customer WHERE WHERE')", schema).unread).to.deep.equal([
      'DELETE FROM customer WHERE WHERE',
    ])
    const body = "BEGIN UPDATE customer SET name = a; x := (SELECT id FROM coupon); EXECUTE format('DELETE FROM %I', a); EXECUTE a; END"
    const { texts, unread } = statementsOfFunctions(
      `CREATE FUNCTION f(a text) RETURNS void LANGUAGE plpgsql AS $$ DECLARE x uuid; ${body} $$`,
    )
    expect(texts.flatMap(faults)).to.deep.equal(['writes by a sweep customer', 'sweeps coupon', 'writes by a sweep raw_event'])
    expect(unread).to.deep.equal(['a'])
    const { texts: inSql } = statementsOfFunctions('CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ DELETE FROM coupon $$')
    expect(inSql.flatMap(faults)).to.deep.equal(['writes by a sweep coupon'])
  })
})
