import { expect } from 'chai'
import { type FrontDoor, openFrontDoor, operatorKey } from '../web/front-door.js'
import { catalog } from './fixture.js'

/** What the contract lets a caller agree about money beside the catalog, through the API, and what is answered about it. */
describe('billing fields of the contract', () => {
  let door: FrontDoor
  let serverKey: string
  let count = 0
  let customerId: string

  before(async () => {
    door = await openFrontDoor()
  })
  after(async () => expect(await door.close()).to.deep.equal([]))
  beforeEach(async () => {
    const refId = `environment-${++count}`
    const { environment } = await door.app.environments.create({ refId, isTest: true })
    await door.app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
    serverKey = (await door.app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'test', expiresAt: null })).key
    await ask('mutation($input: TestClockInput!) { createTestClock(input: $input) { frozenTime } }', { frozenTime: '2044-04-01T00:00:00Z' })
    customerId = `customer-${count}`
    await ask('mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', { customerId })
  })

  // biome-ignore lint/suspicious/noExplicitAny: answers are read, not declared
  const ask = async (query: string, input: object, headers: Record<string, string> = {}): Promise<any> => {
    const { data, errors } = await door.ask(query, { input }, { 'x-api-key': serverKey, ...headers })
    if (errors) throw Object.assign(new Error(errors[0]!.message), errors[0]!.extensions)
    return Object.values(data as object)[0]
  }
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'accepted',
      (error: Error & { code: string }) => `${error.code}: ${error.message}`,
    )
  const advance = async (frozenTime: string) => {
    await ask('mutation($input: TestClockInput!) { advanceTestClock(input: $input) { frozenTime } }', { frozenTime })
    // As the billing worker does.
    await door.app.billing.deliverEverywhere()
  }
  const invoice = 'latestInvoice { billingId status total subTotal tax amountDue dueDate billingReason }'
  const subscriptionFields = `subscriptionId status billingCycleAnchor currentBillingPeriodStart currentBillingPeriodEnd isCustomPriceSubscription
    prices { usageLimit price { isOverridePrice price { amount } tiers { upTo unitPrice { amount } } feature { refId } } } totalPrice { total { amount } } ${invoice}`
  const provision = async (input: object) =>
    ask(
      `mutation($input: ProvisionSubscriptionInput) { provisionSubscriptionV2(input: $input) { status checkoutUrl checkoutBillingId subscription { ${subscriptionFields} } } }`,
      { customerId, ...input },
    )
  const subscribe = async (input: object) => (await provision(input)).subscription
  const update = (subscriptionId: string, input: object) =>
    ask(`mutation($input: UpdateSubscriptionInput!) { updateOneSubscription(input: $input) { ${subscriptionFields} } }`, {
      subscriptionId,
      ...input,
    })
  const get = (subscriptionId: string) =>
    ask(`query($input: GetSubscriptionInput!) { getSubscription(input: $input) { ${subscriptionFields} } }`, { subscriptionId })
  const preview = (input: object) =>
    ask(
      'mutation($input: PreviewSubscriptionInput!) { previewSubscription(input: $input) { billingPeriodRange { start end } immediateInvoice { subTotal { amount } tax { amount } taxDetails { displayName percentage inclusive } total { amount } proration { credit { amount } debit { amount } } } recurringInvoice { total { amount } } } }',
      { customerId, ...input },
    )
  const nextInvoice = (subscriptionId: string) =>
    ask(
      `mutation($input: PreviewNextInvoiceInput!) { previewNextInvoice(input: $input) { total { amount } tax { amount } taxDetails { displayName percentage } discountDetails { type value durationType }
        lines { description type quantity amount { amount } price { isOverridePrice price { amount } feature { refId } } usageLimit hasSoftLimit lines { description costDescription quantity } } } }`,
      { subscriptionId },
    )
  const seats = (quantity: number) => ({ billableFeatures: [{ featureId: 'seats', quantity }] })
  const half = '2044-04-16T00:00:00Z'

  describe('billingCycleAnchor', () => {
    it('NOW begins a period with the change, and gives back what is left of the old one', async () => {
      const { subscriptionId } = await subscribe({ planId: 'team', ...seats(1) })
      await advance(half)
      const changed = await update(subscriptionId, { ...seats(3), billingCycleAnchor: 'NOW' })
      expect(changed).to.deep.include({
        billingCycleAnchor: '2044-04-16T00:00:00.000Z',
        currentBillingPeriodStart: '2044-04-16T00:00:00.000Z',
        currentBillingPeriodEnd: '2044-05-16T00:00:00.000Z',
      })
      expect(changed.latestInvoice.total).to.equal(66 - 21)
      await advance('2044-05-01T00:00:00Z')
      expect((await get(subscriptionId)).latestInvoice.total).to.equal(45)
      await advance('2044-05-16T00:00:00Z')
      expect((await get(subscriptionId)).latestInvoice).to.deep.include({ total: 66, billingReason: 'BILLING_CYCLE' })
    })

    it('NOW without another change restarts the period, with the usage of the one that ended', async () => {
      const { subscriptionId } = await subscribe({ planId: 'business', ...seats(1) })
      await advance(half)
      const changed = await update(subscriptionId, { billingCycleAnchor: 'NOW' })
      expect([changed.latestInvoice.total, changed.currentBillingPeriodStart]).to.deep.equal([60, '2044-04-16T00:00:00.000Z'])
    })

    it('NOW gives nothing back with NONE, and is invoiced at once with CREATE_PRORATIONS', async () => {
      const none = await subscribe({ planId: 'team', ...seats(1) })
      await advance(half)
      const billingInformation = (prorationBehavior: string) => ({ billingInformation: { prorationBehavior } })
      const restarted = await update(none.subscriptionId, { billingCycleAnchor: 'NOW', ...billingInformation('NONE') })
      expect(restarted.latestInvoice.total).to.equal(42)
      await advance('2044-05-01T00:00:00Z')
      const again = await update(none.subscriptionId, { billingCycleAnchor: 'NOW', ...billingInformation('CREATE_PRORATIONS') })
      expect(again.latestInvoice.total).to.equal(21)
    })

    it('NOW is for a change at once', async () => {
      const { subscriptionId } = await subscribe({ planId: 'team' })
      const asked = update(subscriptionId, { billingCycleAnchor: 'NOW', scheduleStrategy: 'END_OF_BILLING_PERIOD', ...seats(4) })
      expect(await refusal(asked)).to.match(/^BadUserInput: .*scheduleStrategy/)
    })

    it('UNCHANGED lets the period go on in the plan that takes the place of another one, prorated, as the preview says', async () => {
      await subscribe({ planId: 'team', ...seats(1) })
      await advance(half)
      const asked = { planId: 'business', ...seats(1), billingCycleAnchor: 'UNCHANGED' }
      const previewed = await preview(asked)
      expect(previewed).to.deep.include({
        billingPeriodRange: { start: '2044-04-01T00:00:00.000Z', end: '2044-05-01T00:00:00.000Z' },
        recurringInvoice: { total: { amount: 120 } },
      })
      expect(previewed.immediateInvoice).to.deep.include({
        total: { amount: 39 },
        proration: { credit: { amount: -21 }, debit: { amount: 60 } },
      })
      const changed = await subscribe({ ...asked, minimumSpend: { minimum: { amount: 200, currency: 'USD' } } })
      expect(changed.latestInvoice.total).to.equal(39)
      expect(changed.currentBillingPeriodEnd).to.equal('2044-05-01T00:00:00.000Z')
      await advance('2044-05-01T00:00:00Z')
      // Half a period of the least spend, of which 60 are charged; the next period in advance.
      expect((await get(changed.subscriptionId)).latestInvoice.total).to.equal(120 + 100 - 60)
    })

    it('UNCHANGED with NONE charges nothing until the period is over, and with CREATE_PRORATIONS with its end', async () => {
      for (const prorationBehavior of ['NONE', 'CREATE_PRORATIONS']) {
        const of = `${prorationBehavior} of ${customerId}`
        await ask('mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', { customerId: of })
        await provision({ customerId: of, planId: 'team', startDate: '2044-04-01T00:00:00Z', ...seats(1) })
      }
      await advance(half)
      const changed = new Map<string, string>()
      for (const prorationBehavior of ['NONE', 'CREATE_PRORATIONS']) {
        const asked = { planId: 'business', ...seats(1), billingCycleAnchor: 'UNCHANGED', billingInformation: { prorationBehavior } }
        const subscription = await subscribe({ customerId: `${prorationBehavior} of ${customerId}`, ...asked })
        expect(subscription.latestInvoice, prorationBehavior).to.equal(null)
        changed.set(prorationBehavior, subscription.subscriptionId)
      }
      await advance('2044-05-01T00:00:00Z')
      expect((await get(changed.get('NONE')!)).latestInvoice.total).to.equal(120)
      expect((await get(changed.get('CREATE_PRORATIONS')!)).latestInvoice.total).to.equal(159)
    })

    it('UNCHANGED holds for a plan that waits for its payment: charged for the rest of the period, and usage begins with it', async () => {
      await subscribe({ planId: 'team', ...seats(1) })
      await advance(half)
      const asked = { planId: 'business', ...seats(1), billingCycleAnchor: 'UNCHANGED', paymentCollectionMethod: 'CHARGE' }
      const { status, subscription } = await provision(asked)
      expect([status, subscription.latestInvoice.total]).to.deep.equal(['PAYMENT_REQUIRED', 39])
      const { billingId } = subscription.latestInvoice
      await ask(
        'mutation($input: InvoiceInput!) { markInvoicePaid(input: $input) { status } }',
        { billingId },
        { 'x-operator-key': operatorKey },
      )
      const paid = await get(subscription.subscriptionId)
      expect([paid.status, paid.currentBillingPeriodStart, paid.currentBillingPeriodEnd]).to.deep.equal([
        'ACTIVE',
        '2044-04-01T00:00:00.000Z',
        '2044-05-01T00:00:00.000Z',
      ])
      await advance('2044-05-01T00:00:00Z')
      expect((await get(subscription.subscriptionId)).latestInvoice.total).to.equal(120)
    })

    it('begins anew where nothing is said', async () => {
      await subscribe({ planId: 'team', ...seats(1) })
      await advance(half)
      const changed = await subscribe({ planId: 'business', ...seats(1) })
      expect([changed.latestInvoice.total, changed.currentBillingPeriodEnd]).to.deep.equal([99, '2044-05-16T00:00:00.000Z'])
    })
  })

  it('isBackdated charges what is over since a start in the past, as the estimate says', async () => {
    const asked = { planId: 'team', ...seats(1), startDate: '2044-01-31T00:00:00Z' }
    const estimate = (input: object) =>
      ask(
        'mutation($input: EstimateSubscriptionInput!) { estimateSubscription(input: $input) { total { amount } proration { netAmount { amount } } } }',
        {
          customerId,
          ...input,
        },
      )
    const backdated = { ...asked, billingInformation: { isBackdated: true } }
    expect(await estimate(asked)).to.deep.equal({ total: { amount: 42 }, proration: null })
    expect(await estimate(backdated)).to.deep.equal({ total: { amount: 126 }, proration: null })
    const { subscriptionId, latestInvoice, currentBillingPeriodStart } = await subscribe(backdated)
    expect([latestInvoice.total, currentBillingPeriodStart]).to.deep.equal([126, '2044-03-31T00:00:00.000Z'])
    await advance('2044-04-30T00:00:00Z')
    expect((await get(subscriptionId)).latestInvoice.total).to.equal(42)
    expect(await refusal(update(subscriptionId, { ...seats(2), billingInformation: { isBackdated: true } }))).to.match(
      /^BadUserInput: isBackdated/,
    )
    expect(await refusal(provision({ ...backdated, planId: 'business', startDate: '2024-01-01T00:00:00Z' }))).to.match(
      /^BadUserInput: .*120/,
    )
  })

  describe('own prices', () => {
    it('per unit, for what the plan sells per unit', async () => {
      const asked = { planId: 'team', ...seats(4), priceOverrides: [{ featureId: 'seats', price: { amount: 7.5, currency: 'USD' } }] }
      const subscription = await subscribe(asked)
      expect([subscription.latestInvoice.total, subscription.isCustomPriceSubscription]).to.deep.equal([60, true])
      expect(subscription.prices[1].price).to.deep.include({ isOverridePrice: true, price: { amount: 7.5 } })
    })

    it('in tiers, shown in the next invoice', async () => {
      const tiers = [
        { upTo: 2, unitPrice: { amount: 10, currency: 'USD' } },
        { unitPrice: { amount: 4, currency: 'USD' }, flatPrice: { amount: 1, currency: 'USD' } },
      ]
      const { subscriptionId, latestInvoice } = await subscribe({
        planId: 'team',
        ...seats(5),
        priceOverrides: [{ featureId: 'seats', tiers }],
      })
      expect(latestInvoice.total).to.equal(30 + 20 + 12 + 1)
      const { lines } = await nextInvoice(subscriptionId)
      expect(lines[1]).to.deep.include({ type: 'TierCharge', quantity: 5, amount: { amount: 33 } })
      expect(lines[1].price).to.deep.equal({ isOverridePrice: true, price: { amount: 10 }, feature: { refId: 'seats' } })
      expect(lines[1].lines).to.deep.equal([
        { description: 'team: seats: above 0 to 2', costDescription: '2 × 10 USD', quantity: 2 },
        { description: 'team: seats: above 2', costDescription: '3 × 4 USD + 1 USD', quantity: 3 },
      ])
    })

    it('that replace nothing, or cannot be charged, are refused, naming the field', async () => {
      const refused = (priceOverrides: object[]) => refusal(provision({ planId: 'team', priceOverrides }))
      const usd = (amount: number) => ({ amount, currency: 'USD' })
      expect(await refused([{ featureId: 'calls', price: usd(1) }])).to.match(/^BadUserInput: priceOverrides\[0\]: plan "team".*"calls"/)
      expect(await refused([{ addonId: 'support', baseCharge: true, price: usd(1) }])).to.match(/add-on "support"/)
      expect(await refused([{ baseCharge: true, price: { amount: 1, currency: 'JPY' } }])).to.match(/flat fee in JPY/)
      expect(await refused([{ featureId: 'seats', price: usd(-1) }])).to.match(/must not be negative/)
      expect(await refused([{ featureId: 'seats', tiers: [{ upTo: 3, unitPrice: usd(1) }] }])).to.match(/tiers\[0\]\.upTo must be left out/)
      expect(await refused([{ featureId: 'seats', tiers: [{ unitPrice: usd(1) }], blockSize: 2 }])).to.match(/does not go with tiers/)
      expect(await refusal(provision({ planId: 'free', priceOverrides: [{ baseCharge: true, price: usd(1) }] }))).to.match(
        /^BadUserInput: .*plan "free"/,
      )
    })

    it('wait with the plan change that they were agreed for', async () => {
      const { subscriptionId } = await subscribe({ planId: 'business', ...seats(2) })
      const priceOverrides = [{ featureId: 'seats', price: { amount: 5, currency: 'USD' } }]
      const asked = { planId: 'team', ...seats(2), priceOverrides, scheduleStrategy: 'END_OF_BILLING_PERIOD' }
      const waiting = await subscribe(asked)
      expect([waiting.subscriptionId, waiting.latestInvoice.total]).to.deep.equal([subscriptionId, 140])
      const { scheduledUpdates } = await ask(
        'query($input: GetSubscriptionInput!) { getSubscription(input: $input) { scheduledUpdates { subscriptionScheduleType scheduleVariables { ... on DowngradeChangeVariables { downgradePlanRefId priceOverrides { planRefId featureId addonRefId } } } } } }',
        { subscriptionId },
      )
      expect(scheduledUpdates).to.deep.equal([
        {
          subscriptionScheduleType: 'Downgrade',
          scheduleVariables: { downgradePlanRefId: 'team', priceOverrides: [{ planRefId: 'team', featureId: 'seats', addonRefId: null }] },
        },
      ])
      expect((await nextInvoice(subscriptionId)).total).to.deep.equal({ amount: 40 })
      await advance('2044-05-01T00:00:00Z')
      expect((await get(subscriptionId)).latestInvoice.total).to.equal(40)
    })

    it('are what isCustomPriceSubscription promises', async () => {
      const create = (input: object) =>
        ask('mutation($input: SubscriptionInput!) { createSubscription(subscription: $input) { isCustomPriceSubscription } }', {
          customerId,
          planId: 'team',
          isCustomPriceSubscription: true,
          ...input,
        })
      expect(await refusal(create({}))).to.match(/^BadUserInput: .*priceOverrides/)
      const priceOverrides = [{ featureId: 'seats', price: { amount: 3, currency: 'USD' } }]
      expect(await create({ priceOverrides })).to.deep.equal({ isCustomPriceSubscription: true })
    })
  })

  describe('tax', () => {
    const setTaxRate = (
      id: string,
      displayName: string,
      percentage: number,
      headers: Record<string, string> = { 'x-operator-key': operatorKey },
    ) => ask('mutation($input: TaxRateInput!) { setTaxRate(input: $input) { id percentage } }', { id, displayName, percentage }, headers)
    const rates = (...taxRateIds: string[]) => ({ billingInformation: { taxRateIds } })

    it('by rates of the provider is in the estimate, the invoice and every later one, at the percentage that was agreed', async () => {
      await setTaxRate('txr_state', 'State', 6.25)
      await setTaxRate('txr_city', 'City', 1.5)
      const asked = { planId: 'team', ...seats(1), ...rates('txr_state', 'txr_city') }
      const estimate = await ask(
        'mutation($input: EstimateSubscriptionInput!) { estimateSubscription(input: $input) { subTotal { amount } tax { amount } total { amount } totalExcludingTax { amount } taxDetails { displayName percentage inclusive } subscription { tax { amount } } } }',
        { customerId, ...asked },
      )
      expect(estimate).to.deep.equal({
        subTotal: { amount: 42 },
        tax: { amount: 3.26 },
        total: { amount: 45.26 },
        totalExcludingTax: { amount: 42 },
        taxDetails: { displayName: 'State + City', percentage: 7.75, inclusive: false },
        subscription: { tax: { amount: 3.26 } },
      })
      const { subscriptionId, latestInvoice, totalPrice } = await subscribe(asked)
      expect([latestInvoice.total, latestInvoice.tax, totalPrice.total.amount]).to.deep.equal([45.26, 3.26, 45.26])
      await setTaxRate('txr_state', 'State', 20)
      await advance('2044-05-01T00:00:00Z')
      expect((await get(subscriptionId)).latestInvoice.total).to.equal(45.26)
      expect(await nextInvoice(subscriptionId)).to.deep.include({
        tax: { amount: 3.26 },
        taxDetails: { displayName: 'State + City', percentage: 7.75 },
      })
      await update(subscriptionId, rates())
      expect((await nextInvoice(subscriptionId)).tax).to.deep.equal({ amount: 0 })
    })

    it('rates are listed, made by operators, and refused where they are unknown or said twice', async () => {
      await setTaxRate('txr_1', 'VAT', 19)
      expect(await ask('{ taxRates { id displayName percentage } }', {})).to.deep.equal([
        { id: 'txr_1', displayName: 'VAT', percentage: 19 },
      ])
      expect(await refusal(setTaxRate('txr_2', 'VAT', 19, {}))).to.match(/^IdentityForbidden/)
      expect(await refusal(setTaxRate('txr_2', 'VAT', 101))).to.match(/^BadUserInput/)
      expect(await refusal(provision({ planId: 'team', ...rates('txr_9') }))).to.match(/^BadUserInput: .*"txr_9"/)
      const twice = { billingInformation: { taxRateIds: ['txr_1'], taxPercentage: 5 } }
      expect(await refusal(provision({ planId: 'team', ...twice }))).to.match(/^BadUserInput: .*not both/)
    })
  })

  describe('invoices and payment', () => {
    it('are due when it was agreed', async () => {
      const { latestInvoice } = await subscribe({ planId: 'team', billingInformation: { invoiceDaysUntilDue: 14 } })
      expect(latestInvoice.dueDate).to.equal('2044-04-15T00:00:00.000Z')
      const refused = provision({ planId: 'business', billingInformation: { invoiceDaysUntilDue: 1.5 } })
      expect(await refusal(refused)).to.match(/^BadUserInput: invoiceDaysUntilDue/)
    })

    it('that were paid elsewhere count as paid, and nothing is waited for; later ones are collected', async () => {
      const asked = { planId: 'team', paymentCollectionMethod: 'CHARGE', billingInformation: { isInvoicePaid: true } }
      const { status, subscription } = await provision(asked)
      expect([status, subscription.status, subscription.latestInvoice.status]).to.deep.equal(['SUCCESS', 'ACTIVE', 'PAID'])
      await advance('2044-05-01T00:00:00Z')
      expect((await get(subscription.subscriptionId)).latestInvoice.status).to.equal('OPEN')
    })

    it('take a coupon of the provider where the older input names it', async () => {
      const { latestInvoice, subscriptionId } = await subscribe({ planId: 'team', ...seats(1), billingInformation: { couponId: 'tenth' } })
      expect(latestInvoice.total).to.equal(37.8)
      expect((await nextInvoice(subscriptionId)).discountDetails).to.deep.equal({ type: 'PERCENTAGE', value: 10, durationType: 'FOREVER' })
      const twice = { appliedCoupon: { couponId: 'tenth' }, billingInformation: { couponId: 'tenth' } }
      expect(await refusal(provision({ planId: 'team', ...twice }))).to.match(/^BadUserInput/)
    })

    it('charge the payment method that comes with the request, of who pays', async () => {
      const apply = (input: object) =>
        ask(
          'mutation($input: ApplySubscriptionInput!) { applySubscription(input: $input) { subscription { status latestInvoice { status } } } }',
          {
            customerId,
            planId: 'team',
            paymentCollectionMethod: 'CHARGE',
            ...input,
          },
        )
      expect((await apply({ paymentMethodId: 'pm_1' })).subscription).to.deep.equal({ status: 'ACTIVE', latestInvoice: { status: 'PAID' } })
      const facts =
        'hasPaymentMethod defaultPaymentMethodId defaultPaymentMethodType defaultPaymentMethodLast4Digits defaultPaymentExpirationYear defaultPaymentExpirationMonth'
      const customer = (id: string) =>
        ask(`query($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { ${facts} } }`, { customerId: id })
      expect(await customer(customerId)).to.deep.equal({
        hasPaymentMethod: true,
        defaultPaymentMethodId: 'pm_1',
        defaultPaymentMethodType: null,
        defaultPaymentMethodLast4Digits: null,
        defaultPaymentExpirationYear: null,
        defaultPaymentExpirationMonth: null,
      })
      for (const id of ['payer', 'paid-for'])
        await ask('mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', { customerId: id })
      await apply({ customerId: 'paid-for', payingCustomerId: 'payer', paymentMethodId: 'pm_2' })
      expect([(await customer('payer')).defaultPaymentMethodId, (await customer('paid-for')).defaultPaymentMethodId]).to.deep.equal([
        'pm_2',
        null,
      ])
      const imported = { customerId: 'imported', paymentMethodId: 'pm_3' }
      await ask('mutation($input: ImportCustomerInput!) { importOneCustomer(input: $input) { customerId } }', imported)
      expect((await customer('imported')).defaultPaymentMethodId).to.equal('pm_3')
      const bulk = ask('mutation($input: ImportCustomerBulkInput!) { importCustomersBulk(input: $input) }', { customers: [imported] })
      expect(await refusal(bulk)).to.match(/^BadUserInput: customers\[0\].*importOneCustomer/)
    })

    it('lead to a checkout with addresses that can be opened', async () => {
      const checkoutOptions = { successUrl: 'https://example.com/ok', cancelUrl: 'javascript:alert(1)' }
      expect(await refusal(provision({ planId: 'team', checkoutOptions }))).to.match(/^BadUserInput: cancelUrl/)
      const { status, checkoutUrl, checkoutBillingId, subscription } = await provision({
        planId: 'team',
        checkoutOptions: { ...checkoutOptions, cancelUrl: 'https://example.com/no', allowPromoCodes: true },
      })
      expect([status, checkoutBillingId]).to.deep.equal(['PAYMENT_REQUIRED', subscription.latestInvoice.billingId])
      expect(checkoutUrl).to.match(/^https:/)
    })
  })

  it('keeps nothing of what is the provider’s, and says what to do instead where it has no such thing', async () => {
    const secret = {
      billingAddress: { city: 'Secret City' },
      taxIds: [{ type: 'eu_vat', value: 'secret-tax' }],
      metadata: { note: 'secret-note' },
    }
    const { subscriptionId } = await subscribe({ planId: 'team', billingInformation: { ...secret, integrationId: 'secret-integration' } })
    await update(subscriptionId, { billingInformation: secret })
    const { prisma } = await import('../../../src/platform/postgres.js').then(({ openPostgres }) =>
      openPostgres(door.life, door.databaseUrl, { poolSize: 1 }),
    )
    const kept = [
      prisma.subscription,
      prisma.subscriptionBilling,
      prisma.billingIntent,
      prisma.builtinInvoice,
      prisma.invoice,
      prisma.outboxMessage,
    ]
    for (const table of kept) {
      const rows = await (table as unknown as { findMany(): Promise<unknown[]> }).findMany()
      expect(JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)).toLowerCase()).to.not.match(
        /secret[ -]/,
      )
    }
    const refused = (billingInformation: object) => refusal(provision({ planId: 'business', billingInformation }))
    expect(await refused({ chargeOnBehalfOfAccount: 'acct_1' })).to.match(/^BadUserInput: .*leave chargeOnBehalfOfAccount out/)
  })
})
