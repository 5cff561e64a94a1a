import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { recordAudit, writeAudit } from '../../../src/audit/record/record.js'
import { runAdmin } from '../../../src/local/admin/command-line.js'
import { queuePrefix } from '../../../src/platform/redis/slots.js'
import { inTransaction } from '../../../src/platform/transaction.js'
import { testRedisUrl } from '../../support/redis.js'
import { type Bench, day, openBench } from '../subscription/fixture.js'
import { entriesOf } from './mutation-entries.js'

/** What nobody has asked for, as workers do it: its actor is the rule that it follows. */
describe('the audit log of rules and admin commands', () => {
  let bench: Bench
  let environmentId: string
  let customerId: string
  let redis: Redis

  before(async () => {
    bench = await openBench()
    redis = new Redis(testRedisUrl())
  })
  after(async () => {
    redis.disconnect()
    expect(await bench.close()).to.deep.equal([])
  })
  beforeEach(async () => {
    environmentId = await bench.createEnvironment({ isTest: true })
    customerId = (await bench.customers.provision(environmentId, { refId: 'acme' })).customer.id
  })

  const never = new AbortController().signal
  const raise = ({ error }: { error: unknown }) => {
    throw error
  }
  const buy = async (more: object = {}) =>
    (
      await bench.subscriptions.provision(environmentId, {
        customerRefId: 'acme',
        subscriptionRefId: 'sub',
        planRefId: 'business',
        ...more,
      })
    ).subscription
  /** What `work` writes. */
  async function written(work: () => Promise<unknown>): Promise<string[]> {
    const { rows } = await bench.pool.query('SELECT id FROM audit_entry')
    await work()
    const entries = await entriesOf(
      bench.pool,
      rows.map(({ id }) => id as string),
    )
    for (const { text, operation, traceId, address } of entries) {
      expect([traceId, address]).to.deep.equal([null, null])
      if (text.startsWith('SYSTEM')) expect(text, 'without a call, the rule is the operation').to.include(`SYSTEM ${operation}:`)
    }
    return entries.map(({ text }) => text)
  }
  const later = async (days: number) => bench.environments.moveTestClock(environmentId, Date.now() + days * day)
  const transitions = () => bench.dueTransitions.applyDue(environmentId, customerId)

  it('has an entry for what was changed again after it was written', async () => {
    const change = (before: object, after: object) => ({
      environmentId,
      kind: 'FEATURE' as const,
      id: 'seats',
      before: { ...before },
      after: { ...after },
    })
    const entries = await written(() =>
      inTransaction(bench.prisma, async (db) => {
        await writeAudit(db)
        recordAudit(db, change({ name: 'a' }, { name: 'b' }))
        recordAudit(db, change({ name: 'b' }, { name: 'c' }))
        await writeAudit(db)
        await writeAudit(db)
        recordAudit(db, change({ name: 'c' }, { name: 'd' }))
      }),
    )
    expect(entries).to.have.length(2)
    expect(entries[0]).to.include('name')
  })

  it('has ends, trials, renewals and what follows from them by the trigger that time has pulled', async () => {
    await buy({ planRefId: 'team', subscriptionRefId: 'trial' })
    await later(15)
    expect(await written(transitions)).to.deep.equal(['SYSTEM trialEnd: SUBSCRIPTION trial cancelReason effectiveEndDate status'])
    await buy()
    await later(50)
    expect(await written(transitions)).to.deep.equal([
      'SYSTEM renewal: SUBSCRIPTION sub currentBillingPeriodEnd currentBillingPeriodStart',
      'SYSTEM renewal: INVOICE … made',
    ])
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'sub', time: 'END_OF_BILLING_PERIOD' })
    await later(85)
    expect(await written(() => bench.dueTransitions.applyDueTogether(environmentId, [customerId]))).to.deep.equal([
      'SYSTEM cancellationDue: SUBSCRIPTION sub cancelReason status',
      'SYSTEM cancellationDue: SUBSCRIPTION … made',
    ])
  })

  it('has what is due when somebody asks for something else, apart from what was asked for', async () => {
    await buy({ planRefId: 'team', subscriptionRefId: 'trial' })
    await later(15)
    const texts = await written(() => bench.promotional.grant(environmentId, 'acme', [{ featureRefId: 'sso', period: 'ONE_WEEK' }]))
    expect(texts).to.deep.equal(['SYSTEM system: PROMOTIONAL_ENTITLEMENT … made'])
    await later(30)
    expect(await written(() => bench.promotional.applyDue(environmentId, customerId))).to.deep.equal([
      'SYSTEM promotionEnds: PROMOTIONAL_ENTITLEMENT … status',
    ])
    expect(await written(() => bench.customers.update(environmentId, 'acme', { timeZone: 'Asia/Tokyo' }))).to.deep.equal([
      'SYSTEM trialEnd: SUBSCRIPTION trial cancelReason effectiveEndDate status',
      'SYSTEM system: CUSTOMER acme timezone',
    ])
  })

  it('has what payments and their deadlines do, by the call of the provider', async () => {
    const { id } = await buy({ billing: { collectionMethod: 'CHARGE' } })
    expect(await written(() => bench.billing.deliverAll(environmentId, id))).to.deep.equal([
      'SYSTEM billingCall: INVOICE … attemptCount billingId number',
      'SYSTEM billingCall: SUBSCRIPTION sub paymentCollection',
    ])
    await later(2)
    expect(
      await written(async () => {
        await bench.billing.sweepDeadlines({ environmentId })
        while ((await bench.billing.deliver({ of: { environmentId } })) > 0);
      }),
    ).to.deep.equal([
      'SYSTEM billingCall: INVOICE … status',
      'SYSTEM billingCall: SUBSCRIPTION sub cancelReason cancellationDate effectiveEndDate status',
    ])
  })

  it('has imported records by the import, and migrated subscriptions by the migration', async () => {
    const importId = await bench.imports.start(environmentId, 'CUSTOMERS', [{ refId: 'globex', name: 'Globex' }, { refId: ' ' }])
    expect(await written(() => bench.imports.run(environmentId, importId, never))).to.deep.equal(['SYSTEM import: CUSTOMER globex made'])
    const { rows } = await bench.pool.query("SELECT actor_id FROM audit_entry WHERE entity_id = 'globex'")
    expect(rows).to.deep.equal([{ actor_id: importId }])
    const document = (await bench.catalog.export(environmentId)) as unknown as { plans: { refId: string }[] }
    const plans = document.plans.map((plan) => (plan.refId === 'free' ? { ...plan, displayName: 'Free', publish: 'ALL_CUSTOMERS' } : plan))
    await bench.catalog.apply(environmentId, { plans }, { dryRun: false, archiveMissing: false })
    expect(await written(() => bench.packageMigrations.run(never, raise))).to.deep.equal(['SYSTEM packageMigration: SUBSCRIPTION … plan'])
  })

  it('has every admin command that changes something, by the operator', async () => {
    const folder = tmpdir()
    const refId = `admin-${environmentId}`
    writeFileSync(join(folder, `${refId}.yaml`), 'features:\n  - { refId: calls, type: NUMBER, meter: Incremental }\n')
    const admin = async (...args: string[]) => {
      const output: string[] = []
      const print = (text: string) => void output.push(text)
      const texts = await written(async () => {
        const { redisUrl, prefix } = bench.queues
        const parts = { databaseUrl: bench.databaseUrl, redisUrl, queuePrefix: prefix, folder, print, printError: print }
        const code = await runAdmin({ args: [...args, '--json'], ...parts })
        expect(code, output.join()).to.equal(0)
      })
      return { texts: texts.map((text) => text.replaceAll(refId, 'ENV')), json: JSON.parse(output.join('')) }
    }
    /** A job that has failed for good. */
    const newLetter = async (ofEnvironment: string) => {
      const [queue, job] = ['event-aggregation', randomUUID()]
      const key = `${queuePrefix(bench.queues.prefix, queue)}:${queue}`
      const row = { name: 'job', data: JSON.stringify({ environmentId: ofEnvironment }), opts: '{}', timestamp: 1, finishedOn: 1, atm: 1 }
      await redis.hset(`${key}:${job}`, { ...row, failedReason: 'of a test' })
      await redis.zadd(`${key}:failed`, 1, job)
      return `${queue}/${job}`
    }
    const newUnreadable = async (ofEnvironment: string) => {
      const id = randomUUID()
      await bench.prisma.outboxMessage.create({
        data: { environmentId: ofEnvironment, id, kind: 'usage', version: 1n, unreadable: 'of a test' },
      })
      return `outbox/${id}`
    }
    const changesOf = async (...args: string[]) => (await admin(...args)).texts
    const by = 'OPERATOR operator:'
    expect(await changesOf('environment', 'create', refId)).to.deep.equal([`${by} ENVIRONMENT ENV made`])
    const of = ['--environment', refId]
    const created = await admin('key', 'create', '--name', 'backend', ...of)
    expect(created.texts).to.deep.equal([`${by} API_KEY … made`])
    const rotated = await admin('key', 'rotate', created.json.id, '--overlap', '1h')
    expect(rotated.texts).to.deep.equal([`${by} API_KEY … expiresAt`, `${by} API_KEY … made`])
    expect(await changesOf('key', 'revoke', rotated.json.id)).to.deep.equal([`${by} API_KEY … revokedAt`])
    expect(await changesOf('key', 'revoke', rotated.json.id), 'the second time changes nothing').to.deep.equal([])
    expect(await changesOf('environment', 'enable-persistent-cache', refId)).to.deep.equal([`${by} ENVIRONMENT ENV hasPersistentCache`])
    expect(await changesOf('environment', 'disable-persistent-cache', refId)).to.deep.equal([`${by} ENVIRONMENT ENV hasPersistentCache`])
    expect(await changesOf('signing-secret', 'rotate', ...of)).to.deep.equal([`${by} ENVIRONMENT ENV previousExpiresAt signingSecret`])
    expect(await changesOf('catalog', 'apply', `${refId}.yaml`, '--dry-run', ...of)).to.deep.equal([])
    expect(await changesOf('catalog', 'apply', `${refId}.yaml`, ...of)).to.deep.equal([`${by} FEATURE calls made`])
    expect(await changesOf('environment', 'queue-access', ...of)).to.deep.equal([])
    const user = `persistent-cache-service-${refId}`
    expect(await changesOf('environment', 'queue-access', '--apply', ...of)).to.deep.equal([
      `${by} QUEUE_USER persistent-cache-service-ENV made`,
    ])
    await redis.call('ACL', 'DELUSER', user)
    const { id } = await bench.prisma.environment.findUniqueOrThrow({ where: { refId } })
    const letters = [await newLetter(id), await newLetter(id)]
    for (const [n, letter] of letters.entries())
      expect(await changesOf('dead-letters', n === 0 ? 'retry' : 'discard', letter)).to.deep.equal([
        `${by} DEAD_LETTER ${letter} ${n === 0 ? 'status' : 'gone'}`,
      ])
    const changes = [await newUnreadable(id), await newUnreadable(id)]
    for (const [n, change] of changes.entries())
      expect(await changesOf('dead-letters', n === 0 ? 'retry' : 'discard', change)).to.deep.equal([
        `${by} DEAD_LETTER ${change} ${n === 0 ? 'status' : 'gone'}`,
      ])
    expect(await changesOf('dead-letters', 'list')).to.deep.equal([])
    const { rows } = await bench.pool.query("SELECT DISTINCT operation FROM audit_entry WHERE actor_kind = 'OPERATOR' ORDER BY 1")
    expect(rows.map(({ operation }) => operation)).to.deep.equal(
      ['catalog apply', 'dead-letters discard', 'dead-letters retry']
        .concat([
          'environment create',
          'environment disable-persistent-cache',
          'environment enable-persistent-cache',
          'environment queue-access',
        ])
        .concat(['key create', 'key revoke', 'key rotate', 'signing-secret rotate'])
        .map((name) => `admin ${name}`),
    )
  })
})
