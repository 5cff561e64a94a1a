import { expect } from 'chai'
import { recordAudit } from '../../../src/audit/record/record.js'
import { AuditRetention } from '../../../src/audit/retention.js'
import { runAdmin } from '../../../src/local/admin/command-line.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { createMetrics } from '../../../src/platform/metrics.js'
import { inPoolTransaction } from '../../../src/platform/transaction.js'
import { type MutatedCustomer, newCustomer } from '../changes/mutation-customer.js'
import { type MeteringBench, openMeteringBench } from '../metering/fixture.js'
import { operatorKey, post } from '../web/front-door.js'
import { openWebProcess, type WebProcess } from '../web/web-process.js'

const query = `query($filter: AuditLogFilter, $paging: CursorPaging) { auditLog(filter: $filter, paging: $paging) { totalCount
  pageInfo { hasNextPage endCursor } edges { cursor node { id at actor { kind id name } operation entityKind entityId before after traceId address } } } }`

// biome-ignore lint/suspicious/noExplicitAny: answers are read as JSON
type Json = any

describe('the audit log', () => {
  let bench: MeteringBench
  let web: WebProcess
  let customer: MutatedCustomer
  let serial = 0

  before(async function () {
    this.timeout(20_000)
    bench = await openMeteringBench({ shards: 1 })
    web = await openWebProcess(bench, 'web')
  })
  after(async () => {
    expect(await web.life.stop()).to.deep.equal([])
    expect(await bench.close()).to.deep.equal([])
  })
  beforeEach(async () => {
    customer = await newCustomer(bench, [web], `log-${++serial}`)
  })

  const log = async (filter: object = {}, paging: object = {}) => (await customer.ask(query, { filter, paging })) as Json
  const nodes = async (filter: object = {}, paging: object = { first: 100 }) =>
    (await log(filter, paging)).edges.map(({ node }: Json) => node) as Json[]
  const askWith = async (headers: Record<string, string>, filter: object = {}) =>
    (await (await post(web.url, { query, variables: { filter } }, headers)).json()) as Json
  const months = async () => {
    const { rows } = await bench.pool.query(
      "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'audit_entry'::regclass ORDER BY 1",
    )
    return rows.map(({ relname }) => relname as string)
  }
  const retention = (keptDays: number) =>
    new AuditRetention({ pool: bench.pool, log: silentLogger(), metrics: createMetrics('audit'), keptDays })

  describe('as an answer', () => {
    it('says who changed what, when, from what to what, and joins it with the answer by its trace id', async () => {
      await customer.mutate('provisionCustomer', { input: { customerId: 'acme', salesforceId: 'sf-1', additionalMetaData: { tier: 'a' } } })
      const [updated] = [await customer.mutate('updateOneCustomer', { input: { customerId: 'acme', additionalMetaData: { tier: 'b' } } })]
      const [latest] = await nodes({ entityKind: 'CUSTOMER', entityId: 'acme' })
      expect(latest).to.deep.include({ operation: 'updateOneCustomer', entityKind: 'CUSTOMER', entityId: 'acme' })
      expect(latest.before).to.deep.equal({ additionalMetaData: { tier: 'a' } })
      expect(latest.after).to.deep.equal({ additionalMetaData: { tier: 'b' } })
      expect(latest.actor).to.deep.include({ kind: 'KEY', name: customer.name })
      expect(Math.abs(Date.parse(latest.at) - Date.parse(updated.updatedAt))).to.be.below(5_000)
      expect(latest.address).to.match(/127\.0\.0\.1$/)
      expect(latest.traceId).to.be.a('string')
    })

    it('is found by kind, entity, actor, operation and time', async () => {
      await customer.mutate('provisionCustomer', { input: { customerId: 'acme' } })
      await customer.mutate('setTaxRate', { input: { id: 'vat', displayName: 'VAT', percentage: 19 } })
      const kinds = async (filter: object) => (await nodes(filter)).map(({ entityKind }) => entityKind)
      expect(await kinds({ actorKind: 'OPERATOR' })).to.deep.equal(['TAX_RATE'])
      expect(await kinds({ operation: 'provisionCustomer' })).to.have.members(['SUBSCRIPTION', 'CUSTOMER'])
      expect(await kinds({ entityKind: 'CUSTOMER' })).to.deep.equal(['CUSTOMER'])
      expect(await kinds({ actor: 'operator' })).to.deep.equal(['TAX_RATE'])
      const [{ actor, at }] = await nodes({ entityKind: 'CUSTOMER' })
      expect(await kinds({ actor: actor.id })).to.have.members(['SUBSCRIPTION', 'CUSTOMER'])
      expect(await kinds({ from: at, entityKind: 'CUSTOMER' })).to.deep.equal(['CUSTOMER'])
      expect(await kinds({ to: at, entityKind: 'CUSTOMER' })).to.deep.equal([])
      expect((await askWith({ 'x-api-key': 'none' })).errors[0].extensions.code).to.equal('Unauthenticated')
    })

    it('is walked through page by page, each entry once, the latest first', async () => {
      for (let n = 0; n < 7; n++) await customer.mutate('createOneCustomer', { input: { customerId: `c${n}` } })
      const all = await nodes()
      const walked: string[] = []
      let after: string | null = null
      for (;;) {
        const page: Json = await log({}, { first: 3, ...(after && { after }) })
        expect(page.totalCount).to.equal(all.length)
        walked.push(...page.edges.map(({ node }: Json) => node.id))
        if (!page.pageInfo.hasNextPage) break
        after = page.pageInfo.endCursor
      }
      expect(walked).to.deep.equal(all.map(({ id }) => id))
      expect(walked).to.deep.equal([...walked].sort().reverse())
      expect(((await log({}, { first: 100 })) as Json).edges).to.have.length(all.length)
    })

    it('is for server keys and the operator, who names the environment', async () => {
      const { key } = await bench.app.environments.createKey({
        environment: customer.name,
        kind: 'CLIENT',
        name: 'browser',
        expiresAt: null,
      })
      expect((await askWith({ 'x-api-key': key })).errors[0].extensions.code).to.equal('IdentityForbidden')
      const { data } = await askWith({ 'x-operator-key': operatorKey }, { environmentRefId: customer.name })
      expect(data.auditLog.edges).to.not.deep.equal([])
      expect((await askWith({ 'x-operator-key': operatorKey })).errors[0].extensions.code).to.equal('BadUserInput')
      const server = await bench.app.environments.createKey({ environment: customer.name, kind: 'SERVER', name: 'other', expiresAt: null })
      const other = await newCustomer(bench, [web], `log-${++serial}`)
      expect((await askWith({ 'x-api-key': server.key }, { environmentRefId: other.name })).errors[0].extensions.code).to.equal(
        'IdentityForbidden',
      )
    })
  })

  it('tells of names, addresses and secrets only that they changed, and archiving leaves none of them behind', async () => {
    const input = { customerId: 'acme', name: 'Ada Lovelace', email: 'ada@lovelace.example' }
    await customer.mutate('provisionCustomer', { input })
    await customer.mutate('updateOneCustomer', { input: { ...input, name: 'Ada King' } })
    await customer.mutate('setPaymentMethod', { input: { customerId: 'acme', reference: 'pm_secret_1' } })
    await customer.mutate('setPaymentMethod', { input: { customerId: 'acme', reference: 'pm_secret_2' } })
    const { key } = await customer.mutate('createApiKey', { input: { environmentRefId: customer.name, kind: 'SERVER', name: 'backend' } })
    const { signingSecret } = await bench.app.environments.rotateSigningSecret(customer.name, { overlapMs: 0 })
    const made = await customer.mutate('createWebhookEndpoint', { input: { url: 'https://example.com/services/path_1?token=hook_1' } })
    const { id } = made.endpoint
    await customer.mutate('updateWebhookEndpoint', { input: { id, url: 'https://example.com/services/path_2' } })
    await customer.mutate('updateWebhookEndpoint', { input: { id, url: 'https://example.com/services/path_2' } })
    const { secret } = await customer.mutate('rotateWebhookSecret', { input: { id, overlapSeconds: 0 } })
    await customer.mutate('archiveCustomer', { input: { customerId: 'acme' } })
    const changes = (await nodes({ entityKind: 'CUSTOMER' })).map(({ operation, before, after }) => ({ operation, before, after }))
    const changed = { changed: true }
    expect(changes[1]).to.deep.equal({ operation: 'updateOneCustomer', before: { name: changed }, after: { name: changed } })
    expect(changes[0]!.before).to.deep.equal({ name: changed, email: changed, deletedAt: null })
    expect(await nodes({ entityKind: 'PAYMENT_METHOD' })).to.have.length(2)
    const [{ after }] = await nodes({ entityKind: 'ENVIRONMENT' })
    expect(after.signingSecret).to.deep.equal(changed)
    const text = JSON.stringify(await customer.sql('SELECT * FROM audit_entry WHERE environment_id = $1::uuid'))
    for (const hidden of ['Ada', 'ada@', 'pm_secret', key, signingSecret, 'hook_', 'path_', 'whsec_', made.secret, secret])
      expect(text).not.to.include(hidden)
    const [rotated, updated, created] = await nodes({ entityKind: 'WEBHOOK_ENDPOINT', entityId: id })
    expect(rotated.after.secret).to.deep.equal(changed)
    expect([updated.before, updated.after]).to.deep.equal([{ urlRest: changed }, { urlRest: changed }])
    expect(created.after).to.deep.equal({ id, url: 'https://example.com', urlRest: changed, status: 'ACTIVE' })
  })

  it('has the entries of a transaction in the order of its changes, however long it takes to write them', async () => {
    const { environmentId } = customer
    const ids = Array.from({ length: 3_000 }, (_, n) => `c${n}`)
    await inPoolTransaction(bench.pool, async (db) => {
      for (const id of ids) recordAudit(db, { environmentId, kind: 'CUSTOMER', id, before: null, after: { customerId: id } })
    })
    const rows = await customer.sql(
      "SELECT entity_id FROM audit_entry WHERE environment_id = $1::uuid AND entity_kind = 'CUSTOMER' ORDER BY at, id",
    )
    expect(rows.map(({ entity_id }) => entity_id)).to.deep.equal(ids)
  })

  it('has no entry of what was refused or rolled back, nor of what changed nothing', async () => {
    await customer.mutate('provisionCustomer', { input: { customerId: 'acme' } })
    const before = (await nodes()).length
    await customer.mutate('provisionCustomer', { input: { customerId: 'acme' } })
    await customer.mutate('updateOneCustomer', { input: { customerId: 'acme' } })
    await expectRefused(customer.mutate('createOneCustomer', { input: { customerId: 'acme' } }))
    expect(await nodes()).to.have.length(before)
  })

  describe('in the database', () => {
    const refused = /the audit log is only added to/

    it('refuses every change of what is written, of all of it and of each month, before and after months are made', async () => {
      await customer.mutate('provisionCustomer', { input: { customerId: 'acme' } })
      for (const _ of ['before', 'after']) {
        for (const table of ['audit_entry', ...(await months())])
          for (const sql of [`UPDATE ${table} SET operation = 'x'`, `DELETE FROM ${table}`, `TRUNCATE ${table}`]) {
            const { rows } = await bench.pool.query(`SELECT EXISTS (SELECT FROM ${table}) AS is_any`)
            // A month without a row has none to change.
            if (rows[0]!.is_any || sql.startsWith('TRUNCATE')) expect(await failure(bench.pool.query(sql)), sql).to.match(refused)
          }
        await retention(400).run()
      }
    })

    it('has a month for what comes, takes over what was there before its month, and drops whole months only', async () => {
      await customer.mutate('provisionCustomer', { input: { customerId: 'acme' } })
      const before = await nodes()
      await Promise.all([retention(400).run(), retention(400).run()])
      expect(await nodes()).to.deep.equal(before)
      const { rows } = await bench.pool.query('SELECT count(*)::int AS count FROM audit_entry_default')
      expect(rows[0]!.count).to.equal(0)
      expect((await months()).length).to.be.at.least(4)
      // given: a month of long ago
      await customer.sql(
        `INSERT INTO audit_entry (environment_id, id, at, actor_kind, actor_name, operation, entity_kind, entity_id)
         SELECT $1::uuid, gen_random_uuid(), now() - interval '520 days', 'SYSTEM', 'old', 'old', 'CUSTOMER', 'old'`,
      )
      const old = () => customer.sql("SELECT id FROM audit_entry WHERE environment_id = $1::uuid AND operation = 'old'")
      // then: it is there as long as some of its month is to be kept
      await retention(520).run()
      expect(await old()).to.have.length(1)
      await retention(480).run()
      expect(await old()).to.have.length(0)
      expect(await nodes()).to.deep.equal(before)
    })

    it('drops old months also when no new one can be made', async () => {
      await customer.sql(
        `INSERT INTO audit_entry (environment_id, id, at, actor_kind, actor_name, operation, entity_kind, entity_id)
         SELECT $1::uuid, gen_random_uuid(), now() - interval '520 days', 'SYSTEM', 'old', 'old', 'CUSTOMER', 'old'`,
      )
      await retention(520).run()
      await bench.pool.query('ALTER FUNCTION ensure_audit_partitions RENAME TO put_away')
      const failed = await failure(retention(480).run())
      await bench.pool.query('ALTER FUNCTION put_away RENAME TO ensure_audit_partitions')
      expect(failed).to.include('ensure_audit_partitions')
      expect(await customer.sql("SELECT id FROM audit_entry WHERE environment_id = $1::uuid AND operation = 'old'")).to.have.length(0)
    })
  })

  it('is printed by an admin command as lines of JSON, the oldest first, of a range of time', async () => {
    for (let n = 0; n < 3; n++) await customer.mutate('createOneCustomer', { input: { customerId: `c${n}` } })
    await bench.pool.query(
      `INSERT INTO audit_entry (environment_id, id, at, actor_kind, actor_name, operation, entity_kind, entity_id)
       SELECT $1::uuid, gen_random_uuid(), now() - n * interval '1 second', 'SYSTEM', 'rule', 'many', 'CUSTOMER', n::text FROM generate_series(1, 1200) AS n`,
      [customer.environmentId],
    )
    const chunks: string[] = []
    const run = async (...args: string[]) => {
      chunks.length = 0
      const write = async (lines: string) => void chunks.push(lines)
      const print = (text: string) => void chunks.push(text)
      expect(
        await runAdmin({
          args: ['audit', 'export', '--environment', customer.name, ...args],
          databaseUrl: bench.databaseUrl,
          folder: '.',
          print,
          write,
          printError: print,
        }),
        chunks.join(),
      ).to.equal(0)
      return chunks
        .join('')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Json)
    }
    const all = await run()
    expect(all).to.have.length((await customer.sql('SELECT id FROM audit_entry WHERE environment_id = $1::uuid')).length)
    expect(chunks.length).to.be.above(2)
    expect(all.map(({ at }) => at)).to.deep.equal(all.map(({ at }) => at).sort())
    expect(Object.keys(all[0])).to.have.members([
      'at',
      'id',
      'actor',
      'operation',
      'address',
      'traceId',
      'entityKind',
      'entityId',
      'before',
      'after',
    ])
    const [from, to] = [all[100].at, all[200].at]
    expect(await run('--from', from, '--to', to)).to.deep.equal(all.slice(100, 200))
  })
})

async function failure(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    return (error as Error).message
  }
}

async function expectRefused(work: Promise<unknown>): Promise<void> {
  expect(await failure(work)).to.not.equal('done')
}
