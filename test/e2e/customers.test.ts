import { expect } from 'chai'
import { createClient } from 'graphql-ws'
import pg from 'pg'
import { WebSocket } from 'ws'
import { eventually } from '../support/eventually.js'
import { usePlatform } from '../support/platform.js'

describe('what the transitions worker does for customers', function () {
  this.timeout(120_000)
  const platform = usePlatform()

  it('the end of a promotional entitlement is pushed at its instant', async () => {
    const customerId = `promoted-${Date.now()}`
    const { webUrl, serverApiKey } = platform().file
    await platform().api.call('mutation ($input: CustomerInput!) { createOneCustomer(input: $input) { id } }', { input: { customerId } })
    /** When each state of the customer came, and what it held. */
    const pushed: { at: number; held: string[] }[] = []
    const client = createClient({
      url: `${webUrl.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { headers: { 'X-API-KEY': serverApiKey } },
    })
    type Pushed = { entitlementsUpdated: { customerId: string; entitlements: { feature: { refId: string } }[] | null } }
    client.subscribe<Pushed>(
      { query: 'subscription { entitlementsUpdated { customerId entitlements { feature { refId } } } }' },
      {
        next: ({ data }) => {
          const state = data!.entitlementsUpdated
          if (state.customerId === customerId)
            pushed.push({ at: Date.now(), held: (state.entitlements ?? []).map(({ feature }) => feature.refId) })
        },
        error: () => undefined,
        complete: () => undefined,
      },
    )
    try {
      let end = 0
      // Again until the subscription has begun: what was granted before is replaced.
      await eventually('the grant to be pushed', async () => {
        if (pushed.some(({ held }) => held.includes('sso'))) return true
        end = Date.now() + 2_000
        await platform().api.call(
          'mutation ($input: GrantPromotionalEntitlementsInput!) { grantPromotionalEntitlements(input: $input) { endDate } }',
          {
            input: {
              customerId,
              promotionalEntitlements: [{ featureId: 'sso', period: 'CUSTOM', customEndDate: new Date(end).toISOString() }],
            },
          },
        )
        await eventually('a push', () => pushed.length > 0, 500).catch(() => undefined)
        return false
      })
      const gone = await eventually('the end to be pushed', () => pushed.find(({ held, at }) => at >= end && !held.includes('sso')))
      // The sweep would find it up to five seconds later.
      expect(gone.at - end).to.be.below(4_000)
      const sinceGranted = pushed.slice(pushed.findIndex(({ held }) => held.includes('sso')))
      expect(sinceGranted.filter(({ at }) => at < end).every(({ held }) => held.includes('sso'))).to.equal(true)
    } finally {
      await client.dispose()
    }
  })

  it('an import goes on when its worker was killed in the middle, and imports each customer once', async () => {
    const total = 300
    const customers = Array.from({ length: total }, (_, index) => ({ name: `Imported ${index}` }))
    const { importCustomersBulk: id } = await platform().api.call<{ importCustomersBulk: string }>(
      'mutation ($input: ImportCustomerBulkInput!) { importCustomersBulk(input: $input) }',
      { input: { customers } },
      30_000,
    )
    type Job = { total: number; done: number; failed: number; finishedAt: string | null }
    const find = async () =>
      (
        await platform().api.call<{ importJob: Job }>(
          'query ($input: ImportJobInput!) { importJob(input: $input) { total done failed finishedAt } }',
          { input: { id } },
        )
      ).importJob
    await eventually('the import to be on its way', async () => (await find()).done > 20)
    const killed = platform().kill('subscription-transitions')
    const { done } = await find()
    expect(done).to.be.below(total)
    await killed.back()
    await eventually('the import to be finished', async () => (await find()).finishedAt, 80_000)
    expect(await find()).to.deep.include({ total, done: total, failed: 0 })
    const client = new pg.Client({ connectionString: platform().file.databaseUrl })
    await client.connect()
    const { rows } = await client.query(
      `SELECT count(*)::int AS customers, count(DISTINCT name)::int AS names FROM customer WHERE name LIKE 'Imported %'`,
    )
    await client.end()
    expect(rows[0]).to.deep.equal({ customers: total, names: total })
  })
})
