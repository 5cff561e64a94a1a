import { expect } from 'chai'
import * as decimal from '../../../src/kernel/decimal.js'
import { billingPeriodFrom } from '../../../src/subscription/rules/billing-period.js'
import { type Bench, day, openBench, reasonOf } from './fixture.js'
import { seatsCatalog } from './seats-catalog.js'

const raise = ({ error }: { error: unknown }) => {
  throw error
}
const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: decimal.fromNumber(quantity) }]

describe('changing a subscription', () => {
  let bench: Bench
  let environmentId: string
  let periodEnd: number

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment({ catalog: seatsCatalog() })
    await bench.customers.provision(environmentId, { refId: 'acme' })
    const { subscription } = await provision('plus', { quantities: seats(10), skipTrial: true })
    periodEnd = billingPeriodFrom('MONTHLY', subscription.billingAnchor, 'UTC', Date.now()).end
  })

  type Request = Parameters<Bench['subscriptions']['provision']>[1]
  const provision = (planRefId: string, request: Partial<Request> = {}) =>
    bench.subscriptions.provision(environmentId, { customerRefId: 'acme', subscriptionRefId: 'sub', planRefId, ...request })
  const update = (change: Omit<Parameters<Bench['subscriptionChanges']['update']>[1], 'subscriptionRefId'>) =>
    bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'sub', ...change })
  const stored = () => bench.subscriptionReads.get(environmentId, 'sub')
  const limit = async (featureRefId: string, resourceRefId: string | null = null) =>
    (await bench.entitlements.state(environmentId, 'acme', resourceRefId)).entitlements.find(
      ({ feature }) => feature.refId === featureRefId,
    )?.usageLimit ?? null
  const statuses = async () =>
    (await bench.prisma.scheduledUpdate.findMany({ where: { environmentId }, orderBy: { createdAt: 'asc' } })).map(
      ({ updateType, status }) => [updateType, status],
    )
  const version = async () => (await bench.prisma.customerState.findFirstOrThrow({ where: { environmentId } })).accessVersion

  it('answers what it stored: quantities, metadata, add-ons, entitlements', async () => {
    const before = await version()
    const updated = await update({
      quantities: seats(12),
      addons: [{ addonRefId: 'more', quantity: 2 }],
      additionalMetaData: { team: 'a' },
      ownEntitlements: [{ featureRefId: 'seats', usageLimit: decimal.fromNumber(300) }],
    })
    expect(await stored()).to.deep.equal(updated)
    expect(updated).to.deep.include({ additionalMetaData: { team: 'a' } })
    expect([await limit('calls'), await limit('seats')]).to.deep.equal(['2000', '300'])
    expect(await version()).to.satisfy((after: bigint) => after > before)
    const [own] = updated.ownEntitlements
    await update({ ownEntitlements: [{ id: own!.id, hasUnlimitedUsage: true }] })
    expect(await limit('seats')).to.equal(null)
    await update({ ownEntitlements: [] })
    expect(await limit('seats')).to.equal('100')
  })

  it('lets fewer seats wait, more seats take that back, and records both', async () => {
    const waiting = await update({ quantities: seats(8) })
    expect(waiting.scheduled.map(({ executeAt, change }) => [executeAt, change.type])).to.deep.equal([[periodEnd, 'UnitAmount']])
    expect(await stored()).to.deep.equal(waiting)
    const row = await bench.prisma.subscription.findFirstOrThrow({ where: { environmentId, refId: 'sub' } })
    expect(row.dueAt!.getTime()).to.equal(periodEnd)
    await update({ quantities: seats(7) })
    await update({ unitQuantity: decimal.fromNumber(20) })
    expect((await stored()).quantities.map(({ quantity }) => quantity)).to.deep.equal(['20'])
    expect(await statuses()).to.deep.equal([
      ['UnitAmount', 'Canceled'],
      ['UnitAmount', 'Canceled'],
    ])
  })

  it('lets a downgrade wait on the current subscription; cancelSchedule takes it back, and a scheduled cancellation with it', async () => {
    const { subscription } = await provision('solo', { subscriptionRefId: null })
    expect(subscription).to.include({ refId: 'sub', status: 'ACTIVE' })
    expect((await stored()).scheduled.map(({ change }) => change.type)).to.deep.equal(['Downgrade'])
    await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'sub' })
    expect((await stored()).effectiveEndDate).to.equal(periodEnd)
    const open = await bench.subscriptionChanges.cancelSchedule(environmentId, 'sub')
    expect(open).to.deep.include({ scheduled: [], effectiveEndDate: null, cancellationDate: null })
    expect(await statuses()).to.deep.equal([['Downgrade', 'Canceled']])
  })

  it('refuses a change that the plan does not sell, and leaves nothing behind', async () => {
    const before = [await stored(), await version()]
    const refusals = [
      update({ quantities: seats(501) }),
      update({ quantities: [{ featureRefId: 'calls', quantity: decimal.fromNumber(1) }] }),
      update({ addons: [{ addonRefId: 'most', quantity: 1 }] }),
      update({ addons: [{ addonRefId: 'more', quantity: 6 }] }),
      update({ trialEndDate: Date.now() + day }),
      update({ ownEntitlements: [{ featureRefId: 'seats', usageLimit: decimal.fromNumber(1), hasUnlimitedUsage: true }] }),
    ]
    expect(await Promise.all(refusals.map(reasonOf))).to.deep.equal([
      'BAD_USER_INPUT',
      'BAD_USER_INPUT',
      'INCOMPATIBLE_SUBSCRIPTION_ADDON',
      'BAD_USER_INPUT',
      'INVALID_SUBSCRIPTION_STATUS',
      'BAD_USER_INPUT',
    ])
    expect([await stored(), await version()]).to.deep.equal(before)
  })

  it('REVOKE_ENTITLEMENTS ends access now though the subscription stays to its date', async () => {
    const canceled = await bench.cancellations.cancel(environmentId, { subscriptionRefId: 'sub', revokesEntitlements: true })
    expect(canceled).to.include({ status: 'ACTIVE', effectiveEndDate: periodEnd })
    const { entitlements } = await bench.entitlements.state(environmentId, 'acme', null)
    expect(entitlements.map(({ deniedReason }) => deniedReason)).to.deep.equal(['Revoked', 'Revoked'])
    await update({ cancellationDate: null })
    expect(await limit('calls')).to.equal('1000')
  })

  describe('to the latest version', () => {
    const publish = (seatsOfPlus: number, audience = 'NEW_CUSTOMERS') =>
      bench.catalog.apply(environmentId, seatsCatalog(seatsOfPlus, audience), { dryRun: false, archiveMissing: false })

    it('moves one subscription, now or at the end of its period, and only when there is something newer', async () => {
      const migrate = (time: 'IMMEDIATE' | 'END_OF_BILLING_PERIOD') => bench.subscriptionChanges.migrateToLatest(environmentId, 'sub', time)
      expect(await reasonOf(migrate('IMMEDIATE'))).to.equal('SUBSCRIPTION_ALREADY_ON_LATEST_PLAN')
      await publish(200)
      expect((await migrate('END_OF_BILLING_PERIOD')).scheduled.map(({ executeAt }) => executeAt)).to.deep.equal([periodEnd])
      expect(await limit('seats')).to.equal('100')
      await migrate('IMMEDIATE')
      expect(await limit('seats')).to.equal('200')
    })

    it('leads to what is latest when it is due, not to what was latest when it was asked for', async () => {
      await publish(200)
      await bench.subscriptionChanges.migrateToLatest(environmentId, 'sub', 'END_OF_BILLING_PERIOD')
      await publish(300)
      const { change } = (await stored()).scheduled[0]!
      expect('plan' in change && change.plan.versionNumber).to.equal(3)
    })

    it('for all customers, moves everybody in the background, goes on after a kill, and says how far it is', async () => {
      for (let n = 0; n < 6; n += 1) {
        await bench.customers.provision(environmentId, { refId: `customer-${n}` })
        await bench.subscriptions.provision(environmentId, {
          customerRefId: `customer-${n}`,
          planRefId: 'plus',
          quantities: seats(1),
          skipTrial: true,
        })
      }
      await publish(200, 'ALL_CUSTOMERS')
      const [migration] = await bench.packageMigrations.list(environmentId)
      expect(migration).to.deep.include({ packageRefId: 'plus', versionNumber: 2, migrated: 0, finishedAt: null })
      // Killed after the third customer: its transaction is the last that committed.
      const killed = new AbortController()
      let moves = 0
      const stopWatching = watchMoves(() => {
        moves += 1
        if (moves === 3) killed.abort()
      })
      await bench.packageMigrations.run(killed.signal, raise)
      stopWatching()
      const [halfway] = await bench.packageMigrations.list(environmentId)
      expect(halfway).to.deep.include({ total: 7, finishedAt: null })
      expect(halfway!.migrated).to.be.within(1, 6)
      await bench.packageMigrations.run(new AbortController().signal, raise)
      const [finished] = await bench.packageMigrations.list(environmentId)
      expect(finished).to.deep.include({ total: 7, migrated: 7 })
      expect(finished!.finishedAt).not.to.equal(null)
      expect(await limit('seats')).to.equal('200')
      expect(await bench.packageMigrations.run(new AbortController().signal, raise)).to.equal(0)
    })

    /** Calls back with each new version of a customer's state. */
    function watchMoves(moved: () => void): () => void {
      const original = bench.after.changed
      bench.after.changed = (id) => {
        moved()
        original(id)
      }
      return () => {
        bench.after.changed = original
      }
    }
  })

  describe('of a resource', () => {
    beforeEach(() => provision('plus', { subscriptionRefId: 'of-r1', resourceRefId: 'r1', quantities: seats(1), skipTrial: true }))

    it('moves access and what was reported to another resource', async () => {
      const customer = await bench.prisma.customer.findFirstOrThrow({ where: { environmentId } })
      const feature = await bench.prisma.feature.findFirstOrThrow({ where: { environmentId, refId: 'calls' } })
      const from = await bench.prisma.customerResource.findFirstOrThrow({ where: { environmentId, refId: 'r1' } })
      await bench.prisma.usageMeasurement.create({
        data: {
          environmentId,
          id: crypto.randomUUID(),
          customerId: customer.id,
          resourceId: from.id,
          featureId: feature.id,
          value: 7,
          behavior: 'DELTA',
          occurredAt: new Date(Date.now() + 1),
        },
      })
      const moved = await bench.transfers.transfer(environmentId, {
        customerRefId: 'acme',
        sourceResourceRefId: 'r1',
        destinationResourceRefId: 'r2',
      })
      expect(moved.resource!.refId).to.equal('r2')
      expect(await limit('seats', 'r2')).to.equal('100')
      expect((await bench.prisma.usageMeasurement.findFirstOrThrow({ where: { environmentId } })).resourceId).to.equal(moved.resource!.id)
      const none = { customerRefId: 'acme', sourceResourceRefId: 'r1', destinationResourceRefId: 'r3' }
      expect(await reasonOf(bench.transfers.transfer(environmentId, none))).to.equal('SUBSCRIPTION_NOT_FOUND')
    })

    it('does not move to where another one is', async () => {
      expect(await reasonOf(bench.transfers.transferToResource(environmentId, 'of-r1', null))).to.equal('DUPLICATED_ENTITY_NOT_ALLOWED')
    })

    it('can be paid for by another customer, and by its own again', async () => {
      await bench.customers.provision(environmentId, { refId: 'parent' })
      const paid = await bench.subscriptionChanges.delegate(environmentId, 'of-r1', 'parent')
      expect(paid.payingCustomerId).not.to.equal(null)
      expect(await limit('seats', 'r1')).to.equal('100')
      expect((await bench.subscriptionChanges.delegate(environmentId, 'of-r1', null)).payingCustomerId).to.equal(null)
      expect(await reasonOf(bench.subscriptionChanges.delegate(environmentId, 'of-r1', 'nobody'))).to.equal('CUSTOMER_NOT_FOUND')
    })
  })

  it('imports what is newer than the last import of the same subscription, and nothing that is older', async () => {
    const imported = async (quantity: number, updatedAt: number) => {
      const record = {
        customerRefId: 'acme',
        planRefId: 'plus',
        resourceRefId: 'r8',
        subscriptionRefId: 'of-elsewhere',
        quantities: seats(quantity),
        skipTrial: true,
        updatedAt,
      }
      const importId = await bench.imports.start(environmentId, 'SUBSCRIPTIONS', [record])
      await bench.imports.run(environmentId, importId, new AbortController().signal)
      expect(await bench.imports.items(environmentId, importId, {})).to.have.nested.property('[0].status', 'DONE')
      return decimal.toNumber((await bench.subscriptionReads.get(environmentId, 'of-elsewhere')).quantities[0]!.quantity)
    }
    expect([await imported(5, 2_000), await imported(8, 1_000), await imported(9, 3_000)]).to.deep.equal([5, 5, 9])
  })

  it('imports many in the background, each on its own, and tells what became of each', async () => {
    const startDate = Date.now() - 400 * day
    const importId = await bench.imports.start(environmentId, 'SUBSCRIPTIONS', [
      {
        customerRefId: 'acme',
        planRefId: 'plus',
        resourceRefId: 'r9',
        subscriptionRefId: 'old',
        startDate,
        skipTrial: true,
        billingId: 'b-1',
      },
      { customerRefId: 'nobody', planRefId: 'plus', subscriptionRefId: 'lost' },
    ])
    await bench.imports.run(environmentId, importId, new AbortController().signal)
    const outcomes = await bench.imports.items(environmentId, importId, {})
    expect(outcomes.map(({ status, refId, errorReason }) => [status, refId, errorReason])).to.deep.equal([
      ['DONE', 'old', null],
      ['FAILED', null, 'CUSTOMER_NOT_FOUND'],
    ])
    const imported = await bench.subscriptionReads.get(environmentId, 'old')
    expect(imported).to.include({ status: 'ACTIVE', startDate, billingAnchor: startDate, billingId: 'b-1' })
    // Charges begin with the current period.
    expect(imported.currentPeriod!.start).to.be.within(Date.now() - 32 * day, Date.now())
    expect(await bench.prisma.subscriptionRenewal.count({ where: { environmentId } })).to.equal(0)
  })
})
