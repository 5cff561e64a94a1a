import { expect } from 'chai'
import { createSchema } from '../../../src/web/graphql/schema.js'
import { operationDocument } from '../../support/operation-document.js'
import { type MeteringBench, openMeteringBench } from '../metering/fixture.js'
import { type GraphqlBody, operatorKey, post } from '../web/front-door.js'
import { openWebProcess, type WebProcess } from '../web/web-process.js'
import { type Customer, catalog, type Scenario, scenarios, unchanging } from './mutation-scenarios.js'

const mutations = createSchema().getMutationType()!
const read = `query($query: FetchEntitlementsQuery!) { entitlementsState(query: $query) {
  accessDeniedReason entitlements { feature { refId displayName } isGranted usageLimit currentUsage usagePeriodEnd validUntil } } }`

/** What every mutation does to states that web processes hold. Nothing is delivered, so only the announcement tells them. */
describe('mutations', () => {
  let bench: MeteringBench
  let webs: WebProcess[]
  let serial = 0

  before(async function () {
    this.timeout(20_000)
    bench = await openMeteringBench({ shards: 1 })
    bench.startIngestion()
    webs = await Promise.all(['one', 'other'].map((name) => openWebProcess(bench, name)))
  })
  after(async () => {
    for (const { life } of webs) expect(await life.stop()).to.deep.equal([])
    expect(await bench.close()).to.deep.equal([])
  })

  it('are all known here: what they do to usage and holdings', () => {
    expect([...Object.keys(scenarios), ...Object.keys(unchanging)].sort()).to.deep.equal(Object.keys(mutations.getFields()).sort())
  })

  async function newCustomer(): Promise<Customer> {
    const name = `mutation-${++serial}`
    const { environment } = await bench.app.environments.create({ refId: name, isTest: true })
    const { key } = await bench.app.environments.createKey({ environment: name, kind: 'SERVER', name, expiresAt: null })
    await bench.app.catalog.apply(environment.id, catalog(), { dryRun: false, archiveMissing: false })
    const ask = async (url: string, query: string, variables: object) => {
      const headers = { 'x-api-key': key, 'x-operator-key': operatorKey }
      const { data, errors } = (await (await post(url, { query, variables }, headers)).json()) as GraphqlBody
      expect(errors, query.slice(0, 60)).to.equal(undefined)
      return Object.values(data!)[0]
    }
    return {
      environmentId: environment.id,
      // biome-ignore lint/suspicious/noExplicitAny: answers are read as JSON
      mutate: (mutation, variables) => ask(webs[0]!.url, operationDocument(mutations, mutation), variables) as Promise<any>,
      statesThrough: (holders) =>
        Promise.all(
          webs.map(({ url }) => Promise.all(holders.map((resourceId) => ask(url, read, { query: { customerId: 'acme', resourceId } })))),
        ),
      countEvents: async (usageEvents) => {
        await bench.usage.reportEvents(environment.id, usageEvents)
        const { rows } = await bench.pool.query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1::uuid', [
          environment.id,
        ])
        for (const { id } of rows)
          await bench.newAggregation().aggregate({ v: 1, environmentId: environment.id, batchId: id, stored: null })
      },
    }
  }

  for (const [mutation, scenario] of Object.entries<Scenario>(scenarios))
    it(`${mutation} is read right at once, through every web process`, async () => {
      const customer = await newCustomer()
      if (scenario.isNew !== true) await customer.mutate('provisionCustomer', { input: { customerId: 'acme' } })
      const variables = await scenario.variables(customer)
      const holders = [null, ...(scenario.resources ?? [])]
      // given: both hold the states and hear of changes
      let before: unknown[][] = []
      for (let n = 0; n < 3; n++) before = await customer.statesThrough(holders)
      expect(before[0]).to.deep.equal(before[1])
      // when
      await customer.mutate(mutation, variables)
      const after = await customer.statesThrough(holders)
      // then: what they answer is what a process answers that has held nothing
      const fresh = await openWebProcess(bench, 'fresh')
      try {
        webs.push(fresh)
        const answers = await customer.statesThrough(holders)
        expect(after).to.deep.equal([answers.at(-1), answers.at(-1)])
      } finally {
        webs.pop()
        expect(await fresh.life.stop()).to.deep.equal([])
      }
      expect(after[0], 'something is different').to.not.deep.equal(before[0])
    })
})
