import { expect } from 'chai'
import { type FrontDoor, openFrontDoor, operatorKey } from '../web/front-door.js'
import { catalog } from './fixture.js'

const invoice =
  'latestInvoice { billingId status requiresAction paymentUrl paymentSecret errorMessage total amountDue currency billingReason }'
const subscriptionFields = `subscriptionId status paymentCollection paymentCollectionMethod billingSyncError isCustomPriceSubscription
  totalPrice { subTotal { amount currency } total { amount } } prices { billingModel usageLimit price { isOverridePrice price { amount currency } } } ${invoice}`
const money = '{ amount currency }'
const preview = `subTotal ${money} total ${money} tax ${money} discountAmount ${money} isPlanDowngrade hasScheduledUpdates
  billingPeriodRange { start end } proration { credit ${money} debit ${money} netAmount ${money} prorationDate } subscription { total ${money} }`

describe('billing over GraphQL', () => {
  let door: FrontDoor
  let count = 0
  let customerId: string
  let serverKey: string

  before(async () => {
    door = await openFrontDoor()
    const { environment } = await door.app.environments.create({ refId: 'billing' })
    await door.app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
    serverKey = (await door.app.environments.createKey({ environment: 'billing', kind: 'SERVER', name: 'test', expiresAt: null })).key
  })
  after(async () => expect(await door.close()).to.deep.equal([]))
  beforeEach(async () => {
    customerId = `customer-${++count}`
    await ask('mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', {
      input: { customerId },
    })
  })

  // biome-ignore lint/suspicious/noExplicitAny: answers are read, not declared
  const ask = async (query: string, variables: object, headers: Record<string, string> = {}): Promise<any> => {
    const { data, errors } = await door.ask(query, variables, { 'x-api-key': serverKey, ...headers })
    if (errors) throw Object.assign(new Error(errors[0]!.message), { code: errors[0]!.extensions?.code })
    return Object.values(data as object)[0]
  }
  const asOperator = { 'x-operator-key': operatorKey }
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: { code?: unknown }) => error.code,
    )
  const provision = (input: object) =>
    ask(
      `mutation($input: ProvisionSubscriptionInput) { provisionSubscriptionV2(input: $input) { status checkoutUrl checkoutBillingId entitlements { isGranted } subscription { ${subscriptionFields} } } }`,
      { input: { customerId, ...input } },
    )
  const get = (subscriptionId: string) =>
    ask(`query($input: GetSubscriptionInput!) { getSubscription(input: $input) { ${subscriptionFields} } }`, { input: { subscriptionId } })
  const tell = (mutation: string, type: string, input: object, headers: Record<string, string> = asOperator) =>
    ask(`mutation($input: ${type}!) { ${mutation}(input: $input) { status } }`, { input }, headers)

  it('answers a new subscription with its prices and its invoice', async () => {
    const { status, subscription } = await provision({
      planId: 'team',
      billableFeatures: [{ featureId: 'seats', quantity: 3 }],
      priceOverrides: [{ featureId: 'seats', price: { amount: 10, currency: 'USD' } }],
      appliedCoupon: { couponId: 'tenth' },
    })
    expect(status).to.equal('SUCCESS')
    expect(subscription).to.deep.include({
      status: 'ACTIVE',
      paymentCollection: 'NOT_REQUIRED',
      paymentCollectionMethod: 'INVOICE',
      billingSyncError: null,
      isCustomPriceSubscription: true,
      totalPrice: { subTotal: { amount: 60, currency: 'USD' }, total: { amount: 54 } },
    })
    expect(subscription.prices).to.deep.equal([
      { billingModel: 'FLAT_FEE', usageLimit: null, price: { isOverridePrice: false, price: { amount: 30, currency: 'USD' } } },
      { billingModel: 'PER_UNIT', usageLimit: 3, price: { isOverridePrice: true, price: { amount: 10, currency: 'USD' } } },
    ])
    expect(subscription.latestInvoice).to.deep.include({
      status: 'OPEN',
      total: 54,
      amountDue: 54,
      currency: 'USD',
      billingReason: 'SUBSCRIPTION_CREATION',
    })
  })

  it('answers PAYMENT_REQUIRED with a link, and access when an operator says that it was paid', async () => {
    const { status, checkoutUrl, checkoutBillingId, subscription } = await provision({
      planId: 'team',
      checkoutOptions: { successUrl: 'https://example.com/ok', cancelUrl: 'https://example.com/no' },
    })
    expect(status).to.equal('PAYMENT_REQUIRED')
    expect(subscription).to.deep.include({ status: 'PAYMENT_PENDING', paymentCollection: 'ACTION_REQUIRED' })
    const { billingId, paymentUrl } = subscription.latestInvoice
    expect([checkoutUrl, checkoutBillingId]).to.deep.equal([paymentUrl, billingId])

    expect(await codeOf(tell('markInvoicePaid', 'InvoiceInput', { billingId }, {}))).to.equal('IdentityForbidden')
    expect(await tell('requirePaymentAction', 'InvoiceInput', { billingId })).to.deep.equal({ status: 'OPEN' })
    expect((await get(subscription.subscriptionId)).latestInvoice.requiresAction).to.equal(true)
    expect(await tell('markInvoicePaid', 'InvoiceInput', { billingId })).to.deep.equal({ status: 'PAID' })
    expect(await tell('markInvoicePaid', 'InvoiceInput', { billingId })).to.deep.equal({ status: 'PAID' })
    expect(await get(subscription.subscriptionId)).to.deep.include({ status: 'ACTIVE', paymentCollection: 'NOT_REQUIRED' })
  })

  it('takes the invoice back of what is canceled before it was paid', async () => {
    const { subscription } = await provision({
      planId: 'team',
      checkoutOptions: { successUrl: 'https://example.com', cancelUrl: 'https://example.com' },
    })
    const document =
      'mutation($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { status cancelReason latestInvoice { status } } }'
    expect(await ask(document, { input: { subscriptionRefId: subscription.subscriptionId } })).to.deep.equal({
      status: 'CANCELED',
      cancelReason: 'Immediate',
      latestInvoice: { status: 'CANCELED' },
    })
  })

  it('gives access at once when there is a payment method to charge', async () => {
    await ask(
      'mutation($input: PaymentMethodInput!) { setPaymentMethod(input: $input) }',
      { input: { customerId, reference: 'pm_1' } },
      asOperator,
    )
    const customer = await ask('query($input: GetCustomerByRefIdInput!) { getCustomerByRefId(input: $input) { hasPaymentMethod } }', {
      input: { customerId },
    })
    expect(customer).to.deep.equal({ hasPaymentMethod: true })
    const { status, subscription } = await provision({ planId: 'business', paymentCollectionMethod: 'CHARGE', skipTrial: true })
    expect([status, subscription.status, subscription.latestInvoice.status]).to.deep.equal(['SUCCESS', 'ACTIVE', 'PAID'])
  })

  it('tells why a payment failed', async () => {
    const { subscription } = await provision({ planId: 'team' })
    const { billingId } = subscription.latestInvoice
    await tell('markInvoiceFailed', 'FailedInvoiceInput', { billingId, errorMessage: 'Card declined.' })
    const { paymentCollection, latestInvoice } = await get(subscription.subscriptionId)
    expect([paymentCollection, latestInvoice.status, latestInvoice.errorMessage]).to.deep.equal(['FAILED', 'FAILED', 'Card declined.'])
    expect(await codeOf(tell('markInvoicePaid', 'InvoiceInput', { billingId: 'in_unknown' }))).to.be.a('string')
  })

  it('estimates what it then invoices', async () => {
    const asked = { planId: 'team', billableFeatures: [{ featureId: 'seats', quantity: 2 }], billingInformation: { taxPercentage: 20 } }
    const estimate = await ask(`mutation($input: EstimateSubscriptionInput!) { estimateSubscription(input: $input) { ${preview} } }`, {
      input: { customerId, ...asked },
    })
    expect(estimate).to.deep.include({
      subTotal: { amount: 54, currency: 'USD' },
      tax: { amount: 10.8, currency: 'USD' },
      total: { amount: 64.8, currency: 'USD' },
      proration: null,
      subscription: { total: { amount: 64.8, currency: 'USD' } },
    })
    const { subscription } = await provision(asked)
    expect(subscription.latestInvoice.total).to.equal(64.8)

    const { subscriptionId } = subscription
    const change = { subscriptionId, billableFeatures: [{ featureId: 'seats', quantity: 5 }] }
    const update = await ask(
      `mutation($input: EstimateSubscriptionUpdateInput!) { estimateSubscriptionUpdate(input: $input) { ${preview} } }`,
      { input: change },
    )
    expect(update.proration.credit.amount).to.be.at.most(-53.9)
    expect(update.proration.debit.amount).to.be.at.least(89.9)
    const next = await ask(
      `mutation($input: PreviewNextInvoiceInput!) { previewNextInvoice(input: $input) { total ${money} amountDue ${money} lines { description quantity amount ${money} type } } }`,
      { input: { subscriptionId } },
    )
    expect(next).to.deep.include({ total: { amount: 64.8, currency: 'USD' } })
    expect(next.lines.map(({ type }: { type: string }) => type)).to.deep.equal(['BaseCharge', 'InAdvanceCommitmentCharge'])
  })

  it('previews what comes at once and what comes each period', async () => {
    const asked = { customerId, planId: 'tried' }
    const answer = await ask(
      `mutation($input: PreviewSubscriptionInput!) { previewSubscription(input: $input) { immediateInvoice { total ${money} } recurringInvoice { total ${money} } } }`,
      { input: asked },
    )
    expect(answer).to.deep.equal({
      immediateInvoice: { total: { amount: 0, currency: 'USD' } },
      recurringInvoice: { total: { amount: 55.5, currency: 'USD' } },
    })
  })

  it('refuses terms that cannot be agreed, naming the field', async () => {
    const refused = (input: object) => codeOf(provision({ planId: 'team', ...input }))
    expect(await refused({ appliedCoupon: { couponId: 'tenth', promotionCode: 'tenth' } })).to.equal('BadUserInput')
    expect(await refused({ appliedCoupon: {} })).to.equal('BadUserInput')
    expect(await refused({ appliedCoupon: { discount: { percentOff: 101 } } })).to.equal('BadUserInput')
    expect(await refused({ appliedCoupon: { couponId: 'unheard-of' } })).to.equal('CouponNotFound')
    expect(await refused({ minimumSpend: { minimum: { amount: 0.001, currency: 'USD' } } })).to.equal('BadUserInput')
    expect(await refused({ billingInformation: { taxRateIds: ['txr_1'] } })).to.equal('BadUserInput')
  })

  it('lists calls of the provider that wait', async () => {
    expect(await ask('{ billingCalls { kind attempts isGivenUp subscriptionId lastError } }', {})).to.deep.equal([])
  })
})
