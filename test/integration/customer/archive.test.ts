import { expect } from 'chai'
import { atOnce, type Bench, openBench, reasonOf } from '../subscription/fixture.js'

describe('archiving a customer', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    await bench.customers.provision(environmentId, {
      refId: 'acme',
      name: 'Acme',
      email: 'a@acme.test',
      crmId: 'c-1',
      additionalMetaData: { a: 1 },
    })
  })

  const archive = () => bench.customers.archive(environmentId, 'acme')
  const unarchive = () => bench.customers.unarchive(environmentId, 'acme')
  const stateReason = async (resource: string | null = null) =>
    (await bench.entitlements.state(environmentId, 'acme', resource)).deniedReason

  it('forgets name and email, keeps the rest, and hides it', async () => {
    const archived = await archive()
    expect(archived).to.deep.include({ refId: 'acme', name: null, email: null, crmId: 'c-1', additionalMetaData: { a: 1 } })
    expect(archived.archivedAt).to.be.a('number')
    expect(await bench.customers.get(environmentId, 'acme')).to.equal(null)
  })
  it('cancels every subscription, starts no free one, and says why', async () => {
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business' })
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'team' })
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'room', resourceRefId: 'r1' })
    const later = { customerRefId: 'acme', planRefId: 'room', resourceRefId: 'r2', startDate: Date.now() + 1e9 }
    await bench.subscriptions.provision(environmentId, later)
    const open = await bench.prisma.subscription.findMany({ where: { environmentId, status: { notIn: ['CANCELED', 'EXPIRED'] } } })
    const { archivedAt } = await archive()
    const ended = await bench.prisma.subscription.findMany({ where: { environmentId, id: { in: open.map(({ id }) => id) } } })
    expect(ended.map(({ status, cancelReason }) => [status, cancelReason])).to.deep.equal(open.map(() => ['CANCELED', 'CustomerArchived']))
    expect(new Set(ended.map(({ effectiveEndDate }) => effectiveEndDate!.getTime()))).to.deep.equal(new Set([archivedAt]))
    expect(await bench.prisma.subscription.count({ where: { environmentId, status: { notIn: ['CANCELED', 'EXPIRED'] } } })).to.equal(0)
  })
  it('ends access of the customer and its resources at once, and tells it', async () => {
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'room', resourceRefId: 'r1' })
    const { version } = await bench.entitlements.state(environmentId, 'acme', null)
    await archive()
    expect(await stateReason()).to.equal('CustomerIsArchived')
    expect(await stateReason('r1')).to.equal('CustomerIsArchived')
    const [message] = await bench.prisma.outboxMessage.findMany({ where: { environmentId }, orderBy: { version: 'desc' } })
    expect(Number(message!.version)).to.be.greaterThan(version)
    expect(message).to.deep.include({ kind: 'entitlements', customerId: 'acme' })
  })
  it('is safe to repeat, also at once', async () => {
    const archived = await atOnce(archive)
    expect(new Set(archived.map(({ archivedAt }) => archivedAt)).size).to.equal(1)
    expect(await archive()).to.deep.equal(archived[0])
  })
  it('refuses what would give it something', async () => {
    await archive()
    const { subscriptions, promotional } = bench
    const refused = {
      subscription: () => subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business' }),
      provision: () => bench.customers.provision(environmentId, { refId: 'acme' }),
      promotional: () => promotional.grant(environmentId, 'acme', [{ featureRefId: 'sso', period: 'LIFETIME' }]),
    }
    for (const [name, work] of Object.entries(refused)) expect(await reasonOf(work()), name).to.equal('ENTITY_IS_ARCHIVED')
  })
  it('refuses an unknown customer', async () => {
    expect(await reasonOf(bench.customers.archive(environmentId, 'nobody'))).to.equal('CUSTOMER_NOT_FOUND')
    expect(await reasonOf(bench.customers.unarchive(environmentId, 'nobody'))).to.equal('CUSTOMER_NOT_FOUND')
  })

  describe('and bringing it back', () => {
    it('brings back neither name nor access, and lets it be subscribed anew', async () => {
      await bench.promotional.grant(environmentId, 'acme', [{ featureRefId: 'sso', period: 'LIFETIME' }])
      await archive()
      expect(await unarchive()).to.deep.include({ name: null, email: null, crmId: 'c-1', archivedAt: null })
      expect(await stateReason()).to.equal('NoActiveSubscription')
      await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business' })
      expect(await stateReason()).to.equal(null)
      await bench.customers.update(environmentId, 'acme', { name: 'Acme again' })
      expect((await bench.customers.get(environmentId, 'acme'))!.name).to.equal('Acme again')
    })
    it('is safe to repeat, and leaves a customer alone that is not archived', async () => {
      const before = await bench.customers.get(environmentId, 'acme')
      expect(await unarchive()).to.deep.include({ name: 'Acme', archivedAt: null })
      expect(await bench.customers.get(environmentId, 'acme')).to.deep.equal(before)
    })
  })
})
