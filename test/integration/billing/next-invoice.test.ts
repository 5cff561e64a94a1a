import { expect } from 'chai'
import { effort } from '../../support/effort.js'
import { at, type Bench, catalog, invoicesOf, openBench, start, storeCalls, units } from './fixture.js'

/** Calls are charged in arrears by the year too, and changes that cost less wait. */
const sold = `${catalog
  .replace('settings: {', 'settings: { downgradeTiming: END_OF_BILLING_PERIOD,')
  .replace(
    'amount: 0.0001, feature: calls }',
    `amount: 0.0001, feature: calls }
      - { billingModel: FLAT_FEE, billingPeriod: ANNUALLY, currency: USD, amount: 1000 }
      - { billingModel: PER_UNIT, billingPeriod: ANNUALLY, currency: USD, amount: 200, feature: seats }
      - { billingModel: USAGE_BASED, billingPeriod: ANNUALLY, currency: USD, amount: 0.0002, feature: calls }
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: JPY, amount: 11000 }`,
  )
  .replace(
    'addons:',
    `  - { refId: yen, product: cloud, prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: JPY, amount: 900 }] }
addons:`,
  )}`

type Made = Awaited<ReturnType<typeof invoicesOf>>

describe('the preview of the next invoice', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))

  const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: units(quantity) }]
  const update = (change: object) => bench.subscriptionChanges.update(environmentId, { subscriptionRefId: 'b', ...change })
  const provision = (planRefId: string, more: object = {}) =>
    bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId, ...more })
  const dearer = () =>
    bench.catalog.apply(
      environmentId,
      sold
        .replace('MONTHLY, currency: USD, amount: 100 ', 'MONTHLY, currency: USD, amount: 111 ')
        .replace('ANNUALLY, currency: USD, amount: 1000 ', 'ANNUALLY, currency: USD, amount: 1111 '),
      { dryRun: false, archiveMissing: false },
    )

  const waiting: Record<string, () => Promise<unknown>> = {
    nothing: async () => undefined,
    'fewer seats': () => update({ quantities: seats(1) }),
    'fewer seats at the end of the month': () => update({ quantities: seats(1), scheduleStrategy: 'END_OF_BILLING_MONTH' }),
    'a cheaper plan': () => provision('team', { quantities: seats(2), scheduleStrategy: 'END_OF_BILLING_PERIOD' }),
    'the free plan': () => provision('free', { scheduleStrategy: 'END_OF_BILLING_PERIOD' }),
    'a migration': async () => {
      await dearer()
      await bench.subscriptionChanges.migrateToLatest(environmentId, 'b', 'END_OF_BILLING_PERIOD')
    },
    'the other billing period': () => update({ billingPeriod: 'ANNUALLY', scheduleStrategy: 'END_OF_BILLING_PERIOD' }),
    'the end': () => bench.cancellations.cancel(environmentId, { subscriptionRefId: 'b', time: 'END_OF_BILLING_PERIOD' }),
    'a plan in another currency': () => provision('yen', { scheduleStrategy: 'END_OF_BILLING_PERIOD' }),
  }

  // Each with one and without, of one of the two periods.
  for (const [place, [what, wait]] of Object.entries(waiting).entries())
    for (const billingPeriod of ['MONTHLY', 'ANNUALLY'] as const)
      for (const coupon of effort > 1 ? [null, 'tenth'] : [(billingPeriod === 'MONTHLY') === (place % 2 === 0) ? null : 'tenth'])
        it(`names what is then billed, usage included: ${billingPeriod}, ${what} waits${coupon ? ', with a coupon' : ''}`, async () => {
          environmentId = await bench.createEnvironment({ isTest: true, catalog: sold })
          await bench.testClocks.create(environmentId, start)
          await bench.customers.provision(environmentId, { refId: 'acme', couponRefId: coupon })
          const { subscription } = await provision('business', { subscriptionRefId: 'b', billingPeriod, quantities: seats(3) })
          await bench.testClocks.advance(environmentId, at('2027-04-20T00:00:00'))
          await storeCalls(bench, environmentId, 123_456, '2027-04-10T00:00:00')
          await wait()
          const known = new Set((await invoicesOf(bench, environmentId, subscription.id)).map(({ id }) => id))
          const { documents, amountDue, draft } = await bench.estimates.nextInvoice(environmentId, 'b')
          await bench.testClocks.advance(environmentId, at(billingPeriod === 'MONTHLY' ? '2027-05-02T00:00:00' : '2028-04-02T00:00:00'))
          const later = (await invoicesOf(bench, environmentId, subscription.id)).filter(({ id }) => !known.has(id))
          const made = later.filter(({ createdAt }) => createdAt === later[0]!.createdAt)
          const shown = (invoices: readonly Pick<Made[number], 'currency' | 'total' | 'discount' | 'lines'>[]) =>
            invoices
              .map(({ currency, total, discount, lines }) => ({
                currency,
                total,
                discount,
                lines: lines.map(({ description, quantity, amount }) => [description, quantity, amount]),
              }))
              .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
          expect(shown(documents)).to.deep.equal(shown(made))
          const inCurrency = made.filter(({ currency }) => currency === draft.currency)
          expect(Number(amountDue)).to.be.closeTo(
            inCurrency.reduce((sum, invoice) => sum + Number(invoice.amountDue), 0),
            1e-9,
          )
          const isMonthsEnd = what === 'fewer seats at the end of the month' && billingPeriod === 'ANNUALLY'
          if (what === 'a plan in another currency') expect(made.map(({ currency }) => currency)).to.have.members(['USD', 'JPY'])
          if (!isMonthsEnd) expect(JSON.stringify(documents)).to.include('business: calls')
        })
})
