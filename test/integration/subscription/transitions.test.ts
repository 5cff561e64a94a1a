import { expect } from 'chai'
import { atOnce, type Bench, day, openBench } from './fixture.js'

describe('recording what time has made due', () => {
  let bench: Bench
  let environmentId: string
  let customerId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment()
    const { customer } = await bench.customers.provision(environmentId, { refId: 'acme' })
    customerId = customer.id
  })

  type Request = Parameters<Bench['subscriptions']['provision']>[1]
  const provision = (request: Partial<Request> & { planRefId: string }) =>
    bench.subscriptions.provision(environmentId, { customerRefId: 'acme', ...request })
  const applyDue = () => bench.dueTransitions.applyDue(environmentId, customerId)
  const active = () => bench.subscriptionReads.active(environmentId, { customerRefId: 'acme' })
  const outcomes = async () => {
    const rows = await bench.prisma.subscription.findMany({ where: { environmentId }, orderBy: [{ startDate: 'asc' }, { id: 'asc' }] })
    return rows.map(({ refId, status, cancelReason }) => [refId, status, cancelReason])
  }
  const changes = () => bench.prisma.outboxMessage.count({ where: { environmentId } })

  /** As if the platform had been down: everything of the environment happened that much earlier. */
  const elapse = (ms: number) =>
    bench.pool.query(
      `UPDATE subscription SET start_date = start_date - $2::interval, trial_end_date = trial_end_date - $2::interval, end_date = end_date - $2::interval,
       cancellation_date = cancellation_date - $2::interval, effective_end_date = effective_end_date - $2::interval,
       billing_anchor = billing_anchor - $2::interval, usage_anchor = usage_anchor - $2::interval, due_at = due_at - $2::interval
     WHERE environment_id = $1`,
      [environmentId, `${ms} milliseconds`],
    )

  it('expires a trial once and starts one free plan, though eight workers try at once', async () => {
    await provision({ planRefId: 'team', subscriptionRefId: 'trial' })
    await bench.prisma.subscription.updateMany({
      where: { environmentId, refId: { not: 'trial' } },
      data: { status: 'CANCELED', cancelReason: 'Immediate', effectiveEndDate: new Date(), dueAt: null },
    })
    await elapse(20 * day)
    const before = await changes()
    const results = await atOnce(applyDue)
    expect(results.filter(Boolean)).to.have.length(1)
    expect(await changes()).to.equal(before + 1)
    expect((await outcomes()).slice(1).map(([, ...outcome]) => outcome)).to.deep.equal([
      ['EXPIRED', 'TrialEnded'],
      ['ACTIVE', null],
    ])
  })

  it('changes nothing the second time, nor before it is due', async () => {
    await provision({ planRefId: 'team' })
    expect(await applyDue()).to.equal(false)
    await elapse(20 * day)
    expect(await applyDue()).to.equal(true)
    const before = [await outcomes(), await changes()]
    expect(await applyDue()).to.equal(false)
    expect([await outcomes(), await changes()]).to.deep.equal(before)
  })

  it('records what reads have answered already, with the same ids', async () => {
    await provision({ planRefId: 'business', subscriptionRefId: 'sub-1' })
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'sub-1', time: 'SPECIFIC_DATE', endDate: Date.now() + day })
    await elapse(3 * day)
    const derived = await active()
    expect(derived.map(({ plan, status }) => [plan.refId, status])).to.deep.equal([['free', 'ACTIVE']])
    await applyDue()
    expect(await active()).to.deep.equal(derived)
  })

  it('catches up with a start, a trial and its conversion in one go', async () => {
    await provision({ planRefId: 'business', subscriptionRefId: 'paid' })
    const trialOverride = { isTrial: true, trialEndBehavior: 'CONVERT_TO_PAID' } as const
    await provision({ planRefId: 'team', subscriptionRefId: 'next', startDate: Date.now() + day, trialOverride })
    await elapse(30 * day)
    expect(await applyDue()).to.equal(true)
    expect((await outcomes()).slice(1)).to.deep.equal([
      ['paid', 'CANCELED', 'UpgradeOrDowngrade'],
      ['next', 'ACTIVE', null],
    ])
  })

  it('lets a later trial take the place of a running one', async () => {
    const trialEndDate = Date.now() + 60 * day
    await provision({ planRefId: 'team', subscriptionRefId: 'first', trialOverride: { isTrial: true, trialEndDate } })
    await provision({
      planRefId: 'business',
      subscriptionRefId: 'second',
      startDate: Date.now() + day,
      trialOverride: { isTrial: true, trialEndDate },
    })
    await elapse(2 * day)
    expect(await applyDue()).to.equal(true)
    expect((await outcomes()).slice(1)).to.deep.equal([
      ['first', 'CANCELED', 'UpgradeOrDowngrade'],
      ['second', 'IN_TRIAL', null],
    ])
  })

  it('is done by the next change too, so that this starts from what is true', async () => {
    await provision({ planRefId: 'team', subscriptionRefId: 'trial' })
    await elapse(20 * day)
    await provision({ planRefId: 'business', subscriptionRefId: 'sub-1' })
    const trial = (await outcomes()).find(([refId]) => refId === 'trial')
    expect(trial).to.deep.equal(['trial', 'EXPIRED', 'TrialEnded'])
    expect((await active()).map(({ refId }) => refId)).to.deep.equal(['sub-1'])
  })

  describe('the sweep', () => {
    const due = async () => (await bench.dueTransitions.dueCustomers(100, [])).filter((found) => found.environmentId === environmentId)

    it('finds nobody who is left alone', async () => {
      await provision({ planRefId: 'team' })
      await elapse(4_000 * day)
      const [found, ...others] = await due()
      expect(others).to.deep.equal([])
      const without = await bench.dueTransitions.dueCustomers(100, [found!.customerId])
      expect(without.map(({ customerId }) => customerId)).not.to.include(found!.customerId)
      await applyDue()
    })

    it('is measured by how long ago the oldest of what is left behind came due', async () => {
      await provision({ planRefId: 'team' })
      const { trialEndDate } = (await active()).find(({ plan }) => plan.refId === 'team')!
      await elapse(4_000 * day)
      const expected = (Date.now() + 4_000 * day - trialEndDate!) / 1_000
      expect(await bench.dueTransitions.lagSeconds()).to.be.closeTo(expected, 10)
      await applyDue()
      expect(await bench.dueTransitions.lagSeconds()).to.be.below(expected / 10)
    })

    it('finds whom a lost job left behind, until it is recorded', async () => {
      await provision({ planRefId: 'team' })
      expect(await due()).to.deep.equal([])
      await elapse(20 * day)
      expect(await due()).to.deep.equal([{ environmentId, customerId }])
      await applyDue()
      expect(await due()).to.deep.equal([])
    })

    it('leaves a customer alone that another transaction holds', async () => {
      await provision({ planRefId: 'team' })
      await elapse(20 * day)
      const client = await bench.pool.connect()
      try {
        await client.query('BEGIN')
        await client.query('SELECT FROM customer_state WHERE environment_id = $1 AND customer_id = $2 FOR UPDATE', [
          environmentId,
          customerId,
        ])
        expect(await bench.dueTransitions.applyDue(environmentId, customerId, { ifFree: true })).to.equal(false)
      } finally {
        await client.query('ROLLBACK')
        client.release()
      }
      expect(await bench.dueTransitions.applyDue(environmentId, customerId, { ifFree: true })).to.equal(true)
    })
  })

  it('knows nothing of an unknown customer, and fails nobody', async () => {
    expect(await bench.dueTransitions.applyDue(environmentId, environmentId)).to.equal(false)
  })
})
