import { expect } from 'chai'
import { atOnce, type Bench, openBench, reasonOf } from '../subscription/fixture.js'

describe('writing a customer', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
  })

  const messages = () => bench.prisma.outboxMessage.count({ where: { environmentId } })
  const addCoupons = () =>
    bench.catalog.apply(environmentId, 'coupons: [{ refId: half, percentOff: 50 }, { refId: old, percentOff: 10 }]', {
      dryRun: false,
      archiveMissing: false,
    })
  const archiveCoupon = (refId: string) => bench.prisma.coupon.updateMany({ where: { environmentId, refId }, data: { status: 'ARCHIVED' } })

  describe('creating', () => {
    it('makes it without a subscription', async () => {
      const customer = await bench.customers.create(environmentId, { refId: 'acme', name: 'Acme', createdAt: Date.parse('2020-01-01') })
      expect(customer).to.deep.include({ refId: 'acme', name: 'Acme', createdAt: Date.parse('2020-01-01') })
      expect(await bench.subscriptionReads.active(environmentId, { customerRefId: 'acme' })).to.deep.equal([])
      expect((await bench.entitlements.state(environmentId, 'acme', null)).deniedReason).to.equal('NoActiveSubscription')
      expect(await messages()).to.equal(1)
    })
    it('refuses an identifier that is taken, by an archived customer too', async () => {
      await bench.customers.create(environmentId, { refId: 'acme', name: 'Acme' })
      expect(await reasonOf(bench.customers.create(environmentId, { refId: 'acme', name: 'Other' }))).to.equal(
        'DUPLICATED_ENTITY_NOT_ALLOWED',
      )
      expect((await bench.customers.get(environmentId, 'acme'))!.name).to.equal('Acme')
      await bench.customers.archive(environmentId, 'acme')
      expect(await reasonOf(bench.customers.create(environmentId, { refId: 'acme' }))).to.equal('DUPLICATED_ENTITY_NOT_ALLOWED')
    })
    it('of eight twins at once makes one and refuses seven', async () => {
      const reasons = await atOnce(() => reasonOf(bench.customers.create(environmentId, { refId: 'acme' })))
      expect(reasons.filter((reason) => reason === null)).to.have.length(1)
      expect(reasons.filter((reason) => reason === 'DUPLICATED_ENTITY_NOT_ALLOWED')).to.have.length(7)
    })
    it('leaves the first subscription to be asked for', async () => {
      await bench.customers.create(environmentId, { refId: 'acme' })
      const { subscription } = await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business' })
      expect(subscription.status).to.equal('ACTIVE')
    })
  })

  describe('updating', () => {
    beforeEach(async () => {
      await bench.customers.create(environmentId, {
        refId: 'acme',
        name: 'Acme',
        email: 'billing@acme.test',
        billingId: 'b-1',
        crmId: 'c-1',
        timeZone: 'Europe/Berlin',
        billingCurrency: 'EUR',
        additionalMetaData: { region: 'eu', seats: 3 },
      })
    })
    it('changes what is sent, clears what is null, and keeps the rest', async () => {
      const before = (await bench.customers.get(environmentId, 'acme'))!
      const after = await bench.customers.update(environmentId, 'acme', { name: 'Acme Inc', crmId: null, salesforceId: 's-1' })
      expect(after).to.deep.equal({ ...before, name: 'Acme Inc', crmId: null, salesforceId: 's-1', updatedAt: after.updatedAt })
      expect(after.updatedAt).to.be.greaterThan(before.updatedAt)
      expect(await bench.customers.get(environmentId, 'acme')).to.deep.equal(after)
    })
    it('merges metadata key by key, also of many at once', async () => {
      await atOnce((index) =>
        bench.customers.update(environmentId, 'acme', { additionalMetaData: { [`key${index}`]: index, seats: null } }),
      )
      const { additionalMetaData } = (await bench.customers.get(environmentId, 'acme'))!
      expect(additionalMetaData).to.deep.equal({ region: 'eu', ...Object.fromEntries([...'01234567'].map((n) => [`key${n}`, Number(n)])) })
      expect((await bench.customers.update(environmentId, 'acme', { additionalMetaData: null })).additionalMetaData).to.equal(null)
    })
    it('tells the change of a time zone, and nothing that decides about nothing', async () => {
      const before = await messages()
      await bench.customers.update(environmentId, 'acme', { name: 'Acme Inc' })
      expect(await messages()).to.equal(before)
      await bench.customers.update(environmentId, 'acme', { timeZone: 'Asia/Tokyo' })
      expect(await messages()).to.equal(before + 1)
    })
    it('gives and takes a coupon', async () => {
      await addCoupons()
      const { couponId } = await bench.customers.update(environmentId, 'acme', { couponRefId: 'half' })
      expect(couponId).to.equal((await bench.prisma.coupon.findFirstOrThrow({ where: { environmentId, refId: 'half' } })).id)
      expect((await bench.customers.update(environmentId, 'acme', { name: 'Acme' })).couponId).to.equal(couponId)
      expect((await bench.customers.update(environmentId, 'acme', { couponRefId: null })).couponId).to.equal(null)
    })
    it('refuses a coupon that is not there, or archived, and changes nothing', async () => {
      await addCoupons()
      await archiveCoupon('old')
      for (const couponRefId of ['none', 'old'])
        expect(await reasonOf(bench.customers.update(environmentId, 'acme', { name: 'X', couponRefId }))).to.equal('COUPON_NOT_FOUND')
      expect(await reasonOf(bench.customers.provision(environmentId, { refId: 'new', couponRefId: 'none' }))).to.equal('COUPON_NOT_FOUND')
      expect(await bench.customers.get(environmentId, 'new')).to.equal(null)
      expect((await bench.customers.get(environmentId, 'acme'))!.name).to.equal('Acme')
    })
    it('refuses an unknown and an archived customer', async () => {
      expect(await reasonOf(bench.customers.update(environmentId, 'nobody', { name: 'X' }))).to.equal('CUSTOMER_NOT_FOUND')
      await bench.customers.archive(environmentId, 'acme')
      expect(await reasonOf(bench.customers.update(environmentId, 'acme', { name: 'X' }))).to.equal('ENTITY_IS_ARCHIVED')
    })
  })

  describe('importing one', () => {
    const importOne = (facts: object) => bench.customers.importOne(environmentId, { refId: 'acme', ...facts })

    it('makes it without a subscription, and changes what is sent when it is there', async () => {
      const first = await importOne({ name: 'Acme', email: 'a@acme.test', additionalMetaData: { a: 1 } })
      const again = await importOne({ billingId: 'b-1', email: null, additionalMetaData: { b: 2 } })
      expect(again).to.deep.include({ id: first.id, name: 'Acme', email: null, billingId: 'b-1', additionalMetaData: { a: 1, b: 2 } })
      expect(await bench.prisma.subscription.count({ where: { environmentId } })).to.equal(0)
    })
    it('in any order ends with the newest', async () => {
      await importOne({ name: 'second', updatedAt: 2_000 })
      expect((await importOne({ name: 'first', updatedAt: 1_000 })).name).to.equal('second')
      expect((await importOne({ name: 'third', updatedAt: 3_000 })).name).to.equal('third')
      // The same one again is no older.
      expect((await importOne({ name: 'third again', updatedAt: 3_000 })).name).to.equal('third again')
      expect((await importOne({ name: 'undated' })).name).to.equal('undated')
    })
    it('refuses an archived customer', async () => {
      await importOne({})
      await bench.customers.archive(environmentId, 'acme')
      expect(await reasonOf(importOne({}))).to.equal('ENTITY_IS_ARCHIVED')
    })
  })
})
