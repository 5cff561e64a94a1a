import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { administer } from '../support/database.js'
import { effort } from '../support/effort.js'
import { eventually } from '../support/eventually.js'
import { OwnProcesses } from '../support/own-processes.js'
import { WebhookReceiver } from '../support/webhook-receiver.js'

const catalog = `
features: [{ refId: calls, type: NUMBER, meter: Incremental }]
products: [{ refId: cloud }]
plans: [{ refId: free, product: cloud, entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }] }]
`
const names = ['web', 'usage-ingestion', 'webhook-delivery', 'alert-evaluation']
const customers = 40
/** Milliseconds into its work at which the worker is killed. */
const moments = effort > 1 ? [0, 3, 10, 25, 60, 150] : [0, 10, 60]
const patienceMs = 60_000

describe('a host application that is told of usage', function () {
  this.timeout(240_000)
  let own: OwnProcesses
  let receiver: WebhookReceiver
  let alertId: string

  const call = <T>(query: string, input: object = {}) => own.api.call<T>(query, { input }, patienceMs)
  const use = (customerId: string, value: number) =>
    call('mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id } }', { customerId, featureId: 'calls', value })
  const provision = (customerId: string) =>
    call('mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', {
      customerId,
      subscriptionParams: { planId: 'free' },
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

  it('has what was reached of an alert deleted soon after the alert', async () => {
    await call('mutation ($input: AlertInput!) { deleteAlert(input: $input) }', { id: alertId })
    const { alerts } = await call<{ alerts: { edges: unknown[] } }>('{ alerts { edges { node { id } } } }')
    expect(alerts.edges).to.deep.equal([])
    const left = () =>
      administer(own.database.url, async (client) => {
        const { rows } = await client.query<{ count: number }>(
          'SELECT (SELECT count(*) FROM alert) + (SELECT count(*) FROM alert_crossing) AS count',
        )
        return Number(rows[0]!.count)
      })
    await eventually('nothing of it to be left', async () => (await left()) === 0, patienceMs)
  })
})
