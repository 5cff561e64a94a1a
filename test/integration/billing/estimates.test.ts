import { expect } from 'chai'
import fc from 'fast-check'
import { at, type Bench, invoicesOf, newAcme, openBench, start, units } from './bench.js'

/** More with ESTIMATE_CASES=10000; a failure names the seed, which FC_SEED repeats. */
const cases = Number(process.env.ESTIMATE_CASES ?? 40)
const seed = process.env.FC_SEED ? Number(process.env.FC_SEED) : undefined

const hour = 3_600_000

describe('estimates', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await newAcme(bench)
  })

  const seats = (quantity: number) => [{ featureRefId: 'seats', quantity: units(quantity) }]

  it('answer what a new subscription costs now and in each period', async () => {
    const estimate = await bench.estimates.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'team',
      quantities: seats(3),
      billing: { coupon: { couponRefId: 'tenth' }, taxPercentage: units(20) },
    })
    expect(estimate).to.deep.include({ subTotal: '66', discountAmount: '6.6', tax: '11.88', total: '71.28', currency: 'USD' })
    expect(estimate).to.deep.include({ proration: null, isPlanDowngrade: null, hasScheduledUpdates: false })
    expect(estimate.period).to.deep.equal({ start, end: at('2027-05-01T00:00:00') })
    expect(estimate.recurring?.total).to.equal('71.28')
  })

  it('answer nothing now for a trial, and what each period costs after it', async () => {
    const estimate = await bench.estimates.provision(environmentId, { customerRefId: 'acme', planRefId: 'tried' })
    expect(estimate).to.deep.include({ total: '0', period: { start, end: at('2027-04-15T00:00:00') } })
    expect(estimate.recurring?.total).to.equal('55.5')
  })

  it('answer credit and debit of a plan change, and that a cheaper plan is a downgrade', async () => {
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business' })
    await bench.testClocks.advance(environmentId, at('2027-04-16T00:00:00'))
    const estimate = await bench.estimates.provision(environmentId, { customerRefId: 'acme', planRefId: 'team' })
    expect(estimate.isPlanDowngrade).to.equal(true)
    expect(estimate.proration).to.deep.equal({ at: at('2027-04-16T00:00:00'), credit: '-60', debit: '42' })
    expect(estimate.total).to.equal('-18')
  })

  it('answer the first invoice of a subscription that starts later', async () => {
    const startDate = at('2027-06-10T08:00:00')
    const estimate = await bench.estimates.provision(environmentId, { customerRefId: 'acme', planRefId: 'team', startDate })
    expect(estimate).to.deep.include({ total: '42', period: { start: startDate, end: at('2027-07-10T08:00:00') } })
  })

  it('answer the next invoice with the usage of now', async () => {
    await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId: 'business', subscriptionRefId: 'b' })
    const { draft, balance } = await bench.estimates.nextInvoice(environmentId, 'b')
    expect(draft).to.deep.include({
      total: '120',
      reason: 'BILLING_CYCLE',
      period: { start: at('2027-05-01T00:00:00'), end: at('2027-06-01T00:00:00') },
    })
    expect(balance).to.equal('0')
  })

  it('write nothing', async () => {
    const tables = [
      'subscription',
      'customer_resource',
      'invoice',
      'billing_intent',
      'subscription_billing',
      'outbox_message',
      'coupon_redemption',
    ]
    const counts = () => Promise.all(tables.map(async (table) => (await bench.pool.query(`select count(*) from ${table}`)).rows))
    const before = await counts()
    await bench.estimates.provision(environmentId, {
      customerRefId: 'acme',
      planRefId: 'team',
      resourceRefId: 'unheard of',
      billing: { coupon: { couponRefId: 'tenth' } },
    })
    expect(await counts()).to.deep.equal(before)
  })

  it('equal the invoice that the change then makes, to the minor unit', async function () {
    this.timeout(60_000 + cases * 500)
    const anyContent = fc.record({
      planRefId: fc.constantFrom('team', 'business'),
      billingPeriod: fc.constantFrom('MONTHLY' as const, 'ANNUALLY' as const),
      seats: fc.integer({ min: 1, max: 40 }),
      support: fc.integer({ min: 0, max: 3 }),
    })
    const anyTerms = fc.record({
      percentOff: fc.oneof(
        fc.constant(null),
        fc.integer({ min: 1, max: 1000 }).map((tenths) => tenths / 10),
      ),
      taxPercentage: fc.constantFrom(null, 7.7, 19, 20),
      currency: fc.constantFrom('USD', 'JPY'),
      timeZone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu'),
    })
    const anyStep = fc.record({ afterHours: fc.integer({ min: 0, max: 24 * 70 }), content: anyContent, isUpdate: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(anyContent, anyTerms, fc.array(anyStep, { minLength: 1, maxLength: 4 }), async (first, terms, steps) => {
        // An environment of its own: the clock moves everybody in it.
        environmentId = await newAcme(bench)
        let now = start
        const customerRefId = 'acme'
        await bench.customers.provision(environmentId, { refId: customerRefId, timeZone: terms.timeZone, billingCurrency: terms.currency })
        const billing = {
          ...(terms.percentOff === null
            ? {}
            : { coupon: { discount: { name: null, percentOff: units(terms.percentOff), amountsOff: null, durationInMonths: null } } }),
          taxPercentage: terms.taxPercentage === null ? null : units(terms.taxPercentage),
        }
        const request = ({ planRefId, billingPeriod, seats: quantity, support }: typeof first) => ({
          customerRefId,
          planRefId,
          billingPeriod: planRefId === 'business' ? null : billingPeriod,
          quantities: seats(quantity),
          addons: support > 0 && billingPeriod === 'MONTHLY' ? [{ addonRefId: 'support', quantity: support }] : [],
          billing,
        })
        const provision = async (asked: ReturnType<typeof request>) => {
          const { total } = await bench.estimates.provision(environmentId, asked)
          const before = await bench.prisma.invoice.count({ where: { environmentId } })
          const { subscription } = await bench.subscriptions.provision(environmentId, asked)
          const made = (await bench.prisma.invoice.count({ where: { environmentId } })) - before
          const invoice = (await invoicesOf(bench, environmentId, subscription.id)).at(-1)
          expect(total).to.equal(made === 0 ? '0' : invoice!.total)
          return subscription
        }
        let current = await provision(request(first))
        for (const { afterHours, content, isUpdate } of steps) {
          now += afterHours * hour
          await bench.testClocks.advance(environmentId, now)
          if (!isUpdate) {
            current = await provision(request(content))
            continue
          }
          const asked = { subscriptionRefId: current.refId, quantities: seats(content.seats) }
          const { total } = await bench.estimates.update(environmentId, asked)
          const before = await bench.prisma.invoice.count({ where: { environmentId } })
          await bench.subscriptionChanges.update(environmentId, asked)
          const made = (await bench.prisma.invoice.count({ where: { environmentId } })) - before
          const invoice = (await invoicesOf(bench, environmentId, current.id)).at(-1)
          expect(total).to.equal(made === 0 ? '0' : invoice!.total)
        }
      }),
      { numRuns: Math.ceil(cases / 3), seed, endOnFailure: true },
    )
  })
})
