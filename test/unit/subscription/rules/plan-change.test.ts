import { expect } from 'chai'
import type { Price } from '../../../../src/catalog/model/package.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { planChangeType } from '../../../../src/subscription/rules/plan-change.js'
import type { PlanContent } from '../../../../src/subscription/rules/subscription.js'
import { freePlan, plan, price } from '../support.js'

const d = decimal.fromNumber
const content = (prices: Partial<Price>[], fields: Partial<PlanContent> = {}): PlanContent => ({
  plan: plan('plan', { prices: prices.map((one) => price(one)) }),
  billingPeriod: 'MONTHLY',
  addons: [],
  quantities: [],
  ...fields,
})
const flat = (amount: number, more: Partial<Price> = {}): Partial<Price> => ({ amount: d(amount), ...more })
const seats = (amount: number, more: Partial<Price> = {}): Partial<Price> => ({
  billingModel: 'PER_UNIT',
  featureId: 'seats',
  featureRefId: 'seats',
  amount: d(amount),
  ...more,
})
const bought = (seats: number) => ({
  quantities: [
    { featureId: 'desks', featureRefId: 'desks', quantity: d(100) },
    { featureId: 'seats', featureRefId: 'seats', quantity: d(seats) },
  ],
})
const annually = { billingPeriod: 'ANNUALLY' } as const
const custom = { ...content([]), plan: plan('custom', { pricingType: 'CUSTOM', prices: [] }) }
const free = { ...content([]), plan: freePlan }

describe('a change of plan', () => {
  const cases: [name: string, from: PlanContent, to: PlanContent, type: 'UPGRADE' | 'DOWNGRADE'][] = [
    ['to what is paid', free, content([flat(0)]), 'UPGRADE'],
    ['to what is free', content([flat(0)]), free, 'DOWNGRADE'],
    ['to what is agreed', content([flat(99)]), custom, 'UPGRADE'],
    ['from what is agreed', custom, content([flat(99)]), 'DOWNGRADE'],
    ['to more', content([flat(10)]), content([flat(11)]), 'UPGRADE'],
    ['to less', content([flat(10)]), content([flat(9)]), 'DOWNGRADE'],
    ['to as much', content([flat(10)]), content([flat(10)]), 'UPGRADE'],
    ['to less a month by the year', content([flat(10)]), content([flat(100, annually)], annually), 'DOWNGRADE'],
    ['to more a month by the year', content([flat(10)]), content([flat(130, annually)], annually), 'UPGRADE'],
    ['to more a month from the year', content([flat(100, annually)], annually), content([flat(9)]), 'UPGRADE'],
    ['to less by its own billing period', content([flat(10), flat(1, annually)]), content([flat(9), flat(500, annually)]), 'DOWNGRADE'],
    ['to what costs less but in one country', content([flat(10)]), content([flat(9), flat(50, { billingCountryCode: 'CH' })]), 'DOWNGRADE'],
    [
      'to what costs less but for usage',
      content([flat(10)]),
      content([flat(9), flat(50, { billingModel: 'USAGE_BASED', featureId: 'calls', featureRefId: 'calls' })]),
      'DOWNGRADE',
    ],
    ['to less for as many units', content([seats(10)], bought(5)), content([seats(9)], bought(5)), 'DOWNGRADE'],
    ['to more units for less', content([seats(10)], bought(5)), content([seats(9)], bought(6)), 'UPGRADE'],
    ['to the least units', content([seats(10)], bought(5)), content([seats(9, { minUnitQuantity: 6 })]), 'UPGRADE'],
    [
      'to blocks, of which one that is begun counts',
      content([seats(10)], bought(5)),
      content([seats(26, { blockSize: 4 })], bought(5)),
      'UPGRADE',
    ],
    ['to a fee and units for more', content([flat(50)]), content([flat(10), seats(9)], bought(5)), 'UPGRADE'],
    ['to another currency', content([flat(10)]), content([flat(1, { currency: 'EUR' })]), 'UPGRADE'],
    [
      'in the first currency that both are sold in',
      content([flat(10), flat(10, { currency: 'EUR' })]),
      content([flat(9, { currency: 'EUR' })]),
      'DOWNGRADE',
    ],
    ['from tiers, which a plan alone does not tell', content([flat(10, { amount: null })]), content([flat(1)]), 'UPGRADE'],
    [
      'from tiers, and from a fee in another currency',
      content([flat(10, { amount: null }), flat(10, { currency: 'EUR' })]),
      content([flat(50), flat(9, { currency: 'EUR' })]),
      'DOWNGRADE',
    ],
  ]
  for (const [name, from, to, type] of cases) it(`${name} is ${type}`, () => expect(planChangeType(from, to)).to.equal(type))
})
