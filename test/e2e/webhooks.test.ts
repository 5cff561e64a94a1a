import { expect } from 'chai'
import { bodyOf, type EventType } from '../../src/notifications/model/catalog.js'
import { eventually } from '../support/eventually.js'
import { OwnProcesses } from '../support/own-processes.js'
import { WebhookReceiver } from '../support/webhook-receiver.js'

const catalog = `
features:
  - { refId: projects, type: NUMBER, meter: Fluctuating }
products:
  - refId: workspace
    settings: { newCustomer: TRIAL_PERIOD, newCustomerPlan: team }
plans:
  - refId: team
    product: workspace
    defaultTrial: { duration: 14, units: DAY, endBehavior: CONVERT_TO_PAID }
    entitlements: [{ feature: projects, limit: 10 }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 29 }]
  - refId: business
    product: workspace
    entitlements: [{ feature: projects, limit: 100 }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 99 }]
`
const day = 86_400_000
/** Moving a clock does a fortnight's work. */
const patienceMs = 60_000
const names = ['web', 'subscription-transitions', 'cache-invalidation', 'billing-sync', 'webhook-delivery']

describe('a host application that only listens', function () {
  this.timeout(240_000)
  let own: OwnProcesses
  let receiver: WebhookReceiver

  before(async () => {
    receiver = await new WebhookReceiver().listen()
    own = await OwnProcesses.create(catalog, { OPERATION_TIMEOUT_MS: String(patienceMs) })
    await own.start(names)
  })
  after(async () => {
    await own.close()
    await receiver.close()
  })

  it('hears of sign-up, trial, conversion, upgrade, failed payment and cancellation, each at least once, and can order them', async () => {
    const call = <T>(query: string, input: object = {}) => own.api.call<T>(query, { input }, patienceMs)
    const { createWebhookEndpoint } = await call<{ createWebhookEndpoint: { secret: string; endpoint: { id: string } } }>(
      'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret endpoint { id } } }',
      { url: receiver.url },
    )
    const { secret, endpoint } = createWebhookEndpoint
    const heard = (type: EventType) =>
      eventually(`${type} to be heard`, () => receiver.heard.find((event) => event.type === type), patienceMs)
    const advance = (at: number) =>
      call('mutation ($input: TestClockInput!) { advanceTestClock(input: $input) { frozenTime } }', {
        frozenTime: new Date(at).toISOString(),
      })

    // given: a receiver that is not well now and then
    receiver.answer = ({ type }, response) => {
      const isFirst = receiver.heard.filter((event) => event.type === type).length === 1
      response.writeHead(isFirst && (type === 'customer.created' || type === 'subscription.renewed') ? 500 : 204).end()
    }
    await call('mutation ($input: TestClockInput!) { createTestClock(input: $input) { frozenTime } }', {
      frozenTime: new Date(Date.now() + 60_000).toISOString(),
    })
    const begin = Date.now() + 120_000

    // when: sign-up, which begins a trial
    await call('mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { customerId } } }', {
      customerId: 'acme',
    })
    await heard('customer.created')
    await heard('subscription.trial_started')
    await advance(begin + 12 * day)
    await heard('subscription.trial_ending_soon')
    await advance(begin + 15 * day)
    await heard('subscription.trial_converted')
    await call('mutation ($input: ProvisionSubscriptionInput!) { provisionSubscriptionV2(input: $input) { subscription { id } } }', {
      customerId: 'acme',
      planId: 'business',
      subscriptionId: 'bought',
    })
    await heard('subscription.activated')
    const invoice = await eventually('an invoice that can be paid', () =>
      receiver.heard.find(({ type, data }) => type === 'invoice.created' && data.invoice.subscriptionId === 'bought'),
    )
    const billingId = await eventually('the billing provider to have it', async () => {
      const { getActiveSubscriptions } = await call<{
        getActiveSubscriptions: { subscriptionId: string; latestInvoice: { billingId: string } | null }[]
      }>(
        'query ($input: GetActiveSubscriptionsInput!) { getActiveSubscriptions(input: $input) { subscriptionId latestInvoice { billingId } } }',
        { customerId: 'acme' },
      )
      return getActiveSubscriptions.find(({ subscriptionId }) => subscriptionId === 'bought')?.latestInvoice?.billingId
    })
    const response = await fetch(`${own.api.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': own.api.apiKey, 'x-operator-key': 'operator-key-of-a-test-run' },
      body: JSON.stringify({
        query: 'mutation ($input: FailedInvoiceInput!) { markInvoiceFailed(input: $input) { billingId } }',
        variables: { input: { billingId, errorMessage: 'The card was declined.' } },
      }),
    })
    expect(await response.json()).to.not.have.property('errors')
    await heard('invoice.failed')
    await call('mutation ($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { id } }', {
      subscriptionRefId: 'bought',
      subscriptionCancellationTime: 'IMMEDIATE',
    })
    await eventually('the cancellation', () =>
      receiver.heard.find(({ type, data }) => type === 'subscription.canceled' && data.subscription.subscriptionId === 'bought'),
    )

    // then: all of it was delivered, as the platform knows
    await eventually(
      'nothing to be left',
      async () => {
        const { webhookDeliveries } = await call<{ webhookDeliveries: { deliveries: { eventId: string; status: string }[] } }>(
          'query ($input: WebhookDeliveriesInput!) { webhookDeliveries(input: $input) { deliveries { eventId status } } }',
          { endpointId: endpoint.id, first: 100 },
        )
        const { deliveries } = webhookDeliveries
        return (
          deliveries.every(({ status }) => status === 'DELIVERED') && new Set(receiver.heard.map(({ id }) => id)).size === deliveries.length
        )
      },
      60_000,
    )
    // valid by its schema, signed, each with one id and one body, and numbered without a gap
    const bodies = new Map<string, string>()
    for (const { id, type, body, text, headers } of receiver.verified(secret)) {
      expect(bodyOf(type as EventType).safeParse(body).error?.message, type).to.equal(undefined)
      expect(headers['webhook-id']).to.equal(id)
      expect(bodies.get(id) ?? text).to.equal(text)
      bodies.set(id, text)
    }
    const firsts = receiver.heard.filter(({ id }, index) => receiver.heard.findIndex((other) => other.id === id) === index)
    const indexes = firsts.flatMap(({ order }) => order?.index ?? [])
    expect(indexes, 'first attempts are in the order of the customer').to.deep.equal(indexes.map((_, index) => index + 1))
    expect(receiver.types().filter((type) => type === 'customer.created')).to.have.lengthOf(2)
    expect(invoice.data.invoice).to.include({ customerId: 'acme', currency: 'USD' })
  })
})
