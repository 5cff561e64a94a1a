import { expect } from 'chai'
import type { Standing, Terms, UsageCharged } from '../../../../src/billing/rules/billing.js'
import {
  changeDraft,
  isSameStanding,
  lateUsageDraft,
  type MeasuredUsage,
  periodDraft,
  standingOf,
} from '../../../../src/billing/rules/invoice.js'
import { amountOff, content, d, percentOff, price, standing, terms } from '../support.js'

const day = 86_400_000
const start = Date.parse('2027-04-01T00:00:00Z')
const half = start + 15 * day
const end = Date.parse('2027-05-01T00:00:00Z')
const period = { start, end }
const nextPeriod = { start: end, end: Date.parse('2027-06-01T00:00:00Z') }
const earlier = { start: start - 31 * day, end: start }
const calls = price({ id: 'calls', featureRefId: 'calls', billingModel: 'USAGE_BASED', amount: d('0.5') })
const sold = content([price({ id: 'flat', amount: d(30) }), calls])

describe('what a content costs for a period', () => {
  const stands = (given: Partial<Terms>, of = sold) => standingOf({ content: of, terms: terms(given), period, discount: percentOff(10) })
  it('is what is charged in advance, with the discount and the tax that hold then', () => {
    expect(stands({ taxPercentage: d(20) })).to.deep.equal({
      period,
      currency: 'USD',
      lines: [{ type: 'BaseCharge', description: 'plan', priceId: 'flat', quantity: '1', unitAmount: '30', amount: '30' }],
      gross: '30',
      net: '27',
      taxPercentage: '20',
    })
  })
  it('is nothing where it is not sold for money, or for no period', () => {
    expect(stands({ currency: null })).to.equal(null)
    expect(stands({}, { ...sold, billingPeriod: null })).to.equal(null)
  })
})

describe('the invoice of a change', () => {
  const draft = (before: Standing | null, after: Standing | null, at = half, taxPercentage: Terms['taxPercentage'] = null) =>
    changeDraft({ reason: 'SUBSCRIPTION_UPDATE', before, after, taxPercentage, at })

  it('is none where nothing stands', () => expect(draft(null, null)).to.equal(null))

  it('charges the whole of a period that has begun already where nothing stood, from now on and to its end', () => {
    const begun = draft(null, standing(30, period))!
    expect(begun).to.deep.include({ total: '30', debit: '30', credit: '0', period: { start: half, end }, isCharge: true })
    expect(begun.lines).to.deep.equal([{ ...standing(30, period).lines[0], period, isProration: false }])
    expect(begun).not.to.have.property('credits')
  })

  it('charges a period that begins later whole', () => {
    expect(draft(null, standing(30, nextPeriod))!.lines[0]!.period).to.deep.equal(nextPeriod)
    expect(draft(standing(30, period), standing(30, nextPeriod), end)!.lines.map(({ amount }) => amount)).to.deep.equal(['30'])
  })

  it('gives back and charges the rest of the period, as parts of it', () => {
    const rest = { start: half, end }
    const changed = draft({ ...standing(30, period), chargedBy: 'first' }, standing(60, period))!
    expect(changed.lines.map(({ amount, period: of, isProration, description }) => [amount, of, isProration, description])).to.deep.equal([
      ['-15', rest, true, 'Unused: plan'],
      ['30', rest, true, 'plan'],
    ])
    expect(changed).to.deep.include({
      credit: '-15',
      debit: '30',
      total: '15',
      credits: [{ chargeId: 'first', amount: '15' }],
      isCharge: true,
    })
  })

  it('gives back what is charged by the same document without naming another', () => {
    expect(draft(standing(30, period), null)!.credits).to.deep.equal([{ chargeId: null, amount: '15' }])
    expect(draft(standing(30, period), null)!).not.to.have.property('isCharge')
  })

  it('gives nothing back for a period that is over', () => {
    const over = draft(standing(30, period), null, end)!
    expect(over).to.deep.include({ lines: [], total: '0', period: { start: end, end } })
    expect(over).not.to.have.property('credits')
    expect(draft(standing(30, period), null, end + day)!.period).to.deep.equal({ start: end + day, end: end + day })
  })

  it('says nothing of what is given back and comes to nothing, and names what is charged by all the same', () => {
    const free = draft(standing(0, period), standing(0, period))!
    expect(free.lines.map(({ amount, description }) => [amount, description])).to.deep.equal([['0', 'plan']])
    expect(free).not.to.have.property('credits')
  })

  it('gives back the tax that was charged, and charges that of now', () => {
    const before = { ...standing(30, period), taxPercentage: d(20) }
    expect(draft(before, standing(60, period), half, d(10))).to.include({ tax: '0', total: '15' })
    expect(draft(standing(30, period), standing(60, period), half, d(10))).to.include({ tax: '1.5', total: '16.5' })
    expect(draft({ ...before, taxPercentage: null }, null, half, d(10))).to.include({ tax: '0', total: '-15' })
  })
})

describe('the invoice of the end of a period', () => {
  const usage = (quantity: number, given: Partial<MeasuredUsage> = {}): MeasuredUsage => ({
    priceId: 'calls',
    period,
    quantity: d(quantity),
    ...given,
  })
  const made = (given: Partial<Parameters<typeof periodDraft>[0]> & { agreed?: Partial<Terms> } = {}) => {
    const { agreed, ...rest } = given
    return periodDraft({
      content: sold,
      terms: { ...terms(agreed), currency: 'USD' },
      ended: period,
      standing: standing(30, period),
      fixedCharged: d(30),
      next: standing(30, nextPeriod),
      usage: [usage(10)],
      alreadyCharged: [],
      discount: null,
      ...rest,
    })
  }
  const shown = ({ draft }: ReturnType<typeof made>) => draft.lines.map(({ type, amount, period: of }) => [type, amount, of])

  it('charges the next period in advance, and the usage of the one that ended', () => {
    const { draft, charged } = made()
    expect(draft).to.deep.include({
      reason: 'BILLING_CYCLE',
      currency: 'USD',
      period: nextPeriod,
      isCharge: true,
      subTotal: '35',
      total: '35',
    })
    expect(draft.lines.map(({ isProration }) => isProration)).to.deep.equal([false, false])
    expect(shown({ draft, charged })).to.deep.equal([
      ['BaseCharge', '30', nextPeriod],
      ['PayAsYouGoCharge', '5', period],
    ])
    expect(charged).to.deep.equal([
      { priceId: 'calls', period, amount: '5', charge: { price: calls, version: { kind: 'PLAN', displayName: 'plan' } } },
    ])
  })

  it('at the end of the subscription charges only usage', () => {
    const { draft } = made({ next: null })
    expect(draft).to.deep.include({ period, total: '5', discount: '0', tax: '0' })
    expect(draft).not.to.have.property('isCharge')
    expect(made({ next: null, standing: null, fixedCharged: d(0) }).draft.total).to.equal('5')
  })

  it('taxes what is charged in advance and what was used', () => {
    expect(made({ agreed: { taxPercentage: d(20) } }).draft).to.include({ tax: '7', total: '42' })
    const discounted = { ...standing(30, nextPeriod), net: d(27) }
    expect(made({ next: discounted, discount: percentOff(10), agreed: { taxPercentage: d(20) } }).draft).to.include({
      discount: '3.5',
      tax: '6.3',
      total: '37.8',
    })
  })

  it('gives what a discount has left to usage', () => {
    const next = { ...standing(30, nextPeriod), net: d(0) }
    expect(made({ next, discount: amountOff(33) }).draft).to.include({ discount: '33', total: '2' })
    expect(made({ next: null, discount: amountOff(33) }).draft).to.include({ discount: '3', total: '2' })
    expect(made({ next: null, standing: null, discount: amountOff(33) }).draft).to.include({ discount: '5', total: '0' })
  })

  it('leaves out usage of what is not charged for', () => {
    expect(shown(made({ usage: [usage(10, { priceId: 'unknown' })], next: null }))).to.deep.equal([])
    const two = content([calls, price({ id: 'more', featureRefId: 'more', billingModel: 'USAGE_BASED', amount: d(2) })])
    const both = made({ content: two, next: null, usage: [usage(10, { priceId: 'more' }), usage(10)] })
    expect(both.draft.lines.map(({ amount }) => amount)).to.deep.equal(['20', '5'])
  })

  it('charges of units that are coarser what the part adds to the whole', () => {
    const thousands = price({ ...calls, unitTransformation: { divide: 1_000, round: 'UP' } })
    const part = usage(2_500, { earlier: { since: start - day, quantity: d(1_100) } })
    const { draft, charged } = made({ content: content([thousands]), next: null, usage: [part] })
    expect(draft.lines.map(({ quantity, amount }) => [quantity, amount])).to.deep.equal([['1', '0.5']])
    expect(charged[0]!.since).to.equal(start - day)
    expect(made().charged[0]).not.to.have.property('since')
  })

  describe('charges what came late', () => {
    const was = (amount: number, given: Partial<UsageCharged> = {}): UsageCharged => ({
      priceId: 'calls',
      period: earlier,
      amount: d(amount),
      ...given,
    })
    const late = (quantity: number, alreadyCharged: UsageCharged[]) =>
      made({ next: null, usage: [usage(quantity, { period: earlier })], alreadyCharged })

    it('as the difference, more or less, by a line that says so', () => {
      const { draft, charged } = late(10, [was(3)])
      expect(draft.lines).to.deep.equal([
        {
          type: 'Other',
          description: 'Late usage: plan: calls',
          priceId: 'calls',
          quantity: '10',
          unitAmount: null,
          amount: '2',
          period: earlier,
          isProration: false,
        },
      ])
      expect(charged[0]!.amount).to.equal('5')
      expect(late(10, [was(8)]).draft.total).to.equal('-3')
    })
    it('and nothing where nothing did', () => expect(late(10, [was(5)]).draft.lines).to.deep.equal([]))
    it('by the price of then', () => {
      const charge = { price: price({ ...calls, amount: d(1) }), version: { kind: 'PLAN' as const, displayName: 'old' } }
      const [line] = late(10, [was(3, { charge })]).draft.lines
      expect(line).to.include({ amount: '7', description: 'Late usage: old: calls' })
    })
    it('of that price and that period', () => {
      expect(late(10, [was(3, { priceId: 'other' })]).draft.total).to.equal('5')
      expect(late(10, [was(3, { period })]).draft.total).to.equal('5')
    })
  })

  describe('charges what is missing to the agreed least spend', () => {
    const missing = (least: number, given: Parameters<typeof made>[0] = {}, currency = 'USD') =>
      made({ next: null, ...given, agreed: { minimumSpend: { amount: d(least), currency } } }).draft.lines.filter(
        ({ type }) => type === 'MinimumSpendAdjustmentCharge',
      )

    it('by a line of its own', () => {
      expect(missing(50)).to.deep.equal([
        {
          type: 'MinimumSpendAdjustmentCharge',
          description: 'To the agreed minimum',
          priceId: null,
          quantity: '1',
          unitAmount: '15',
          amount: '15',
          period,
          isProration: false,
        },
      ])
    })
    it('and nothing where as much was spent, or it is agreed in another currency', () => {
      expect(missing(35)).to.deep.equal([])
      expect(missing(34)).to.deep.equal([])
      expect(missing(50, {}, 'EUR')).to.deep.equal([])
    })
    it('in part of a period that is cut short at its end or its beginning', () => {
      const amountOf = (given: Parameters<typeof made>[0]) =>
        missing(60, { usage: [], fixedCharged: d(0), ...given }).map(({ amount }) => amount)
      expect(amountOf({ ended: { start, end: half } })).to.deep.equal(['30'])
      expect(amountOf({ ended: { start: start + 20 * day, end } })).to.deep.equal(['20'])
      expect(amountOf({ ended: { start, end: half }, standing: null })).to.deep.equal(['60'])
    })
    it('after discounts of usage, and with its tax', () => {
      const { draft } = made({
        next: null,
        discount: percentOff(50),
        agreed: { minimumSpend: { amount: d(50), currency: 'USD' }, taxPercentage: d(10) },
      })
      // 30 in advance and half of 5.
      expect(draft).to.include({ subTotal: '22.5', discount: '2.5', tax: '2', total: '22' })
    })
  })
})

describe('the invoice of usage that came after the last one', () => {
  const charge = { price: calls, version: { kind: 'PLAN' as const, displayName: 'plan' } }
  const was = (of: typeof period, amount: number): UsageCharged => ({ priceId: 'calls', period: of, amount: d(amount), charge })
  const late = (given: Partial<Parameters<typeof lateUsageDraft>[0]> = {}) =>
    lateUsageDraft({
      terms: terms({ taxPercentage: d(20), currency: 'EUR' }),
      usage: [
        { priceId: 'calls', period, quantity: d(10) },
        { priceId: 'calls', period: earlier, quantity: d(20) },
      ],
      alreadyCharged: [was(period, 4), was(earlier, 9)],
      discount: null,
      ...given,
    })

  it('covers the periods of all that came, in the currency that they were charged in', () => {
    const draft = late()!
    expect(draft).to.deep.include({
      reason: 'BILLING_CYCLE',
      currency: 'USD',
      period: { start: earlier.start, end },
      subTotal: '2',
      discount: '0',
      tax: '0.4',
      total: '2.4',
    })
    expect(draft.lines.map(({ type, amount }) => [type, amount])).to.deep.equal([
      ['Other', '1'],
      ['Other', '1'],
    ])
  })
  it('is less a percentage, of which nothing can have been left', () => {
    expect(late({ discount: percentOff(50) })).to.include({ discount: '1', tax: '0.2', total: '1.2' })
    expect(late({ discount: amountOff(50) })).to.include({ discount: '0' })
  })
  it('is none where none came, or nothing is known of what it was charged by', () => {
    expect(late({ alreadyCharged: [was(period, 5), was(earlier, 10)] })).to.equal(null)
    expect(late({ usage: [] })).to.equal(null)
    expect(late({ alreadyCharged: [] })).to.equal(null)
    const { charge: _, ...unknown } = was(period, 4)
    expect(late({ alreadyCharged: [unknown] })).to.equal(null)
  })
  it('finds the currency though the first of what was charged does not say it', () => {
    const { charge: _, ...unknown } = was(nextPeriod, 4)
    expect(late({ alreadyCharged: [unknown, was(period, 4), was(earlier, 9)] })!.currency).to.equal('USD')
  })
})

describe('what stands is the same', () => {
  const two = (): Standing => {
    const [line] = standing(10, period).lines
    return { ...standing(30, period), lines: [line!, { ...line!, priceId: 'other', amount: d(20) }] }
  }
  const withLine = (change: object): Standing => ({ ...two(), lines: [two().lines[0]!, { ...two().lines[1]!, ...change }] })

  it('in any order of its lines, and whatever invoice charged it', () => {
    expect(isSameStanding(two(), { ...two(), lines: two().lines.toReversed(), chargedBy: 'x' })).to.equal(true)
  })
  for (const [name, other] of [
    ['currency', { ...two(), currency: 'EUR' }],
    ['discount', { ...two(), net: d(29) }],
    ['total', { ...two(), gross: d(31) }],
    ['period', { ...two(), period: nextPeriod }],
    ['number of lines', { ...two(), lines: two().lines.slice(0, 1) }],
    ['price', withLine({ priceId: 'third' })],
    ['quantity', withLine({ quantity: d(2) })],
    ['amount', withLine({ amount: d(21) })],
  ] as const)
    it(`but not with another ${name}`, () => {
      expect(isSameStanding(two(), other)).to.equal(false)
      expect(isSameStanding(other, two())).to.equal(false)
    })
})
