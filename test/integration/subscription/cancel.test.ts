import { expect } from 'chai'
import { atOnce, type Bench, day, openBench, reasonOf } from './fixture.js'

const ended = 'SUBSCRIPTION_ALREADY_CANCELED_OR_EXPIRED'

describe('cancelling a subscription', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    const subscription = { planRefId: 'business', subscriptionRefId: 'sub-1' }
    await bench.customers.provision(environmentId, { refId: 'acme', subscription })
  })

  type Request = Parameters<Bench['cancellations']['cancel']>[1]
  const cancel = (request: Partial<Request> = {}) => bench.cancellations.cancel(environmentId, { subscriptionRefId: 'sub-1', ...request })
  const active = () => bench.subscriptionReads.active(environmentId, { customerRefId: 'acme' })
  const row = () => bench.prisma.subscription.findFirstOrThrow({ where: { environmentId, refId: 'sub-1' } })

  it('ends it now and starts the free plan in the same transaction', async () => {
    const canceled = await cancel()
    expect(canceled).to.include({ status: 'CANCELED', cancelReason: 'Immediate' })
    const [free, ...others] = await active()
    expect(others).to.deep.equal([])
    expect(free).to.deep.include({ status: 'ACTIVE', startDate: canceled.effectiveEndDate, usageAnchor: canceled.effectiveEndDate })
    expect(free!.plan.refId).to.equal('free')
    const state = await bench.entitlements.state(environmentId, 'acme', null)
    expect(state.entitlements.map(({ feature, usageLimit }) => [feature.refId, usageLimit])).to.deep.equal([
      ['calls', '10'],
      ['seats', '1'],
    ])
  })

  it('scheduled, leaves it as it is until then and says when it is due', async () => {
    const at = Date.now() + day
    expect(await cancel({ time: 'SPECIFIC_DATE', endDate: at })).to.include({ status: 'ACTIVE', effectiveEndDate: at })
    expect((await row()).dueAt!.getTime()).to.equal(at)
    expect((await active()).map(({ refId }) => refId)).to.deep.equal(['sub-1'])
  })

  it('asked for eight times at once, ends it once', async () => {
    const outcomes = await atOnce(() => reasonOf(cancel()))
    expect(outcomes.filter((reason) => reason === null)).to.have.length(1)
    expect(outcomes.filter((reason) => reason === ended)).to.have.length(7)
    expect(await active()).to.have.length(1)
  })

  it('comes too late for what has ended by itself, recorded or not', async () => {
    const yesterday = new Date(Date.now() - day)
    await bench.prisma.subscription.updateMany({
      where: { environmentId, refId: 'sub-1' },
      data: { startDate: new Date(Date.now() - 2 * day), endDate: yesterday, dueAt: yesterday },
    })
    expect(await reasonOf(cancel())).to.equal(ended)
    await bench.dueTransitions.applyDue(environmentId, (await row()).customerId)
    expect(await reasonOf(cancel())).to.equal(ended)
    expect(await row()).to.include({ status: 'EXPIRED', cancelReason: 'Expired' })
  })

  it('is refused for an unknown subscription, also of another environment', async () => {
    expect(await reasonOf(cancel({ subscriptionRefId: 'sub-2' }))).to.equal('SUBSCRIPTION_NOT_FOUND')
    environmentId = await bench.createEnvironment()
    expect(await reasonOf(cancel())).to.equal('SUBSCRIPTION_NOT_FOUND')
  })
})
