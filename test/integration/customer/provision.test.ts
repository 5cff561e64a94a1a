import { expect } from 'chai'
import { atOnce, type Bench, openBench, reasonOf } from '../subscription/fixture.js'

describe('provisioning a customer', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
  })

  type Input = Parameters<Bench['customers']['provision']>[1]
  const provision = (input: Partial<Input> = {}) => bench.customers.provision(environmentId, { refId: 'acme', ...input })
  const customers = () => bench.prisma.customer.findMany({ where: { environmentId } })
  const subscriptions = () => bench.prisma.subscription.findMany({ where: { environmentId } })
  const apply = (settings: string) =>
    bench.catalog.apply(environmentId, `products: [{ refId: cloud, settings: { ${settings} } }]`, { dryRun: false, archiveMissing: false })

  it('answers the customer as it is stored', async () => {
    const fields = { name: 'Acme', email: 'billing@acme.test', timeZone: 'Europe/Berlin', additionalMetaData: { region: 'eu' } }
    const { customer } = await provision({ ...fields, createdAt: Date.parse('2020-01-02T03:04:05.678Z') })
    expect(customer).to.deep.include({
      refId: 'acme',
      ...fields,
      crmId: null,
      archivedAt: null,
      createdAt: Date.parse('2020-01-02T03:04:05.678Z'),
    })
    expect(await bench.customers.get(environmentId, 'acme')).to.deep.equal(customer)
    expect(await bench.customers.byIds(environmentId, [customer.id])).to.deep.equal([customer])
  })

  it('makes an identifier where none is given', async () => {
    const { customer } = await provision({ refId: null })
    expect(await bench.customers.get(environmentId, customer.refId)).to.deep.equal(customer)
  })

  describe('decides about the first subscription', () => {
    const outcome = async (input: Partial<Input> = {}) => {
      const { decision, subscription } = await provision(input)
      return [decision, subscription?.plan.refId ?? null, subscription?.status ?? null]
    }
    it('by the plan that is asked for', async () => {
      expect(await outcome({ subscription: { planRefId: 'business' } })).to.deep.equal(['REQUESTED_PLAN', 'business', 'ACTIVE'])
    })
    it('by the free plan of the default product', async () => {
      expect(await outcome()).to.deep.equal(['PREDEFINED_FREE_PLAN', 'free', 'ACTIVE'])
    })
    it('by the trial of the default product', async () => {
      await apply('newCustomer: TRIAL_PERIOD, newCustomerPlan: team, endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free')
      expect(await outcome()).to.deep.equal(['PREDEFINED_TRIAL_PLAN', 'team', 'IN_TRIAL'])
    })
    it('not at all where the customer selects', async () => {
      await apply('newCustomer: PLAN_SELECTION')
      expect(await outcome()).to.deep.equal(['SKIPPED_SUBSCRIPTION_CREATION', null, null])
    })
    it('not for a customer that is known, even with a plan asked for', async () => {
      await provision()
      expect(await outcome({ subscription: { planRefId: 'business' } })).to.deep.equal(['SKIPPED_SUBSCRIPTION_CREATION', null, null])
      expect(await subscriptions()).to.have.length(1)
    })
  })

  it('answers what the customer may use from now on', async () => {
    const { state } = await provision()
    expect(state.deniedReason).to.equal(null)
    const { basis: _, ...read } = await bench.entitlements.state(environmentId, 'acme', null)
    expect(read).to.deep.equal(state)
  })

  it('of eight twins at once makes one customer with one subscription, and every one is answered', async () => {
    const answers = await atOnce((index) => provision({ name: `Acme ${index}` }))
    expect(await customers()).to.have.length(1)
    expect(await subscriptions()).to.have.length(1)
    expect(new Set(answers.map(({ customer }) => customer.id)).size).to.equal(1)
    expect(answers.filter(({ decision }) => decision === 'PREDEFINED_FREE_PLAN')).to.have.length(1)
    expect(new Set(answers.map(({ state }) => state.version)).size).to.equal(8)
  })

  it('repeated, changes what is sent and keeps the rest', async () => {
    const first = await provision({ name: 'Acme', email: 'a@acme.test', additionalMetaData: { a: 1 } })
    const { customer, state } = await provision({ email: null, timeZone: 'Asia/Tokyo' })
    expect(customer).to.deep.include({
      id: first.customer.id,
      name: 'Acme',
      email: null,
      timeZone: 'Asia/Tokyo',
      additionalMetaData: { a: 1 },
    })
    expect(state.version).to.be.greaterThan(first.state.version)
  })

  it('tells everybody, so that nobody goes on believing that the customer is unknown', async () => {
    const { state } = await provision()
    const messages = await bench.prisma.outboxMessage.findMany({ where: { environmentId }, orderBy: { version: 'desc' } })
    expect(messages[0]).to.deep.include({ kind: 'entitlements', customerId: 'acme', version: BigInt(state.version) })
  })

  it('keeps environments apart', async () => {
    await provision()
    const other = await bench.createEnvironment()
    expect(await bench.customers.get(other, 'acme')).to.equal(null)
    expect((await bench.customers.provision(other, { refId: 'acme' })).decision).to.equal('PREDEFINED_FREE_PLAN')
  })

  it('compares identifiers exactly', async () => {
    for (const refId of ['acme', 'Acme', 'acme ', 'açme', 'a:b', 'a%b', "a'b"]) await provision({ refId })
    expect(await customers()).to.have.length(7)
  })

  describe('refuses', () => {
    for (const refId of ['', ' ', 'a\nb', 'x'.repeat(256)]) {
      it(`the identifier ${JSON.stringify(refId.slice(0, 10))}`, async () =>
        expect(await reasonOf(provision({ refId }))).to.equal('BAD_USER_INPUT'))
    }
    it('a time zone that does not exist', async () =>
      expect(await reasonOf(provision({ timeZone: 'Mars/Olympus' }))).to.equal('BAD_USER_INPUT'))
    it('a plan that does not exist, and makes no customer', async () => {
      expect(await reasonOf(provision({ subscription: { planRefId: 'gold' } }))).to.equal('PLAN_NOT_FOUND')
      expect(await customers()).to.deep.equal([])
      expect(await bench.prisma.outboxMessage.count({ where: { environmentId } })).to.equal(0)
    })
    it('an archived customer, which is not answered either', async () => {
      await provision()
      await bench.prisma.customer.updateMany({ where: { environmentId }, data: { archivedAt: new Date() } })
      expect(await reasonOf(provision())).to.equal('ENTITY_IS_ARCHIVED')
      expect(await bench.customers.get(environmentId, 'acme')).to.equal(null)
      expect((await bench.entitlements.state(environmentId, 'acme', null)).deniedReason).to.equal('CustomerIsArchived')
    })
  })
})
