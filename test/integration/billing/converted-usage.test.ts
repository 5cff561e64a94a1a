import { expect } from 'chai'
import fc from 'fast-check'
import { loadMeters } from '../../../src/metering/counting/meter-repository.js'
import { rollUpEvents } from '../../../src/metering/counting/rollup.js'
import { bucketMs, bucketOf } from '../../../src/metering/model/bucket.js'
import { inPoolTransaction } from '../../../src/platform/transaction.js'
import { amounts, at, type Bench, invoicesOf, openBench, start } from './fixture.js'

/** Bytes and requests are counted, and sold by the thousand. */
const catalog = `
features:
  - refId: requests
    type: NUMBER
    meter: Incremental
    events: { aggregation: SUM, field: count, filters: [[{ field: eventName, operation: EQUALS, value: requested }]] }
    unitTransformation: { divide: 1000, round: UP }
  - refId: bytes
    type: NUMBER
    meter: Incremental
    events: { aggregation: SUM, field: count, filters: [[{ field: eventName, operation: EQUALS, value: sent }]] }
    unitTransformation: { divide: 300, round: DOWN }
products: [{ refId: cloud, settings: { downgradeTiming: IMMEDIATE } }]
plans:
  - refId: metered
    product: cloud
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 10 }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, feature: requests, amount: 0.5 }
      - billingModel: USAGE_BASED
        billingPeriod: MONTHLY
        currency: USD
        feature: bytes
        tiersMode: GRADUATED
        tiers: [{ upTo: 2, unitPrice: 1 }, { unitPrice: 0.25 }]
  - refId: dearer
    product: cloud
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 50 }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, feature: requests, amount: 0.7 }
`

describe('usage of a feature in coarser units', () => {
  let bench: Bench
  let environmentId: string

  before(async () => {
    bench = await openBench()
  })
  after(async () => expect(await bench.close()).to.deep.equal([]))
  beforeEach(async () => {
    environmentId = await bench.createEnvironment({ isTest: true, catalog })
    await bench.testClocks.create(environmentId, start)
    await bench.customers.provision(environmentId, { refId: 'acme' })
  })

  const provision = async (planRefId: string, more: object = {}) =>
    (await bench.subscriptions.provision(environmentId, { customerRefId: 'acme', planRefId, ...more })).subscription
  const goTo = (text: string) => bench.testClocks.advance(environmentId, at(text))
  const usageLines = async (id: string) =>
    (await invoicesOf(bench, environmentId, id)).flatMap(amounts).filter(([description]) => String(description).includes(':'))
  /** As it would be stored. */
  const happen = async (eventName: string, count: number, occurredAt: string) => {
    const customerId = (await bench.customers.get(environmentId, 'acme'))!.id
    await bench.pool.query(
      `INSERT INTO raw_event (environment_id, batch_id, position, occurred_at, customer_id, event_name, dimensions)
       VALUES ($1::uuid, gen_random_uuid(), 0, $2, $3::uuid, $4, jsonb_build_object('count', $5::int))`,
      [environmentId, new Date(at(occurredAt)), customerId, eventName, count],
    )
    const meters = new Map((await loadMeters(bench.pool, environmentId)).map((meter) => [meter.featureId, meter]))
    const from = bucketOf(at(occurredAt))
    const ranges = [...meters.keys()].map((featureId) => ({ customerId, featureId, from, to: from + bucketMs, meterVersion: null }))
    await inPoolTransaction(bench.pool, (db) => rollUpEvents(db, environmentId, ranges, meters))
  }

  for (const [requests, bytes, expected] of [
    [
      4_200,
      299,
      [
        ['metered: bytes', '0', '0'],
        ['metered: requests', '5', '2.5'],
      ],
    ],
    [
      3_100,
      1_600,
      [
        ['metered: bytes', '5', '2.75'],
        ['metered: requests', '4', '2'],
      ],
    ],
    [
      1_000,
      600,
      [
        ['metered: bytes', '2', '2'],
        ['metered: requests', '1', '0.5'],
      ],
    ],
  ] as const)
    it(`is priced in them: ${requests} requests and ${bytes} bytes`, async () => {
      const { id, refId } = await provision('metered')
      for (const part of [0.5, 0.5]) await happen('requested', requests * part, '2027-04-10T00:00:00')
      await happen('sent', bytes, '2027-04-11T00:00:00')
      const { draft } = await bench.estimates.nextInvoice(environmentId, refId)
      await goTo('2027-05-01T00:00:00')
      expect(await usageLines(id)).to.deep.equal(expected)
      const [, invoice] = await invoicesOf(bench, environmentId, id)
      expect([draft.total, draft.lines.map(({ amount }) => amount)]).to.deep.equal([
        invoice!.total,
        invoice!.lines.map(({ amount }) => amount),
      ])
    })

  it('that comes late is the difference of what the whole comes to', async () => {
    const { id } = await provision('metered')
    await happen('requested', 4_200, '2027-04-10T00:00:00')
    await goTo('2027-05-02T00:00:00')
    await happen('requested', 700, '2027-04-20T00:00:00')
    await goTo('2027-06-02T00:00:00')
    // The last that may come for April: 5,300 in all.
    await happen('requested', 400, '2027-04-30T00:00:00')
    await goTo('2027-06-03T00:00:00')
    expect((await usageLines(id)).filter(([, , amount]) => amount !== '0')).to.deep.equal([['metered: requests', '5', '2.5']])
    // A begun one more, in time.
    await happen('requested', 1_500, '2027-05-20T00:00:00')
    await goTo('2027-07-02T00:00:00')
    const late = (await usageLines(id)).filter(([description]) => String(description).startsWith('Late usage: metered: requests'))
    expect(late).to.deep.equal([
      ['Late usage: metered: requests', '2', '1'],
      ['Late usage: metered: requests', '6', '0.5'],
    ])
  })

  it('is converted once in a period that two plans share', async () => {
    const { id: first } = await provision('metered')
    await happen('requested', 3_100, '2027-04-10T00:00:00')
    await goTo('2027-04-16T00:00:00')
    const asked = { planRefId: 'dearer', billingCycleAnchor: 'UNCHANGED' as const }
    const { total } = await bench.estimates.provision(environmentId, { customerRefId: 'acme', ...asked })
    const { id: second } = await provision('dearer', asked)
    const made = [...(await invoicesOf(bench, environmentId, first)).slice(1), ...(await invoicesOf(bench, environmentId, second))]
    expect(Number(total)).to.equal(made.reduce((sum, invoice) => sum + Number(invoice.total), 0))
    await happen('requested', 1_100, '2027-04-20T00:00:00')
    await goTo('2027-05-02T00:00:00')
    expect(await usageLines(first)).to.deep.include(['metered: requests', '4', '2'])
    // 4,200 in all are 5 units, of which the plan before has charged 4.
    expect(await usageLines(second)).to.deep.include(['dearer: requests', '1', '0.7'])
    await happen('requested', 900, '2027-04-21T00:00:00')
    await goTo('2027-06-02T00:00:00')
    expect(await usageLines(second)).to.deep.include(['Late usage: dearer: requests', '2', '0.7'])
  })

  it('uses up a budget as it is priced', async () => {
    const subscription = await provision('metered', { budget: { limit: '2.5', hasSoftLimit: false } })
    const isExceeded = async () => (await bench.entitlements.budgetsExceeded(environmentId, [subscription]))[0]
    await happen('requested', 4_000, '2027-04-10T00:00:00')
    expect(await isExceeded()).to.equal(false)
    await happen('requested', 1, '2027-04-11T00:00:00')
    expect(await isExceeded()).to.equal(true)
  })

  it('comes to the same in whatever parts it is told', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 6 }), async (parts) => {
        environmentId = await bench.createEnvironment({ isTest: true, catalog })
        await bench.testClocks.create(environmentId, start)
        await bench.customers.provision(environmentId, { refId: 'acme' })
        const { id } = await provision('metered')
        for (const [index, part] of parts.entries()) {
          if (index === 3) await goTo('2027-05-02T00:00:00')
          await happen('requested', part, '2027-04-10T00:00:00')
        }
        await goTo('2027-06-02T00:00:00')
        const charged = (await usageLines(id)).filter(([description]) => String(description).includes('requests'))
        const whole = Math.ceil(parts.reduce((sum, part) => sum + part, 0) / 1_000) * 0.5
        expect(charged.reduce((sum, [, , amount]) => sum + Number(amount), 0)).to.equal(whole)
      }),
      { numRuns: 12 },
    )
  })
})
