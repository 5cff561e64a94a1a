import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { GraphqlClient } from '../../src/local/demo/clients.js'
import { eventually } from '../support/eventually.js'
import { OwnProcesses } from '../support/own-processes.js'

const catalog = `
features: [{ refId: calls, type: NUMBER, meter: Incremental }]
products: [{ refId: desk }]
plans:
  - { refId: hourly, product: desk, entitlements: [{ feature: calls, limit: 10, resetPeriod: HOUR }] }
  - refId: tried
    product: desk
    defaultTrial: { duration: 14, units: DAY, endBehavior: CANCEL_SUBSCRIPTION }
    entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 50 }]
`

const hour = 3_600_000
/** The machine of the test is that of the database. */
const iso = (fromNowMs: number) => new Date(Date.now() + fromNowMs).toISOString()

/** As the operator. */
async function createKey(url: string, expiresAt: string): Promise<string> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-operator-key': 'operator-key-of-a-test-run' },
    body: JSON.stringify({
      query: `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { key } }`,
      variables: { input: { environmentRefId: 'own', kind: 'SERVER', name: 'short', expiresAt } },
    }),
  })
  const { data } = (await response.json()) as { data: { createApiKey: { key: string } } }
  return data.createApiKey.key
}

describe('a process whose clock is wrong', function () {
  this.timeout(180_000)

  for (const aheadMs of [5_000, -hour])
    it(`by ${aheadMs / 1_000} s decides as the database’s clock says`, async () => {
      const processes = await OwnProcesses.create(catalog)
      const { api } = processes
      const counting = ['usage-ingestion', 'event-aggregation', 'cache-invalidation']
      try {
        await processes.start([...counting, 'web', 'subscription-transitions'], { aheadMs })
        await processes.start(['sidecar'], { aheadMs })

        const shortLived = new GraphqlClient(api.url, await createKey(api.url, iso(hour / 2)))
        const provision = (subscriptionParams: object, customerId: string) =>
          api.call(`mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }`, {
            input: { customerId, subscriptionParams },
          })
        const trialEndDate = iso(hour / 2)
        await provision({ planId: 'tried', trialOverrideConfiguration: { isTrial: true, trialEndDate } }, 'tries')
        const endsAt = Date.now() + 12_000
        await provision({ planId: 'hourly', startDate: new Date(endsAt - hour).toISOString() }, 'ends')
        // On a busy machine the first may come too late.
        const input = { customerId: 'ends', featureId: 'calls', value: 10, idempotencyKey: 'ten' }
        const report = () => api.call(`mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }`, { input })
        await eventually('the usage to be counted', () => report().catch(() => null))

        const isGranted = async (customerId: string, asked = api) => {
          const { entitlement } = await asked.call<{ entitlement: { isGranted: boolean } }>(
            `query ($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted } }`,
            { query: { customerId, featureId: 'calls', options: { requestedUsage: 1 } } },
          )
          return entitlement.isGranted
        }
        const isGrantedBySidecar = async (customerId: string) => {
          const request = { customer_id: customerId, feature_id: 'calls', options: { requested_usage: 1 } }
          return (await processes.sidecar.call<{ has_access: boolean }>('GetMeteredEntitlement', request)).has_access
        }
        // Its clock is what answers have told it.
        await eventually('the sidecar to know the usage', async () => !(await isGrantedBySidecar('ends')), 4_000)
        for (let asked = 0; Date.now() < endsAt - 200 || asked === 0; asked++) {
          const answers = [await isGranted('ends'), await isGrantedBySidecar('ends')]
          if (Date.now() < endsAt) expect(answers, `${endsAt - Date.now()} ms before the end`).to.deep.equal([false, false])
          await sleep(20)
        }
        await sleep(endsAt + 500 - Date.now())
        expect([await isGranted('ends'), await isGrantedBySidecar('ends')]).to.deep.equal([true, true])

        expect([await isGranted('tries'), await isGranted('tries', shortLived), await isGrantedBySidecar('tries')]).to.deep.equal([
          true,
          true,
          true,
        ])
        const { activeSubscriptions } = await api.call<{ activeSubscriptions: { status: string }[] }>(
          `query ($input: GetActiveSubscriptionsInput!) { activeSubscriptions: getActiveSubscriptions(input: $input) { status } }`,
          { input: { customerId: 'tries' } },
        )
        expect(activeSubscriptions.map(({ status }) => status)).to.deep.equal(['IN_TRIAL'])
      } finally {
        await processes.close()
      }
    })
})
