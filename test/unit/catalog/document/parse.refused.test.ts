import { expect } from 'chai'
import { parseCatalog, parseCatalogText } from '../../../../src/catalog/document/parse.js'
import { documentWith, entitling, parsed, planWith, pricing, refusals, someFeatures } from '../documents.js'

/** A guarantee, a document that breaks it, and all that must be said about it. */
type Case = [guarantee: string, input: unknown, ...problems: string[]]

function check(cases: Case[]): void {
  for (const [guarantee, input, ...problems] of cases) it(guarantee, () => expect(refusals(input)).to.deep.equal(problems))
}

const flat = { billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount: 5 }
const perSeat = { billingModel: 'PER_UNIT', billingPeriod: 'MONTHLY', currency: 'USD', feature: 'seats', amount: 5 }
const usage = { ...perSeat, billingModel: 'USAGE_BASED', feature: 'calls' }
const feature = (fields: object) => ({ features: [{ refId: 'f', type: 'NUMBER', ...fields }] })
const events = (fields: object, meter = 'Incremental') => feature({ meter, events: { aggregation: 'COUNT', ...fields } })
const filter = (condition: object) => events({ filters: [[{ field: 'size', ...condition }]] })
const settings = (given: object, plans: unknown[] = []) => documentWith({ products: [{ refId: 'cloud', settings: given }], plans })
const coupon = (fields: object) => ({ coupons: [{ refId: 'c', ...fields }] })

describe('a catalog document that is refused', () => {
  describe('for its shape', () => {
    check([
      ['must be a map', [1], ': must be a map with some of features, products, plans, addons, coupons'],
      ['must be a map and not nothing', null, ': must be a map with some of features, products, plans, addons, coupons'],
      ['names an unknown key and the one that was meant', { feature: [] }, "feature: is not a known key; did you mean 'features'?"],
      [
        'names unknown keys at any depth',
        settings({ endOfSubscripton: null }),
        "products[0].settings.endOfSubscripton: is not a known key; did you mean 'endOfSubscription'?",
      ],
      [
        'finds unknown keys in lists of lists',
        events({ filters: [[{ feild: 'a', field: 'a', operation: 'IS_NULL' }]] }),
        "features[0].events.filters[0][0].feild: is not a known key; did you mean 'field'?",
      ],
      ['suggests nothing when nothing is near', feature({ colour: 1 }), 'features[0].colour: is not a known key'],
      ['says what a list is', { plans: {} }, 'plans: must be a list'],
      ['says what a definition is', { plans: [5] }, 'plans[0]: must be a map'],
      ['wants an identifier', { products: [{}] }, 'products[0].refId: is required'],
      ['wants identifiers as text', { products: [{ refId: 7 }] }, 'products[0].refId: must be text; put numbers in quotes'],
      ['refuses a blank identifier', { products: [{ refId: ' ' }] }, 'products[0].refId: the identifier must not be empty'],
      ['refuses a control character', { products: [{ refId: 'a\nb' }] }, 'products[0].refId: the identifier contains a control character'],
      [
        'refuses a long identifier',
        { products: [{ refId: 'x'.repeat(256) }] },
        'products[0].refId: the identifier has 256 characters: at most 255 are taken',
      ],
      [
        'refuses text that cannot be stored',
        { products: [{ refId: 'p', displayName: 'a\0', description: '\ud800', additionalMetaData: { a: ['\0'] } }] },
        'products[0].displayName: contains a character that cannot be stored',
        'products[0].description: contains a character that cannot be stored',
        'products[0].additionalMetaData: contains a character that cannot be stored',
      ],
      [
        'lists the choices',
        feature({ type: 'Boolean' }),
        "features[0].type: must be one of BOOLEAN, NUMBER, ENUM; did you mean 'BOOLEAN'?",
      ],
    ])
  })

  describe('for its features', () => {
    check([
      [
        'identifiers are unique in their list',
        { features: [someFeatures[0], { refId: 'sso', type: 'NUMBER' }] },
        "features[1].refId: 'sso' is already the refId of features[0]",
      ],
      [
        'only a NUMBER has a meter',
        feature({ type: 'BOOLEAN', meter: 'Incremental' }),
        'features[0].meter: only a NUMBER has a meter; this is a BOOLEAN',
      ],
      ['an ENUM has values', feature({ type: 'ENUM' }), 'features[0].enumValues: an ENUM needs the values to choose from'],
      ['only an ENUM has values', feature({ enumValues: ['a'] }), 'features[0].enumValues: only an ENUM has values; this is a NUMBER'],
      ['values are distinct', feature({ type: 'ENUM', enumValues: ['a', 'a'] }), "features[0].enumValues[1]: 'a' is listed twice"],
      [
        'a level is not measured from events',
        events({}, 'Fluctuating'),
        'features[0].events: raw events measure Incremental usage; the meter is Fluctuating (report a level such as seats with reportUsage)',
      ],
      ['UNIQUE reads a field', events({ aggregation: 'UNIQUE' }), 'features[0].events.field: is required: the dimension that UNIQUE reads'],
      ['SUM reads a field', events({ aggregation: 'SUM' }), 'features[0].events.field: is required: the dimension that SUM reads'],
      ['COUNT reads none', events({ field: 'x' }), 'features[0].events.field: COUNT counts events and reads no field'],
      [
        'units are converted only where they are measured',
        feature({ meter: 'Incremental', unitTransformation: { divide: 10, round: 'UP' } }),
        'features[0].unitTransformation: converts what is measured from raw events, so it needs events',
      ],
      [
        'an empty group',
        events({ filters: [[]] }),
        'features[0].events.filters[0]: must not be empty: a group without conditions would take every event',
      ],
      ['a comparison has a value', filter({ operation: 'EQUALS' }), 'features[0].events.filters[0][0].value: is required with EQUALS'],
      ['IN has values', filter({ operation: 'IN', values: [] }), 'features[0].events.filters[0][0].values: is required with IN'],
      ['IS_NULL has none', filter({ operation: 'IS_NULL', value: 1 }), 'features[0].events.filters[0][0].value: does not go with IS_NULL'],
      [
        'EQUALS has one',
        filter({ operation: 'EQUALS', value: 1, values: [1] }),
        'features[0].events.filters[0][0].values: does not go with EQUALS',
      ],
      [
        'true and false have no order',
        filter({ operation: 'LESS_THAN', value: true }),
        'features[0].events.filters[0][0].value: true and false have no order: LESS_THAN never holds',
      ],
    ])
  })

  describe('for its entitlements', () => {
    const place = 'plans[0].entitlements[0]'
    check([
      ['the feature exists', entitling({ feature: 'cals' }), `${place}.feature: there is no feature 'cals'; did you mean 'calls'?`],
      [
        'a feature is entitled once',
        entitling({ feature: 'sso' }, { feature: 'sso' }),
        "plans[0].entitlements[1].feature: 'sso' has an entitlement already, at plans[0].entitlements[0]",
      ],
      [
        'a BOOLEAN has no limit, values or reset',
        entitling({ feature: 'sso', limit: 1, unlimited: true, softLimit: true, values: ['x'], resetPeriod: 'DAY' }),
        `${place}.limit: 'sso' is a BOOLEAN, which has no limit`,
        `${place}.unlimited: 'sso' is a BOOLEAN, which has no limit`,
        `${place}.softLimit: 'sso' is a BOOLEAN, which has no limit`,
        `${place}.values: 'sso' is a BOOLEAN, which has no values`,
        `${place}.resetPeriod: 'sso' has no meter, so there is no usage to reset`,
      ],
      [
        'a NUMBER has a limit',
        entitling({ feature: 'calls' }),
        `${place}: needs limit or unlimited, as 'calls' is a NUMBER and no PER_UNIT price sells it here`,
      ],
      [
        'a NUMBER that is sold by usage, or is another than is sold by the unit, has a limit',
        documentWith({
          plans: [
            planWith({
              entitlements: [{ feature: 'calls' }, { feature: 'storage' }],
              prices: [
                { billingModel: 'USAGE_BASED', billingPeriod: 'MONTHLY', currency: 'USD', amount: 1, feature: 'calls' },
                { billingModel: 'PER_UNIT', billingPeriod: 'MONTHLY', currency: 'USD', amount: 1, feature: 'seats' },
              ],
            }),
          ],
        }),
        `${place}: needs limit or unlimited, as 'calls' is a NUMBER and no PER_UNIT price sells it here`,
        "plans[0].entitlements[1]: needs limit or unlimited, as 'storage' is a NUMBER and no PER_UNIT price sells it here",
      ],
      [
        'unlimited is not limited',
        entitling({ feature: 'calls', limit: 1, unlimited: true }),
        `${place}.limit: contradicts unlimited: true`,
      ],
      [
        'unlimited is not soft',
        entitling({ feature: 'calls', softLimit: true, unlimited: true }),
        `${place}.softLimit: contradicts unlimited: true`,
      ],
      [
        'a number without meter fits an int32',
        entitling({ feature: 'storage', limit: 2147483648 }),
        `${place}.limit: must be a whole number up to 2147483647, as 'storage' has no meter`,
      ],
      [
        'a number without meter is whole',
        entitling({ feature: 'storage', limit: 1.5, softLimit: true }),
        `${place}.softLimit: 'storage' has no meter, so nothing can exceed its limit`,
        `${place}.limit: must be a whole number up to 2147483647, as 'storage' has no meter`,
      ],
      [
        'a limit is readable from a double',
        entitling({ feature: 'calls', limit: '9007199254740992' }),
        `${place}.limit: must be at most 9007199254740991 (2^53 - 1)`,
      ],
      [
        'not even by a billionth more',
        entitling({ feature: 'calls', limit: '9007199254740991.000000001' }),
        `${place}.limit: must be at most 9007199254740991 (2^53 - 1)`,
      ],
      [
        'a limit has 9 decimals',
        entitling({ feature: 'calls', limit: 1e-10 }),
        `${place}.limit: has more than 9 digits after the decimal point`,
      ],
      [
        'as text too',
        entitling({ feature: 'calls', limit: '0.0000000001' }),
        `${place}.limit: has more than 9 digits after the decimal point`,
      ],
      ['a limit is not negative', entitling({ feature: 'calls', limit: -1 }), `${place}.limit: must not be negative`],
      ['a limit is finite', entitling({ feature: 'calls', limit: Number.NaN }), `${place}.limit: must be a finite number`],
      [
        'a limit is a number',
        entitling({ feature: 'calls', limit: '1e3' }),
        `${place}.limit: must be a number, or a decimal number in quotes`,
      ],
      [
        'seats are never reset',
        entitling({ feature: 'seats', limit: 1, resetPeriod: 'MONTH' }),
        `${place}.resetPeriod: 'seats' is Fluctuating: its usage goes up and down and is never reset`,
      ],
      [
        'a rule goes with a period',
        entitling({ feature: 'calls', limit: 1, resetRule: 'EverySunday' }),
        `${place}.resetRule: needs a resetPeriod`,
      ],
      [
        'a rule fits its period',
        entitling({ feature: 'calls', limit: 1, resetPeriod: 'MONTH', resetRule: 'EverySunday' }),
        `${place}.resetRule: must be one of SubscriptionStart, StartOfTheMonth with MONTH`,
      ],
      ['an ENUM has values', entitling({ feature: 'regions' }), `${place}.values: is required: some of eu, us, ap`],
      [
        'an ENUM has known, distinct values',
        entitling({ feature: 'regions', values: ['eu', 'eu', 'mars'] }),
        `${place}.values[2]: 'mars' is not a value of 'regions'`,
        `${place}.values[1]: 'eu' is listed twice`,
      ],
    ])
  })

  describe('for its prices', () => {
    const place = 'plans[0].prices[0]'
    const tiers = [{ upTo: 10, unitPrice: 1 }, { unitPrice: 0.5 }]
    const tiered = { ...usage, amount: null, tiersMode: 'VOLUME', tiers }
    check([
      [
        'the currency exists',
        pricing({ ...flat, currency: 'usd' }),
        `${place}.currency: is not one of the known codes; did you mean 'USD'?`,
      ],
      [
        'the country is a code',
        pricing({ ...flat, country: 'Germany' }),
        `${place}.country: must be a country code of two letters (ISO 3166-1 alpha-2); did you mean 'DE'?`,
      ],
      [
        'the country is one that there is',
        pricing({ ...flat, country: 'XX' }),
        `${place}.country: must be a country code of two letters (ISO 3166-1 alpha-2)`,
      ],
      [
        'a country is the same in any case',
        pricing({ ...flat, country: 'at' }, { ...flat, country: 'AT' }),
        'plans[0].prices[1]: is the same as plans[0].prices[0]: one price per feature, billing period, currency and country',
      ],
      [
        'what is bought of a NUMBER without a meter is its value',
        pricing({ ...usage, billingModel: 'PER_UNIT', feature: 'storage', blockSize: 2 ** 31, maxQuantity: 2 ** 40 }),
        `${place}.blockSize: must be at most 2147483647, as 'storage' has no meter`,
        `${place}.maxQuantity: must be at most 2147483647, as 'storage' has no meter`,
      ],
      ['a flat fee has an amount', pricing({ ...flat, amount: null }), `${place}.amount: is required`],
      [
        'a flat fee counts nothing',
        pricing({ ...flat, feature: 'seats', blockSize: 5, minQuantity: 1 }),
        `${place}.feature: does not go with FLAT_FEE`,
        `${place}.blockSize: does not go with FLAT_FEE`,
        `${place}.minQuantity: does not go with FLAT_FEE`,
      ],
      [
        'other models count a feature',
        pricing({ ...perSeat, feature: null }),
        `${place}.feature: is required with PER_UNIT: what is counted`,
      ],
      [
        'the feature exists',
        pricing({ ...perSeat, feature: 'seat' }),
        `${place}.feature: there is no feature 'seat'; did you mean 'seats'?`,
      ],
      [
        'only numbers are counted',
        pricing({ ...perSeat, feature: 'sso' }),
        `${place}.feature: 'sso' is a BOOLEAN, which cannot be counted`,
      ],
      [
        'usage needs a meter',
        pricing({ ...usage, feature: 'storage' }),
        `${place}.feature: 'storage' has no meter, so its usage is not known`,
      ],
      ['usage has no quantities', pricing({ ...usage, maxQuantity: 3 }), `${place}.maxQuantity: does not go with USAGE_BASED`],
      [
        'quantities are in order',
        pricing({ ...perSeat, minQuantity: 3, maxQuantity: 2 }),
        `${place}.maxQuantity: must be at least minQuantity`,
      ],
      ['an amount or tiers', pricing({ ...usage, amount: null }), `${place}: needs exactly one of amount and tiers`],
      ['not both', pricing({ ...tiered, amount: 1 }), `${place}: needs exactly one of amount and tiers`],
      ['tiers have a mode', pricing({ ...tiered, tiersMode: null }), `${place}.tiersMode: is required with tiers: GRADUATED or VOLUME`],
      ['a mode has tiers', pricing({ ...usage, tiersMode: 'VOLUME' }), `${place}.tiersMode: needs tiers`],
      ['tiers are not sold in blocks', pricing({ ...tiered, blockSize: 2 }), `${place}.blockSize: does not go with tiers`],
      ['tiers are not empty', pricing({ ...tiered, tiers: [] }), `${place}.tiers: must not be empty`],
      [
        'tiers ascend, have an amount and no end',
        pricing({ ...tiered, tiers: [{ upTo: 5, unitPrice: 1 }, { upTo: 5, flatPrice: 1 }, { unitPrice: 1 }, { upTo: 9 }] }),
        `${place}.tiers[1].upTo: must be above 5, where the tier before ends`,
        `${place}.tiers[2].upTo: is required in every tier but the last`,
        `${place}.tiers[3]: needs unitPrice, flatPrice or both`,
        `${place}.tiers[3].upTo: must be left out in the last tier, which has no end`,
      ],
      [
        'one price per feature, period, currency and country',
        pricing(flat, { ...flat, billingPeriod: 'ANNUALLY' }, { ...flat, country: 'DE' }, { ...flat, amount: 6 }),
        'plans[0].prices[3]: is the same as plans[0].prices[0]: one price per feature, billing period, currency and country',
      ],
      [
        'what is paid has a price',
        documentWith({ plans: [planWith({ pricingType: 'PAID' })] }),
        'plans[0].prices: what is PAID needs at least one price',
      ],
      [
        'what is free has none',
        documentWith({ plans: [planWith({ pricingType: 'FREE', prices: [flat] })] }),
        'plans[0].pricingType: what is FREE has no prices',
      ],
    ])
  })

  describe('for its plans, add-ons and products', () => {
    const other = { refId: 'other', product: 'desk' }
    const products = [{ refId: 'cloud' }, { refId: 'desk' }]
    check([
      [
        'the product exists',
        documentWith({ plans: [planWith({ product: 'clod' })] }),
        "plans[0].product: there is no product 'clod'; did you mean 'cloud'?",
      ],
      ['the base plan exists', documentWith({ plans: [planWith({ basePlan: 'free' })] }), "plans[0].basePlan: there is no plan 'free'"],
      [
        'the base plan is of the same product',
        documentWith({ products, plans: [planWith({ basePlan: 'other' }), other] }),
        "plans[0].basePlan: 'other' belongs to product 'desk', not to 'cloud'",
      ],
      [
        'plans do not inherit in a circle, said once',
        documentWith({
          plans: [planWith({ basePlan: 'b' }), planWith({ refId: 'b', basePlan: 'c' }), planWith({ refId: 'c', basePlan: 'basic' })],
        }),
        'plans[2].basePlan: leads back to itself: basic -> b -> c -> basic',
      ],
      [
        'a plan is not its own base',
        documentWith({ plans: [planWith({ basePlan: 'basic' })] }),
        'plans[0].basePlan: leads back to itself: basic -> basic',
      ],
      [
        'compatible add-ons exist, once',
        documentWith({ plans: [planWith({ compatibleAddons: ['x', 'more', 'more'] })], addons: [planWith({ refId: 'more' })] }),
        "plans[0].compatibleAddons[0]: there is no add-on 'x'",
        "plans[0].compatibleAddons[2]: 'more' is listed twice",
      ],
      [
        'add-ons do not need each other',
        documentWith({ addons: [planWith({ refId: 'a', dependencies: ['b'] }), planWith({ refId: 'b', dependencies: ['a'] })] }),
        'addons[1].dependencies: leads back to itself: a -> b -> a',
      ],
      [
        'a free plan has no trial',
        documentWith({ plans: [planWith({ defaultTrial: { duration: 7, units: 'DAY' } })] }),
        'plans[0].defaultTrial: a free plan has no trial',
      ],
      [
        'a trial is long enough to be one',
        documentWith({ plans: [planWith({ pricingType: 'CUSTOM', defaultTrial: { duration: 0, units: 'WEEK' } })] }),
        'plans[0].defaultTrial.duration: must be a whole number from 1 to 1000',
        'plans[0].defaultTrial.units: must be one of DAY, MONTH',
      ],
      ['FREE_PLAN has a plan', settings({ newCustomer: 'FREE_PLAN' }), 'products[0].settings.newCustomerPlan: is required with FREE_PLAN'],
      [
        'FREE_PLAN is free',
        settings({ newCustomer: 'FREE_PLAN', newCustomerPlan: 'basic' }, [planWith({ prices: [flat] })]),
        "products[0].settings.newCustomerPlan: 'basic' is not free",
      ],
      [
        'TRIAL_PERIOD has a trial',
        settings({ newCustomer: 'TRIAL_PERIOD', newCustomerPlan: 'basic' }, [planWith({ prices: [flat] })]),
        "products[0].settings.newCustomerPlan: 'basic' has no defaultTrial",
      ],
      [
        'PLAN_SELECTION has no plan',
        settings({ newCustomerPlan: 'basic' }, [planWith({})]),
        'products[0].settings.newCustomerPlan: PLAN_SELECTION starts no plan: leave this out, or choose FREE_PLAN or TRIAL_PERIOD',
      ],
      [
        'DOWNGRADE_TO_FREE has a plan',
        settings({ endOfSubscription: 'DOWNGRADE_TO_FREE' }),
        'products[0].settings.downgradePlan: is required with DOWNGRADE_TO_FREE',
      ],
      [
        'DOWNGRADE_TO_FREE is free',
        settings({ endOfSubscription: 'DOWNGRADE_TO_FREE', downgradePlan: 'basic' }, [planWith({ prices: [flat] })]),
        "products[0].settings.downgradePlan: 'basic' is not free",
      ],
      [
        'CANCEL_SUBSCRIPTION has no plan',
        settings({ downgradePlan: 'basic' }, [planWith({})]),
        'products[0].settings.downgradePlan: CANCEL_SUBSCRIPTION needs none: leave this out, or choose DOWNGRADE_TO_FREE',
      ],
    ])
  })

  describe('for its coupons', () => {
    const off = { amount: 5, currency: 'EUR' }
    check([
      ['percent or amounts', coupon({}), 'coupons[0]: needs exactly one of percentOff and amountsOff'],
      ['not both', coupon({ percentOff: 5, amountsOff: [off] }), 'coupons[0]: needs exactly one of percentOff and amountsOff'],
      ['at most everything', coupon({ percentOff: 100.5 }), 'coupons[0].percentOff: must be above 0 and at most 100'],
      ['more than nothing', coupon({ percentOff: 0 }), 'coupons[0].percentOff: must be above 0 and at most 100'],
      [
        'one amount per currency, each above nothing',
        coupon({ amountsOff: [off, { ...off, amount: 0 }] }),
        'coupons[0].amountsOff[1].amount: must be above 0',
        "coupons[0].amountsOff[1]: 'EUR' is listed twice",
      ],
      ['some amount', coupon({ amountsOff: [] }), 'coupons[0].amountsOff: must not be empty'],
      [
        'a duration in months',
        coupon({ percentOff: 5, durationInMonths: 0.5 }),
        'coupons[0].durationInMonths: must be a whole number from 1 to 1200',
      ],
    ])
  })

  it('says everything at once, in the order of the document', () => {
    const problems = refusals({
      coupons: [{ refId: 'c', percentOff: 101 }],
      plans: [
        {
          refId: 'a',
          product: 'nope',
          basePlan: 'b',
          defaultTrial: 5,
          titel: 1,
          entitlements: [
            { feature: 'x', limit: -1 },
            { feature: 'sso', limit: 1 },
          ],
        },
        { refId: 'b', product: 'cloud', basePlan: 'zz' },
      ],
      features: someFeatures,
      products: [{ refId: 'cloud', settings: { newCustomerPlan: 'zz', newCustomer: 'FREE' } }],
    })
    expect(problems).to.deep.equal([
      'products[0].settings.newCustomer: must be one of FREE_PLAN, TRIAL_PERIOD, PLAN_SELECTION',
      "products[0].settings.newCustomerPlan: there is no plan 'zz'",
      'plans[0].titel: is not a known key',
      'plans[0].defaultTrial: must be a map',
      'plans[0].entitlements[0].limit: must not be negative',
      "plans[0].entitlements[1].limit: 'sso' is a BOOLEAN, which has no limit",
      "plans[0].product: there is no product 'nope'",
      "plans[0].entitlements[0].feature: there is no feature 'x'",
      "plans[1].basePlan: there is no plan 'zz'",
      'coupons[0].percentOff: must be above 0 and at most 100',
    ])
  })

  it('does not call missing what is there but wrong', () => {
    const features = [{ refId: 'sso', type: 'BOOL' }]
    const problems = refusals({ features, products: [{ refId: 'cloud', x: 1 }], plans: [planWith({ entitlements: [{ feature: 'sso' }] })] })
    expect(problems.map((problem) => problem.split(':')[0])).to.deep.equal(['features[0].type', 'products[0].x'])
  })

  describe('against the catalog in force', () => {
    const current = parsed(
      documentWith({ products: [{ refId: 'cloud' }, { refId: 'desk' }], plans: [planWith({})], addons: [planWith({ refId: 'more' })] }),
    )

    it('keeps the type and meter of a feature and the product of a plan and add-on', () => {
      const changed = documentWith({
        features: [
          { refId: 'calls', type: 'NUMBER', meter: 'Fluctuating' },
          { refId: 'sso', type: 'NUMBER' },
        ],
        products: [{ refId: 'cloud' }, { refId: 'desk' }],
        plans: [planWith({ product: 'desk' })],
        addons: [planWith({ refId: 'more', product: 'desk' })],
      })
      for (const archiveMissing of [true, false]) {
        expect(refusals(changed, { current, archiveMissing })).to.deep.equal([
          'features[0].meter: the meter of a feature never changes: it is Incremental; make another one with a refId of its own',
          'features[1].type: the type of a feature never changes: it is BOOLEAN; make another one with a refId of its own',
          'plans[0].product: the product of a plan never changes: it is cloud; make another one with a refId of its own',
          'addons[0].product: the product of an add-on never changes: it is cloud; make another one with a refId of its own',
        ])
      }
    })

    it('checks what stays with what changes', () => {
      const before = parsed(settings({ newCustomer: 'FREE_PLAN', newCustomerPlan: 'basic' }, [planWith({})]))
      const problems = refusals({ plans: [planWith({ prices: [flat] })] }, { current: before, archiveMissing: false })
      expect(problems).to.deep.equal([`products["cloud"].settings.newCustomerPlan: 'basic' is not free`])
    })
  })

  describe('whatever its writer has made of it', () => {
    const within = (ms: number, input: unknown) => {
      const start = performance.now()
      const problems = refusals(input)
      expect(performance.now() - start).to.be.below(ms)
      return problems
    }
    const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))
    const plans = [{ refId: 'basic', product: 'cloud' }]

    it('costs little where names are long, and does not repeat them whole', () => {
      const problems = within(1_000, { products: [{ refId: 'a'.repeat(20_000) }], plans: [{ refId: 'p', product: 'b'.repeat(20_000) }] })
      expect(problems.join('').length).to.be.below(1_000)
    })

    it('costs little where many are wrong: the first of them get a suggestion', () => {
      const features = many(2_000, (index) => ({ refId: `x${index}`.padEnd(60, 'qwertyuiop'), type: 'BOOLEAN' }))
      const entitlements = [
        { feature: 'x7'.padEnd(59, 'qwertyuiop') },
        ...many(200, (index) => ({ feature: `y${index}`.padEnd(60, 'asdf') })),
      ]
      const problems = within(3_000, documentWith({ features, plans: [{ ...plans[0], entitlements }] }))
      expect(problems).to.have.length(201)
      expect(problems[0]).to.match(/did you mean/)
    })

    it('costs little where a feature has many values, and lists a few', () => {
      const enumValues = many(20_000, (index) => `v${index}`)
      const features = [{ refId: 'e', type: 'ENUM', enumValues }]
      const entitlements = [{ feature: 'e', values: enumValues.map((value) => `${value}.`) }, ...many(500, () => ({ feature: 'e' }))]
      const problems = within(3_000, documentWith({ features, plans: [{ ...plans[0], entitlements }] }))
      expect(problems).to.have.length(1_001)
      expect(problems[1_000]).to.equal(': there are 20000 problems more')
      expect(problems.join('').length).to.be.below(4_000_000)
    })

    it('costs little where definitions lead far, and names a few of a circle', () => {
      const chain = many(3_000, (index) => ({ refId: `p${index}`, product: 'cloud', basePlan: `p${(index + 1) % 3_000}` }))
      const problems = within(2_000, documentWith({ plans: chain }))
      expect(problems).to.have.length(1)
      expect(problems[0]).to.match(/^plans\[2999\]\.basePlan: leads back to itself: p0 -> p1 -> .* -> … -> .* -> p2999 -> p0$/)
    })
  })

  it('costs a key of a map in its text no more where there are many', function () {
    this.timeout(20_000)
    const costOf = (keys: number): number => {
      const text = Array.from({ length: keys }, (_, index) => `k${index}: 1`).join('\n')
      const before = process.cpuUsage()
      const refused = parseCatalogText(text, { current: null, archiveMissing: false })
      const { user } = process.cpuUsage(before)
      expect(refused).to.have.property('problems').with.length(1_001)
      return user
    }
    const few = Math.min(...[0, 1, 2].map(() => costOf(2_000)))
    // Were each key compared with all others, it were 64 times as much.
    expect(costOf(16_000) / few).to.be.below(30)
  })

  it('says where text is not YAML', () => {
    const options = { current: null, archiveMissing: false }
    const refused = parseCatalogText('features:\n  - refId: a\n    refId: b\n', options)
    expect(refused).to.have.nested.property('problems[0].path', 'line 3, column 5')
    expect(parseCatalogText('features: &a [*a]', options)).to.have.property('problems')
    expect(
      parseCatalogText(
        `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(9)}]\nc: &c [${'*b,'.repeat(9)}]\nd: [${'*c,'.repeat(9)}]`,
        options,
      ),
    ).to.have.property('problems')
  })

  it('for more entitlements, or prices, than a plan may have, unless it has as many', () => {
    const withPlan = (entitled: number, sold: number) => {
      const features = Array.from({ length: 1_002 }, (_, n) => ({ refId: `f${n}`, type: 'NUMBER', meter: 'Fluctuating' }))
      const entitlements = features.slice(0, entitled).map(({ refId }) => ({ feature: refId, limit: 1 }))
      const price = { billingModel: 'PER_UNIT', billingPeriod: 'MONTHLY', currency: 'USD', amount: 1 }
      const prices = features.slice(0, sold).map(({ refId }) => ({ ...price, feature: refId }))
      return { features, products: [{ refId: 'cloud' }], plans: [{ refId: 'a', product: 'cloud', entitlements, prices }] }
    }
    expect(refusals(withPlan(1_000, 1_000))).to.deep.equal([])
    expect(refusals(withPlan(1_001, 1_002))).to.deep.equal([
      'plans[0].entitlements: must have at most 1000 elements; it has 1001',
      'plans[0].prices: must have at most 1000 elements; it has 1002',
    ])
    const largest = parsed(withPlan(1_000, 1_000))
    const [plan] = largest.plans
    const larger = {
      ...largest,
      plans: [{ ...plan!, entitlements: [...plan!.entitlements, { ...plan!.entitlements[0]!, feature: 'f1000' }] }],
    }
    const again = (entitled: number) =>
      parseCatalog(withPlan(entitled, 1_000), { current: larger, archiveMissing: true }) as { problems?: unknown[] }
    expect([again(1_001).problems, again(1_002).problems?.length]).to.deep.equal([undefined, 1])
  }).timeout(20_000)
})
