import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { eventually } from '../support/eventually.js'
import { OwnProcesses } from '../support/own-processes.js'
import { WebhookReceiver } from '../support/webhook-receiver.js'

const catalog = `
features:
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: sso, type: BOOLEAN }
products: [{ refId: cloud }]
plans:
  - { refId: free, product: cloud, entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }] }
  - { refId: team, product: cloud, entitlements: [{ feature: calls, limit: 100, resetPeriod: MONTH }, { feature: sso }] }
`
const names = ['web', 'usage-ingestion', 'webhook-delivery', 'alert-evaluation']
const customers = 40
/** Milliseconds into its work at which the worker is killed. */
const moments = [0, 3, 10, 25, 60, 150]
const patienceMs = 60_000

describe('a host application that is told of usage', function () {
  this.timeout(240_000)
  let own: OwnProcesses
  let receiver: WebhookReceiver
  let alertId: string

  const call = <T>(query: string, input: object = {}) => own.api.call<T>(query, { input }, patienceMs)
  const use = (customerId: string, value: number) =>
    call('mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', { customerId, featureId: 'calls', value })
  const provision = (customerId: string, planId = 'free') =>
    call('mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', {
      customerId,
      subscriptionParams: { planId },
    })
  const heard = (type: string, customerId: string) =>
    receiver.heard.filter((event) => event.type === type && event.data.customerId === customerId)

  before(async () => {
    receiver = await new WebhookReceiver().listen()
    own = await OwnProcesses.create(catalog, { OPERATION_TIMEOUT_MS: String(patienceMs) })
    await own.start(names)
    await call('mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret } }', { url: receiver.url })
    const { createAlert } = await call<{ createAlert: { id: string } }>(
      'mutation ($input: CreateAlertInput!) { createAlert(input: $input) { id } }',
      { featureId: 'calls', thresholds: [80, 100].map((value) => ({ kind: 'SHARE', value })) },
    )
    alertId = createAlert.id
  })
  afterEach(function () {
    own.showComplaints(this.currentTest)
  })
  after(async () => {
    await own.close()
    await receiver.close()
  })

  it('hears of what it holds, of 80 and 100 per cent, and of the upgrade; by webhook, over the socket, and in the lists', async () => {
    const client = createClient({
      url: `${own.urlOf('web').replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { headers: { 'X-API-KEY': own.api.apiKey } },
      lazy: false,
    })
    const pushed: { id: string; customerId: string; threshold: { value: number } }[] = []
    const end = client.subscribe<{ alertTriggered: (typeof pushed)[number] }>(
      { query: 'subscription { alertTriggered { id customerId threshold { value } } }' },
      { next: ({ data }) => data && pushed.push(data.alertTriggered), error: () => undefined, complete: () => undefined },
    )
    await provision('acme')
    await eventually('what it gained', () => heard('entitlements.changed', 'acme').length === 1, patienceMs)
    await sleep(500)
    await use('acme', 8)
    await eventually('80 per cent', () => heard('usage.threshold_reached', 'acme').length === 1, patienceMs)
    await use('acme', 2)
    await eventually('100 per cent', () => heard('usage.limit_reached', 'acme').length === 1, patienceMs)
    await call('mutation ($input: ProvisionSubscriptionInput) { provisionSubscriptionV2(input: $input) { id } }', {
      customerId: 'acme',
      planId: 'team',
    })
    await eventually('the upgrade', () => heard('entitlements.changed', 'acme').length === 2, patienceMs)
    expect(heard('entitlements.changed', 'acme')[1]!.data).to.deep.include({ lost: [] })
    expect(heard('entitlements.changed', 'acme')[1]!.data.gained).to.have.lengthOf(1)
    expect(pushed.map(({ threshold }) => threshold.value)).to.deep.equal([80, 100])
    const { alertCrossings } = await own.api.call<{ alertCrossings: { edges: { node: { id: string } }[] } }>(
      'query ($filter: AlertCrossingFilter) { alertCrossings(filter: $filter) { edges { node { id } } } }',
      { filter: { alertId, customerId: 'acme' } },
      patienceMs,
    )
    expect(alertCrossings.edges.map(({ node }) => node.id)).to.have.members(pushed.map(({ id }) => id))
    end()
    await client.dispose()
  })

  it('hears of each crossing once, however often the worker is killed at its work', async () => {
    const ids = Array.from({ length: customers }, (_, n) => `customer-${n}`)
    for (const id of ids) await provision(id)
    await own.kill('alert-evaluation')
    for (const id of ids) await use(id, 9)
    for (const moment of moments) {
      await own.start(['alert-evaluation'])
      await sleep(moment)
      await own.kill('alert-evaluation')
    }
    await own.start(['alert-evaluation'])
    await eventually('everybody', () => ids.every((id) => heard('usage.threshold_reached', id).length > 0), patienceMs)
    for (const id of ids) expect(new Set(heard('usage.threshold_reached', id).map((event) => event.id)).size, id).to.equal(1)
  })
})
