import { expect } from 'chai'
import type { PromotionalGrant } from '../../../src/entitlement/rules/promotional.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { atOnce, type Bench, day, openBench, reasonOf } from '../subscription/fixture.js'

describe('promotional entitlements', () => {
  let bench: Bench
  let environmentId: string
  let customerId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    await bench.catalog.apply(environmentId, 'features: [{ refId: regions, type: ENUM, enumValues: [eu, us, asia] }]', {
      dryRun: false,
      archiveMissing: false,
    })
    customerId = (await bench.customers.provision(environmentId, { refId: 'acme' })).customer.id
  })

  const grant = (...grants: (Partial<PromotionalGrant> & { featureRefId: string })[]) =>
    bench.promotional.grant(
      environmentId,
      'acme',
      grants.map((each) => ({ period: 'LIFETIME', ...each })),
    )
  const revoke = (featureRefId: string) => bench.promotional.revoke(environmentId, 'acme', featureRefId)
  const held = async () => (await bench.promotional.held(environmentId, [customerId]))[0]!
  const state = () => bench.entitlements.state(environmentId, 'acme', null)
  const find = async (featureRefId: string) => (await state()).entitlements.find(({ feature }) => feature.refId === featureRefId)
  const ask = (featureRefId: string, more: { requested?: number; values?: string[] } = {}) =>
    bench.entitlements.check(environmentId, {
      customerRefId: 'acme',
      featureRefId,
      resourceRefId: null,
      requestedUsage: decimal.fromNumber(more.requested ?? 0),
      requestedValues: more.values ?? null,
    })
  /** As if the customer's grants had been made so much earlier. */
  const age = (ms: number) =>
    bench.prisma.$executeRaw`UPDATE promotional_entitlement
      SET start_date = start_date - ${ms} * interval '1 millisecond', end_date = end_date - ${ms} * interval '1 millisecond',
        due_at = due_at - ${ms} * interval '1 millisecond' WHERE environment_id = ${environmentId}::uuid`
  /** Tests leave ends that are never told. */
  const due = async () => (await bench.promotional.dueCustomers(1_000, [])).filter((one) => one.environmentId === environmentId)
  const messages = () => bench.prisma.outboxMessage.findMany({ where: { environmentId }, orderBy: { version: 'asc' } })

  it('are late by how long ago the oldest end came that was not told', async () => {
    await grant({ featureRefId: 'sso', period: 'CUSTOM', customEndDate: Date.now() + 3_600_000 })
    await age(500 * 86_400_000)
    expect(await bench.promotional.lagSeconds()).to.be.closeTo(500 * 86_400 - 3_600, 10)
    await bench.promotional.applyDue(environmentId, customerId)
    expect(await bench.promotional.lagSeconds()).to.be.below(86_400)
  })
  it('entitle to what no plan of the customer has', async () => {
    expect((await ask('sso')).granted).to.equal(false)
    const [granted] = await grant({ featureRefId: 'sso' })
    expect((await ask('sso')).granted).to.equal(true)
    expect(await held()).to.deep.equal([granted])
  })
  it('entitle a customer without a subscription, and its resources', async () => {
    await bench.customers.create(environmentId, { refId: 'bare' })
    await bench.promotional.grant(environmentId, 'bare', [{ featureRefId: 'sso', period: 'LIFETIME' }])
    expect((await bench.entitlements.state(environmentId, 'bare', null)).deniedReason).to.equal(null)
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'room', resourceRefId: 'r1' })
    await grant({ featureRefId: 'sso' })
    const { entitlements } = await bench.entitlements.state(environmentId, 'acme', 'r1')
    expect(entitlements.map(({ feature }) => feature.refId)).to.include('sso')
  })
  it('win where they are more generous than the plan, and not where they are less', async () => {
    await grant({ featureRefId: 'calls', usageLimit: 5, resetPeriod: 'DAY' })
    expect((await find('calls'))!.usageLimit).to.equal('10')
    await grant({ featureRefId: 'calls', usageLimit: 5_000, resetPeriod: 'DAY' })
    expect(await find('calls')).to.deep.include({ usageLimit: '5000' })
    await grant({ featureRefId: 'calls', hasUnlimitedUsage: true })
    expect((await ask('calls', { requested: 1e9 })).granted).to.equal(true)
  })
  it('of an ENUM give their values', async () => {
    await grant({ featureRefId: 'regions', enumValues: ['eu', 'us'] })
    expect((await ask('regions', { values: ['us'] })).granted).to.equal(true)
    expect(await ask('regions', { values: ['us', 'asia'] })).to.deep.include({ granted: false, reason: 'RequestedValuesMismatch' })
  })
  it('are measured in usage periods of their own, from the grant on', async () => {
    const { startDate } = (await grant({ featureRefId: 'calls', usageLimit: 5_000, resetPeriod: 'DAY' }))[0]!
    const { usage, reset } = (await find('calls'))!
    expect(reset).to.deep.include({ period: 'DAY', rule: 'SubscriptionStart', anchor: startDate })
    expect([usage!.periodStart, usage!.periodEnd]).to.deep.equal([startDate, startDate + day])
  })

  it('replace what was granted of the same feature', async () => {
    await grant({ featureRefId: 'calls', usageLimit: 5_000 }, { featureRefId: 'sso' })
    await grant({ featureRefId: 'calls', usageLimit: 50 })
    expect((await held()).map(({ feature, usageLimit }) => [feature.refId, usageLimit])).to.deep.equal([
      ['calls', '50'],
      ['sso', null],
    ])
    expect((await find('calls'))!.usageLimit).to.equal('50')
  })
  it('are one, granted eight times at once', async () => {
    await atOnce((index) => grant({ featureRefId: 'calls', usageLimit: 100 + index }))
    expect(await held()).to.have.length(1)
  })
  it('are granted all or nothing', async () => {
    expect(await reasonOf(grant({ featureRefId: 'sso' }, { featureRefId: 'gold' }))).to.equal('FEATURE_NOT_FOUND')
    expect(await reasonOf(grant({ featureRefId: 'sso' }, { featureRefId: 'calls' }))).to.equal('BAD_USER_INPUT')
    expect(await reasonOf(grant({ featureRefId: 'sso' }, { featureRefId: 'sso' }))).to.equal('BAD_USER_INPUT')
    expect(await reasonOf(grant())).to.equal('BAD_USER_INPUT')
    expect(await held()).to.deep.equal([])
  })
  it('are refused to an unknown customer', async () =>
    expect(await reasonOf(bench.promotional.grant(environmentId, 'nobody', [{ featureRefId: 'sso', period: 'LIFETIME' }]))).to.equal(
      'CUSTOMER_NOT_FOUND',
    ))

  describe('revoked', () => {
    it('give nothing from then on, and are not held any more', async () => {
      await grant({ featureRefId: 'sso' }, { featureRefId: 'regions', enumValues: ['eu'] })
      const revoked = await revoke('sso')
      expect(revoked).to.deep.include({ period: 'LIFETIME' })
      expect(revoked.revokedAt).to.be.a('number')
      expect((await ask('sso')).granted).to.equal(false)
      expect((await held()).map(({ feature }) => feature.refId)).to.deep.equal(['regions'])
    })
    it('twice, or never granted, are refused', async () => {
      await grant({ featureRefId: 'sso' })
      await revoke('sso')
      expect(await reasonOf(revoke('sso'))).to.equal('PROMOTIONAL_ENTITLEMENT_NOT_FOUND')
      expect(await reasonOf(revoke('calls'))).to.equal('PROMOTIONAL_ENTITLEMENT_NOT_FOUND')
      expect(await reasonOf(revoke('gold'))).to.equal('FEATURE_NOT_FOUND')
    })
  })

  it('tell each change with a new version', async () => {
    const before = (await messages()).length
    await grant({ featureRefId: 'sso' }, { featureRefId: 'calls', usageLimit: 1 })
    await revoke('sso')
    const told = (await messages()).slice(before)
    expect(told.map(({ kind, customerId }) => [kind, customerId])).to.deep.equal([
      ['entitlements', 'acme'],
      ['entitlements', 'acme'],
    ])
    expect(Number(told[1]!.version)).to.equal((await state()).version)
  })

  describe('at their end', () => {
    beforeEach(async () => {
      await grant(
        { featureRefId: 'sso', period: 'ONE_WEEK' },
        { featureRefId: 'calls', usageLimit: 99, period: 'CUSTOM', customEndDate: Date.now() + 2 * day },
      )
    })
    it('are known beforehand: a reader needs no message', async () => {
      const [sso] = (await held()).filter(({ feature }) => feature.refId === 'sso')
      expect((await state()).validUntil).to.be.closeTo(Date.now() + 2 * day, 60_000)
      await revoke('calls')
      expect((await find('sso'))!.validUntil).to.equal(sso!.endDate)
    })
    it('give nothing, though nothing was recorded, and are still held', async () => {
      await age(7 * day)
      expect((await ask('sso')).granted).to.equal(false)
      expect(await held()).to.have.length(2)
    })
    it('are found although a customer that is left alone has many that are older', async () => {
      await age(9 * day)
      const client = await bench.pool.connect()
      try {
        // The features need not be there.
        await client.query("SET session_replication_role = 'replica'")
        const copied = "jsonb_build_object('id', gen_random_uuid(), 'feature_id', gen_random_uuid())"
        await client.query(`
          INSERT INTO promotional_entitlement SELECT (jsonb_populate_record(one, ${copied})).*
          FROM (SELECT one FROM promotional_entitlement AS one WHERE environment_id = '${environmentId}' AND due_at IS NOT NULL LIMIT 1) AS known
          CROSS JOIN generate_series(1, 60)`)
      } finally {
        await client.query('RESET session_replication_role')
        client.release()
      }
      const beta = (await bench.customers.provision(environmentId, { refId: 'beta' })).customer.id
      await bench.promotional.grant(environmentId, 'beta', [{ featureRefId: 'sso', period: 'CUSTOM', customEndDate: Date.now() + day }])
      await age(day + 60_000)
      const found = async (leftAlone: string[]) =>
        (await bench.promotional.dueCustomers(50, leftAlone)).flatMap((one) =>
          one.environmentId === environmentId ? [one.customerId] : [],
        )
      expect([await found([]), await found([customerId]), await found([customerId, beta])]).to.deep.equal([[customerId], [beta], []])
    })
    it('are told once, by whoever comes first', async () => {
      await age(7 * day)
      expect(await due()).to.deep.equal([{ environmentId, customerId }])
      const before = await state()
      const told = await atOnce(() => bench.promotional.applyDue(environmentId, customerId))
      expect(told.filter(Boolean)).to.have.length(1)
      expect((await state()).version).to.be.greaterThan(before.version)
      expect((await messages()).at(-1)).to.deep.include({ kind: 'entitlements', version: BigInt((await state()).version) })
      expect(await due()).to.deep.equal([])
    })
    it('are not told before', async () => {
      await age(2 * day - 60_000)
      expect(await bench.promotional.applyDue(environmentId, customerId)).to.equal(false)
      expect(await due()).to.deep.equal([])
    })
    it('are not told when they were revoked or replaced before', async () => {
      await revoke('sso')
      await grant({ featureRefId: 'calls', usageLimit: 99 })
      await age(30 * day)
      expect(await due()).to.deep.equal([])
    })
    it('may be granted again', async () => {
      await age(7 * day)
      await grant({ featureRefId: 'sso', period: 'ONE_MONTH' })
      expect((await ask('sso')).granted).to.equal(true)
      expect(await held()).to.have.length(2)
    })
  })

  it('end by the test clock of an environment that has one', async () => {
    await bench.prisma.environment.update({ where: { id: environmentId }, data: { isTest: true } })
    const { now } = await bench.testClocks.create(environmentId, Date.now() + 10 * day)
    await grant({ featureRefId: 'sso', period: 'ONE_WEEK' })
    expect((await held())[0]).to.deep.include({ status: 'Active', startDate: now, endDate: now + 7 * day })
    await bench.testClocks.advance(environmentId, now + 7 * day - 1)
    expect([(await ask('sso')).granted, (await held())[0]!.status]).to.deep.equal([true, 'Active'])
    const before = (await messages()).length
    await bench.testClocks.advance(environmentId, now + 7 * day)
    expect([(await ask('sso')).granted, (await held())[0]!.status]).to.deep.equal([false, 'Expired'])
    expect((await messages()).length).to.be.greaterThan(before)
    expect(await due()).to.deep.equal([{ environmentId, customerId }])
    expect(await bench.promotional.applyDue(environmentId, customerId)).to.equal(true)
  })

  it('of another environment are neither seen nor revoked', async () => {
    await grant({ featureRefId: 'sso' })
    const other = await bench.createEnvironment()
    await bench.customers.provision(other, { refId: 'acme' })
    expect(await bench.promotional.held(other, [customerId])).to.deep.equal([[]])
    expect(await reasonOf(bench.promotional.revoke(other, 'acme', 'sso'))).to.equal('PROMOTIONAL_ENTITLEMENT_NOT_FOUND')
    expect((await ask('sso')).granted).to.equal(true)
  })
})
