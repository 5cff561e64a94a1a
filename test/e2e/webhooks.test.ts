import { expect } from 'chai'
import { bodyOf, type EventType } from '../../src/notifications/model/catalog.js'
import { eventually } from '../support/eventually.js'
import { OwnProcesses } from '../support/own-processes.js'
import { type Delivery, HostApplication, patienceMs } from './host-application.js'

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
const names = [
  'web',
  'subscription-transitions',
  'cache-invalidation',
  'billing-sync',
  'usage-ingestion',
  'alert-evaluation',
  'webhook-delivery',
]
const noConnection = 'no connection (ECONNREFUSED)'

describe('a host application that only listens', function () {
  this.timeout(240_000)
  let own: OwnProcesses
  let host: HostApplication
  let stopListening = async () => {}

  before(async () => {
    own = await OwnProcesses.create(catalog, { OPERATION_TIMEOUT_MS: String(patienceMs) })
    await own.start(names)
    host = await HostApplication.open(own, {
      'customer.created': 'isSilent',
      'subscription.trial_started': 'isSlow',
      'subscription.trial_ending_soon': 'isBusy',
      'subscription.trial_converted': 'saysTooMuch',
      'usage.threshold_reached': 'fails',
    })
  })
  afterEach(function () {
    own.showComplaints(this.currentTest)
  })
  after(async () => {
    await stopListening()
    await own.close()
    await host.receiver.close()
  })

  it('hears the whole story of a customer, each event at least once and in an order that it can see, however its endpoint fares', async () => {
    const isOfBought = ({ body }: Delivery) => body.data.subscription?.subscriptionId === 'bought'
    const use = (value: number) =>
      host.call('mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', {
        customerId: 'acme',
        featureId: 'projects',
        value,
      })

    // given: it wants to know of 80 and 100 per cent of a limit
    stopListening = host.listen()
    await host.call('mutation ($input: CreateAlertInput!) { createAlert(input: $input) { id } }', {
      featureId: 'projects',
      thresholds: [80, 100].map((value) => ({ kind: 'SHARE', value })),
    })
    await host.call('mutation ($input: TestClockInput!) { createTestClock(input: $input) { frozenTime } }', {
      frozenTime: new Date(Date.now() + 60_000).toISOString(),
    })
    const begin = Date.now() + 120_000

    // when: sign-up, which begins a trial that is converted; the endpoint does not answer, so all of it waits
    await host.call('mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { customerId } } }', {
      customerId: 'acme',
    })
    await host.heard('customer.created')
    await host.advanceTo(begin + 12 * day)
    await host.happened('subscription.trial_ending_soon')
    await host.advanceTo(begin + 15 * day)
    await host.happened('subscription.trial_converted')
    // 80 and 100 per cent of what the plan has
    await use(8)
    await host.happened('usage.threshold_reached')
    await use(2)
    await host.happened('usage.limit_reached')
    // given up, after 15 s; what comes then is answered slowly, refused for a while, answered with too much, and failed
    await host.allDelivered()
    // an upgrade, while nobody is there
    await host.receiver.whileAway(async () => {
      await host.call('mutation ($input: ProvisionSubscriptionInput!) { provisionSubscriptionV2(input: $input) { subscription { id } } }', {
        customerId: 'acme',
        planId: 'business',
        subscriptionId: 'bought',
      })
      await host.happened('subscription.activated', (delivery) => isOfBought(delivery) && delivery.attempts[0]?.error === noConnection)
    })
    await host.heard('usage.back_under')
    // a payment that fails, and the end
    const billingId = await eventually('the billing provider to have the invoice', async () => {
      const { getActiveSubscriptions } = await host.call<{
        getActiveSubscriptions: { subscriptionId: string; latestInvoice: { billingId: string } | null }[]
      }>(
        'query ($input: GetActiveSubscriptionsInput!) { getActiveSubscriptions(input: $input) { subscriptionId latestInvoice { billingId } } }',
        { customerId: 'acme' },
      )
      return getActiveSubscriptions.find(({ subscriptionId }) => subscriptionId === 'bought')?.latestInvoice?.billingId
    })
    expect(await host.failInvoice(billingId)).to.not.have.property('errors')
    await host.heard('invoice.failed')
    await host.call('mutation ($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { id } }', {
      subscriptionRefId: 'bought',
      subscriptionCancellationTime: 'IMMEDIATE',
    })
    await host.happened('subscription.canceled', isOfBought)
    await host.happened('entitlements.changed', ({ body }) => (body.data as { lost?: unknown[] }).lost?.length === 1)

    // then: all of it was delivered, as the platform knows
    const deliveries = await host.allDelivered()
    // valid by its schema, signed, each with one id and one body, as often as it was sent
    const heard = host.verified()
    const bodies = new Map<string, string>()
    for (const { id, type, body, text, headers } of heard) {
      expect(bodyOf(type as EventType).safeParse(body).error?.message, type).to.equal(undefined)
      expect(headers['webhook-id']).to.equal(id)
      expect(bodies.get(id) ?? text).to.equal(text)
      bodies.set(id, text)
    }
    expect([...bodies.keys()]).to.have.members(deliveries.map(({ eventId }) => eventId))
    for (const { eventId, eventType, attempts } of deliveries) {
      const arrived = attempts.filter(({ error }) => error !== noConnection)
      expect(heard.filter(({ id }) => id === eventId).length, eventType).to.equal(arrived.length)
    }
    // first attempts are in the order of the customer, without a gap, also those that found nobody
    const told = deliveries
      .map(({ eventType, body, attempts }) => ({ eventType, index: body.order!.index, at: Date.parse(attempts[0]!.at) }))
      .sort((one, other) => one.at - other.at || one.index - other.index)
    expect(told.map(({ index }) => index)).to.deep.equal(told.map((_, index) => index + 1))
    expect(told.map(({ eventType }) => eventType).filter((type) => story.includes(type))).to.deep.equal(story)
    const refused = new Set(deliveries.filter(({ attempts }) => attempts[0]!.error === noConnection).map(({ eventId }) => eventId))
    const firsts = heard.filter(({ id }, index) => !refused.has(id) && heard.findIndex((other) => other.id === id) === index)
    const indexes = firsts.map(({ order }) => order!.index)
    expect(indexes).to.deep.equal(indexes.toSorted((one, other) => one - other))
    // and each of its troubles was met as it is promised
    const attemptsOf = (type: EventType) => deliveries.find(({ eventType }) => eventType === type)!.attempts
    const codesOf = (type: EventType) => attemptsOf(type).map(({ statusCode }) => statusCode)
    expect(attemptsOf('customer.created').map(({ error }) => error)).to.deep.equal(['no answer within 15 s', null])
    expect(codesOf('subscription.trial_started')).to.deep.equal([204])
    expect(codesOf('subscription.trial_ending_soon')).to.deep.equal([429, 204])
    expect(attemptsOf('subscription.trial_converted').map(({ response }) => response)).to.deep.equal(['y'.repeat(1_024)])
    expect(codesOf('usage.threshold_reached')).to.deep.equal([500, 204])
    const busyAt = heard.findIndex(({ type }) => type === 'subscription.trial_ending_soon')
    expect(heard[busyAt + 1]!.at - heard[busyAt]!.at, 'Retry-After: 3').to.be.at.least(2_900)
    // the crossings are those of the socket, and of the list
    const crossings = deliveries.filter(({ eventType }) => eventType === 'usage.threshold_reached' || eventType === 'usage.limit_reached')
    expect(host.pushed.map(({ threshold }) => threshold.value)).to.deep.equal([80, 100])
    expect(host.pushed.map(({ id }) => id)).to.have.members(crossings.map(({ eventId }) => eventId))
    const { alertCrossings } = await host.call<{ alertCrossings: { edges: { node: { id: string; endReason: string } }[] } }>(
      '{ alertCrossings { edges { node { id endReason } } } }',
    )
    expect(alertCrossings.edges.map(({ node }) => node)).to.deep.equal(
      host.pushed.toReversed().map(({ id }) => ({ id, endReason: 'BACK_UNDER' })),
    )
  })
})

/** What each of them is told once of. */
const story: EventType[] = [
  'customer.created',
  'subscription.trial_started',
  'subscription.trial_ending_soon',
  'subscription.trial_converted',
  'usage.threshold_reached',
  'usage.limit_reached',
  'subscription.activated',
  'invoice.failed',
]
