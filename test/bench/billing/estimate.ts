import { newAccount } from '../../../src/billing/rules/account.js'
import { bill } from '../../../src/billing/rules/bill.js'
import { estimateOf } from '../../../src/billing/rules/estimate.js'
import { usualTerms } from '../../../src/billing/rules/request.js'
import type { PackageVersion, Price } from '../../../src/catalog/model/package.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { Problem } from '../../../src/kernel/problem.js'
import type { Subscription } from '../../../src/subscription/rules/subscription.js'
import { compare, type Sample } from '../figures/compare.js'
import type { Benchmark } from '../harness/benchmark.js'

const prices = 20
const tiers = 10
const day = 86_400_000
const period = { start: Date.parse('2027-04-01T00:00:00Z'), end: Date.parse('2027-05-01T00:00:00Z') }
const at = period.start + 12 * day
const unitPrice = (price: number, tier: number) => (1 + price + (tiers - tier) * 0.11) / 10

/** A plan with 20 prices of 10 graduated tiers, 50 units of each bought, of which 60 are wanted. */
function subscription(units: number): Subscription {
  const sold = Array.from({ length: prices }, (_, index) => {
    const featureId = `feature-${index}`
    return {
      id: `price-${index}`,
      billingModel: 'PER_UNIT',
      billingPeriod: 'MONTHLY',
      currency: 'USD',
      billingCountryCode: null,
      amount: null,
      featureId,
      featureRefId: featureId,
      unitTransformation: null,
      tiersMode: 'GRADUATED',
      tiers: Array.from({ length: tiers }, (_, tier) => ({
        upTo: tier === tiers - 1 ? null : decimal.fromNumber((tier + 1) * 10),
        unitPrice: decimal.fromNumber(unitPrice(index, tier)),
        flatPrice: null,
      })),
      blockSize: null,
      minUnitQuantity: null,
      maxUnitQuantity: null,
    } satisfies Price
  })
  const plan = {
    id: 'plan',
    refId: 'plan',
    kind: 'PLAN',
    displayName: 'Plan',
    pricingType: 'PAID',
    prices: sold,
  } as unknown as PackageVersion
  return {
    id: 's',
    plan,
    addons: [],
    quantities: sold.map(({ featureId }) => ({ featureId, featureRefId: featureId, quantity: decimal.fromNumber(units) })),
    status: 'ACTIVE',
    pricingType: 'PAID',
    billingPeriod: 'MONTHLY',
    billingCountryCode: null,
    currentPeriod: period,
    timeZone: 'UTC',
  } as unknown as Subscription
}

const terms = { ...usualTerms, currency: 'USD' }
const [before, after] = [subscription(50), subscription(60)]
const change = { isRenewal: false, proration: 'INVOICE_IMMEDIATELY', creditsUnused: false } as const
const begun = bill({ account: newAccount(terms), change: { ...change, before: null, after: before, at: period.start } }).account

function estimate(): number {
  const { account, drafts } = bill({ account: begun, change: { ...change, before, after, at } })
  const answer = estimateOf({
    account,
    drafts,
    content: after,
    period,
    at,
    balance: decimal.zero,
    customerDiscount: null,
    fallbackCurrency: 'USD',
  })
  return decimal.toNumber(answer.total)
}

/** The same sums in floating point, without lines, discounts or exactness: what is lost to being right. */
function plainSums(): number {
  const whole = (units: number) => {
    let sum = 0
    for (let price = 0; price < prices; price++) {
      let cost = 0
      for (let tier = 0; tier < tiers; tier++) {
        const left = Math.min(units - tier * 10, tier === tiers - 1 ? Number.POSITIVE_INFINITY : 10)
        if (left > 0) cost += left * unitPrice(price, tier)
      }
      sum += Math.round(cost * 100) / 100
    }
    return sum
  }
  const share = (period.end - at) / (period.end - period.start)
  return Math.round(whole(60) * share * 100) / 100 - Math.round(whole(50) * share * 100) / 100
}

type Measure = 'estimate' | 'estimate-time'

/** Estimates for `ms`. */
function measure(work: () => number, ms: number): Sample<Measure> {
  const began = performance.now()
  let count = 0
  while (performance.now() - began < ms) for (let index = 0; index < 50; index++, count++) work()
  const elapsedMs = performance.now() - began
  return { estimate: (count / elapsedMs) * 1_000, 'estimate-time': (elapsedMs / count) * 1_000 }
}

export const estimateBenchmark: Benchmark = {
  name: 'estimate',
  about: 'estimate of a change with 20 prices of 10 tiers, beside the same sums in floating point',
  async run({ seconds, note }) {
    const [exact, plain] = [estimate(), plainSums()]
    if (Math.abs(exact - plain) > 0.02) throw new Problem('INTERNAL', 'INTERNAL', `The estimate is ${exact}, plain sums say ${plain}.`)
    const roundMs = Math.min(1_000, (seconds * 1_000) / 20)
    for (const work of [estimate, plainSums]) measure(work, roundMs)
    return compare<Measure>({
      subject: async () => measure(estimate, roundMs),
      reference: async () => measure(plainSums, roundMs),
      measures: { estimate: { name: 'estimate', unit: 'estimates/s' }, 'estimate-time': { name: 'estimate-time', unit: 'µs' } },
      rounds: 16,
      seconds,
      onRound: (round, { estimate: rate }) => note(`round ${round}: ${Math.round(rate)} estimates/s`),
    })
  },
}
