import { expect } from 'chai'
import type { PriceOverride } from '../../../../src/billing/rules/billing.js'
import { boughtUnits, chargesOf, currencyOf, lineOf, overridingIn } from '../../../../src/billing/rules/charges.js'
import { content, d, price, terms, version } from '../support.js'

const override = (given: Partial<PriceOverride> = {}): PriceOverride => ({
  addonRefId: null,
  featureRefId: null,
  amount: d(5),
  tiers: null,
  blockSize: null,
  ...given,
})
const tiers = [{ upTo: null, unitPrice: d(1), flatPrice: null }]
const seats = price({ id: 'seats', featureRefId: 'seats', amount: d(12) })
const desks = price({ id: 'desks', featureRefId: 'desks', amount: d(3), blockSize: 10 })

describe('the charges of a subscription', () => {
  const shown = (sold: ReturnType<typeof content>, agreed = terms()) =>
    chargesOf(sold, agreed).fixed.map(
      ({ price: { id, amount, tiers: of, tiersMode, blockSize }, version: { refId }, quantity, isAgreed }) => ({
        id,
        amount,
        tiers: of,
        tiersMode,
        blockSize,
        refId,
        quantity,
        isAgreed,
      }),
    )

  it('are none without a currency', () => {
    expect(chargesOf(content([price()]), terms({ currency: null }))).to.deep.equal({ fixed: [], usage: [] })
  })

  it('begin with the flat fee, wherever it stands in the package', () => {
    const flat = price({ id: 'flat' })
    expect(shown(content([seats, flat, desks])).map(({ id }) => id)).to.deep.equal(['flat', 'seats', 'desks'])
  })

  it('count each feature for itself, and units of an add-on for each that is held', () => {
    const addon = version('more', [desks], 'ADDON')
    const sold = content([seats], {
      addons: [{ version: addon, quantity: 3 }],
      quantities: [
        { featureId: seats.featureId!, quantity: d(5) },
        { featureId: desks.featureId!, quantity: d(20) },
      ],
    })
    expect(shown(sold).map(({ id, refId, quantity }) => [id, refId, quantity])).to.deep.equal([
      ['seats', 'plan', '5'],
      ['desks', 'more', '60'],
    ])
    const bought = boughtUnits(sold, terms())
    expect([...bought]).to.deep.equal([
      [seats.featureId, { versionId: 'version of plan', units: '5' }],
      [desks.featureId, { versionId: 'version of more', units: '60' }],
    ])
  })

  it('give the whole of a block that is begun, and nothing for a flat fee or for usage', () => {
    const calls = price({ featureRefId: 'calls', billingModel: 'USAGE_BASED' })
    const sold = content([price(), desks, calls], { quantities: [{ featureId: desks.featureId!, quantity: d(11) }] })
    expect([...boughtUnits(sold, terms())]).to.deep.equal([[desks.featureId, { versionId: 'version of plan', units: '20' }]])
  })

  it('tell agreed prices from those of the catalog', () => {
    const own = override({ featureRefId: 'desks', amount: d(1) })
    const sold = content([seats, desks])
    expect(
      shown(sold, terms({ priceOverrides: [own] })).map(({ id, amount, blockSize, isAgreed }) => [id, amount, blockSize, isAgreed]),
    ).to.deep.equal([
      ['seats', '12', null, false],
      ['desks', '1', 10, true],
    ])
    const other = override({ featureRefId: 'desks', amount: d(1), blockSize: 7 })
    expect(shown(sold, terms({ priceOverrides: [other] }))[1]).to.include({ amount: '1', blockSize: 7 })
  })

  it('are graduated where tiers are agreed, unless the catalog says by volume; and have no tiers any more where an amount is', () => {
    const tiered = price({ id: 'tiered', featureRefId: 'desks', tiers, tiersMode: 'VOLUME' })
    const inTiers = override({ featureRefId: 'desks', amount: null, tiers })
    const ofPlan = (own: PriceOverride, sold = desks) => shown(content([sold]), terms({ priceOverrides: [own] }))[0]
    expect(ofPlan(inTiers)).to.include({ amount: null, tiers, tiersMode: 'GRADUATED' })
    expect(ofPlan(inTiers, tiered)).to.include({ tiers, tiersMode: 'VOLUME' })
    expect(ofPlan(override({ featureRefId: 'desks' }), tiered)).to.include({ amount: '5', tiers: null, tiersMode: null })
  })

  it('have an agreed price of an add-on, and in one currency only where that is said', () => {
    const sold = content([price()], { addons: [{ version: version('more', [price()], 'ADDON'), quantity: 1 }] })
    const agreed = (own: PriceOverride) => shown(sold, terms({ priceOverrides: [own] })).map(({ isAgreed }) => isAgreed)
    expect(agreed(override())).to.deep.equal([true, false])
    expect(agreed(override({ addonRefId: 'more' }))).to.deep.equal([false, true])
    expect(agreed(override({ currency: 'USD' }))).to.deep.equal([true, false])
    expect(agreed(override({ currency: 'EUR' }))).to.deep.equal([false, false])
  })

  it('are in a currency of the prices of its billing period', () => {
    const sold = content([price({ currency: 'EUR', billingPeriod: 'ANNUALLY' }), price({ currency: 'GBP' })])
    expect(currencyOf(sold, 'EUR')).to.equal('GBP')
  })
})

describe('an agreed price', () => {
  const sold = content([price(), seats], { addons: [{ version: version('more', [price()], 'ADDON'), quantity: 1 }] })
  for (const [name, own, expected] of [
    ['of the plan', override(), true],
    ['of one of its features', override({ featureRefId: 'seats' }), true],
    ['of an add-on', override({ addonRefId: 'more' }), true],
    ['of a feature that it does not sell', override({ featureRefId: 'desks' }), false],
    ['of an add-on that is not held', override({ addonRefId: 'other' }), false],
    ['in another currency', override({ currency: 'EUR' }), false],
  ] as const)
    it(`${name} ${expected ? 'replaces' : 'does not replace'} one that is charged`, () =>
      expect(overridingIn(sold, 'USD')(own)).to.equal(expected))
})

describe('the line of a charge', () => {
  const line = (of: ReturnType<typeof price>, kind: 'PLAN' | 'ADDON' = 'PLAN') =>
    lineOf({ price: of, version: { kind, displayName: 'Team' }, quantity: d(2) })
  it('says what is charged, for how many, and what it comes to', () => {
    expect(line(seats)).to.deep.equal({
      type: 'InAdvanceCommitmentCharge',
      description: 'Team: seats',
      priceId: 'seats',
      quantity: '2',
      unitAmount: '12',
      amount: '24',
    })
    expect(line(price())).to.include({ description: 'Team' })
  })
  for (const [type, of, kind] of [
    ['BaseCharge', price(), 'PLAN'],
    ['AddonCharge', price(), 'ADDON'],
    ['InAdvanceCommitmentCharge', seats, 'ADDON'],
    ['PayAsYouGoCharge', price({ featureRefId: 'calls', billingModel: 'USAGE_BASED' }), 'PLAN'],
    ['TierCharge', price({ featureRefId: 'calls', billingModel: 'USAGE_BASED', tiers }), 'PLAN'],
    ['TierCharge', price({ featureRefId: 'seats', tiers }), 'PLAN'],
  ] as const)
    it(`of a ${kind}, ${of.billingModel}${of.tiers ? ' in tiers' : ''}, is a ${type}`, () => expect(line(of, kind).type).to.equal(type))
})
