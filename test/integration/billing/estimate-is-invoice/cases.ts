/** Random price lists and customers for the check that an estimate is the invoice. */
import fc from 'fast-check'

export type BillingPeriod = 'MONTHLY' | 'ANNUALLY'
export type Currency = 'USD' | 'JPY' | 'EUR'

export interface PriceSpec {
  billingModel: 'FLAT_FEE' | 'PER_UNIT' | 'USAGE_BASED'
  billingPeriod: BillingPeriod
  currency: Currency
  country?: string
  feature?: string
  amount?: string
  blockSize?: number
  tiersMode?: 'GRADUATED' | 'VOLUME'
  tiers?: { upTo?: number; unitPrice?: string; flatPrice?: string }[]
}

export interface PackageSpec {
  refId: string
  prices: PriceSpec[]
}

export interface PriceList {
  plans: PackageSpec[]
  addons: PackageSpec[]
}

export const currencies: readonly Currency[] = ['USD', 'JPY', 'EUR']
export const minorDigits: Record<Currency, number> = { USD: 2, JPY: 0, EUR: 2 }

/** A price with up to four digits below the minor unit, as text. */
const anyAmount = (max: number) =>
  fc
    .tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max: 9_999 }))
    .map(([whole, fraction]) => String((whole * 10_000 + fraction) / 10_000))

/** By amount, by block or by tiers. */
const anyUnitPrice = (max: number) =>
  fc.oneof(
    anyAmount(max).map((amount) => ({ amount })),
    fc.record({ amount: anyAmount(max), blockSize: fc.integer({ min: 2, max: 12 }) }),
    fc.record({
      tiersMode: fc.constantFrom('GRADUATED' as const, 'VOLUME' as const),
      tiers: fc
        .tuple(
          fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
          fc.array(fc.record({ unitPrice: anyAmount(max), flatPrice: fc.option(anyAmount(max), { nil: undefined }) }), {
            minLength: 5,
            maxLength: 5,
          }),
        )
        .map(([ends, prices]) =>
          [...ends.sort((a, b) => a - b), undefined].map((upTo, index) =>
            upTo === undefined ? prices[index]! : { upTo, ...prices[index]! },
          ),
        ),
    }),
  )

/** The same things in every currency and period. */
function anyPrices(sold: {
  flat: number
  units?: { feature: string; max: number }
  usage?: { feature: string; max: number }
}): fc.Arbitrary<PriceSpec[]> {
  const each = currencies.flatMap((currency) => (['MONTHLY', 'ANNUALLY'] as const).map((billingPeriod) => ({ currency, billingPeriod })))
  const { flat, units, usage } = sold
  return fc.tuple(
    ...each.flatMap((where): fc.Arbitrary<PriceSpec>[] => [
      anyAmount(flat).map((amount) => ({ billingModel: 'FLAT_FEE' as const, ...where, amount })),
      ...(units
        ? [anyUnitPrice(units.max).map((price) => ({ billingModel: 'PER_UNIT' as const, ...where, feature: units.feature, ...price }))]
        : []),
      ...(usage
        ? [anyUnitPrice(usage.max).map((price) => ({ billingModel: 'USAGE_BASED' as const, ...where, feature: usage.feature, ...price }))]
        : []),
    ]),
  )
}

/** Dearer for customers billed in one country. */
const anyLocalPrice = anyAmount(900).map(
  (amount): PriceSpec => ({ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', country: 'DE', amount }),
)

const anyPriceList: fc.Arbitrary<PriceList> = fc
  .record({
    team: anyPrices({ flat: 300, units: { feature: 'seats', max: 30 } }),
    local: anyLocalPrice,
    business: anyPrices({ flat: 900, units: { feature: 'seats', max: 60 }, usage: { feature: 'calls', max: 1 } }),
    // Sold in one currency and period only: who comes from another one changes both.
    tried: anyAmount(200).map((amount): PriceSpec[] => [{ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount }]),
    support: anyPrices({ flat: 90 }),
    storage: anyPrices({ flat: 5, units: { feature: 'boxes', max: 9 } }),
  })
  .map(({ team, local, business, tried, support, storage }) => ({
    plans: [
      { refId: 'team', prices: [...team, local] },
      { refId: 'business', prices: business },
      { refId: 'tried', prices: tried },
    ],
    addons: [
      { refId: 'support', prices: support },
      { refId: 'storage', prices: storage },
    ],
  }))

export interface ContentSpec {
  planRefId: string
  billingPeriod: BillingPeriod
  seats: number
  support: number
  /** Null: the add-on is not held. */
  boxes: number | null
}

const anyContent: fc.Arbitrary<ContentSpec> = fc.record({
  planRefId: fc.constantFrom('team', 'team', 'business', 'business', 'tried'),
  billingPeriod: fc.constantFrom('MONTHLY' as const, 'MONTHLY' as const, 'ANNUALLY' as const),
  seats: fc.integer({ min: 1, max: 70 }),
  support: fc.integer({ min: 0, max: 3 }),
  boxes: fc.option(fc.integer({ min: 1, max: 40 })),
})

export type ProrationBehavior = 'INVOICE_IMMEDIATELY' | 'CREATE_PRORATIONS' | 'NONE'
export type StepKind = 'provision' | 'quantity' | 'addons' | 'period' | 'migrate' | 'cancel' | 'rest'

export type PaymentOutcome = 'paid' | 'failed' | 'paid late' | 'taken back' | 'paid, then refunded'

/** Of one of the last four invoices, counted from the last. */
export interface PaymentSpec {
  which: number
  outcome: PaymentOutcome
}

export interface StepSpec {
  /** What is heard before it. */
  payment: PaymentSpec | null
  kind: StepKind
  content: ContentSpec
  proration: ProrationBehavior
  /** Of a migration or a cancellation. */
  isImmediate: boolean
  /** Of an update. */
  restartsPeriod: boolean
  /** Used in the period that is running after the step, and what comes late for the one before. */
  calls: number
  lateCalls: number | null
}

const anyPayment: fc.Arbitrary<PaymentSpec> = fc.record({
  which: fc.constantFrom(0, 0, 0, 1, 2, 3),
  outcome: fc.constantFrom<PaymentOutcome[]>('paid', 'failed', 'failed', 'paid late', 'paid late', 'taken back', 'paid, then refunded'),
})

const anyStep: fc.Arbitrary<StepSpec> = fc.record({
  payment: fc.option(anyPayment, { freq: 2 }),
  kind: fc.constantFrom<StepKind[]>(
    'provision',
    'provision',
    'quantity',
    'quantity',
    'addons',
    'period',
    'migrate',
    'migrate',
    'cancel',
    'rest',
  ),
  content: anyContent,
  proration: fc.constantFrom<ProrationBehavior[]>(
    'INVOICE_IMMEDIATELY',
    'INVOICE_IMMEDIATELY',
    'INVOICE_IMMEDIATELY',
    'CREATE_PRORATIONS',
    'NONE',
  ),
  isImmediate: fc.boolean(),
  restartsPeriod: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  calls: fc.integer({ min: 0, max: 3_000 }),
  lateCalls: fc.option(fc.integer({ min: 1, max: 500 }), { freq: 2 }),
})

export interface CustomerSpec {
  timeZone: string
  currency: Currency | null
  country: 'DE' | null
  discount:
    | { percentOff: number }
    | { amountOff: Record<Currency, number>; months: number | null }
    | { couponRefId: string; isCustomers: boolean }
    | null
  taxPercentage: number | null
  minimumSpend: number | null
  overrides: { flat: string; seat: string } | null
  first: ContentSpec
  steps: StepSpec[]
}

const anyDiscount: fc.Arbitrary<CustomerSpec['discount']> = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 1, max: 1_000 }).map((tenths) => ({ percentOff: tenths / 10 })),
  fc.record({
    amountOff: fc.record({
      USD: fc.integer({ min: 1, max: 6_000 }),
      JPY: fc.integer({ min: 1, max: 6_000 }),
      EUR: fc.integer({ min: 1, max: 6_000 }),
    }),
    months: fc.option(fc.integer({ min: 1, max: 3 })),
  }),
  fc.record({ couponRefId: fc.constantFrom('tenth', 'seven'), isCustomers: fc.boolean() }),
)

const anyCustomer = (stepCount: number): fc.Arbitrary<CustomerSpec> =>
  fc.record({
    timeZone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia', 'Europe/Berlin'),
    currency: fc.option(fc.constantFrom(...currencies), { freq: 3 }),
    country: fc.option(fc.constant('DE' as const), { freq: 2 }),
    discount: anyDiscount,
    taxPercentage: fc.constantFrom(null, 7.7, 19, 20),
    minimumSpend: fc.option(fc.integer({ min: 1, max: 2_000 }), { freq: 2 }),
    overrides: fc.option(fc.record({ flat: anyAmount(300), seat: anyAmount(30) }), { freq: 2 }),
    first: anyContent,
    steps: fc.array(anyStep, { minLength: stepCount, maxLength: stepCount }),
  })

/** An environment: its customers share the catalog and the clock, and nothing else. */
export interface WorldSpec {
  priceList: PriceList
  /** Published before the third step, for new customers. */
  laterPrices: PriceList
  downgradeTiming: 'IMMEDIATE' | 'END_OF_BILLING_PERIOD'
  /** Of calls; null: they are sold one by one. */
  unitTransformation: { divide: number; round: 'UP' | 'DOWN' } | null
  /** Seconds before each step; the first is the time of the day. */
  gaps: number[]
  customers: CustomerSpec[]
}

const hour = 3_600
const anyGap = fc.oneof(
  fc.integer({ min: 1, max: 20 * 24 * hour }),
  fc.integer({ min: 1, max: 50 * 24 * hour }),
  fc.constantFrom(0, 24 * hour, 30 * 24 * hour, 31 * 24 * hour),
)

export const anyWorld = ({ customers, steps }: { customers: number; steps: number }): fc.Arbitrary<WorldSpec> =>
  fc.record({
    priceList: anyPriceList,
    laterPrices: anyPriceList,
    downgradeTiming: fc.constantFrom('IMMEDIATE' as const, 'IMMEDIATE' as const, 'END_OF_BILLING_PERIOD' as const),
    unitTransformation: fc.option(
      fc.record({ divide: fc.constantFrom(7, 100, 1_000), round: fc.constantFrom('UP' as const, 'DOWN' as const) }),
      { freq: 3 },
    ),
    gaps: fc.array(anyGap, { minLength: steps + 1, maxLength: steps + 1 }),
    customers: fc.array(anyCustomer(steps), { minLength: customers, maxLength: customers }),
  })

/** The catalog document of a price list. */
export function catalogOf({ plans, addons }: PriceList, { downgradeTiming }: Pick<WorldSpec, 'downgradeTiming'>): string {
  const product = 'cloud'
  return JSON.stringify({
    features: [
      { refId: 'seats', type: 'NUMBER', meter: 'Fluctuating' },
      { refId: 'boxes', type: 'NUMBER', meter: 'Fluctuating' },
      { refId: 'calls', type: 'NUMBER', meter: 'Incremental' },
    ],
    products: [{ refId: product, settings: { downgradeTiming } }],
    plans: plans.map(({ refId, prices }) => ({
      refId,
      product,
      compatibleAddons: addons.map((addon) => addon.refId),
      ...(refId === 'tried' && { defaultTrial: { duration: 14, units: 'DAY', endBehavior: 'CONVERT_TO_PAID' } }),
      prices,
    })),
    addons: addons.map(({ refId, prices }) => ({ refId, product, prices })),
    coupons: [
      { refId: 'tenth', percentOff: 10 },
      { refId: 'seven', amountsOff: currencies.map((currency) => ({ currency, amount: 7 })) },
    ],
  })
}
