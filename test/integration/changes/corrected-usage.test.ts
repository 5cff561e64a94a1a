import { expect } from 'chai'
import { createEnvironment, event, type MeteringBench, openMeteringBench, report } from '../metering/fixture.js'
import { type GraphqlBody, post } from '../web/front-door.js'
import { openWebProcess, type WebProcess } from '../web/web-process.js'

const check = 'query($query: FetchEntitlementQuery!) { entitlement(query: $query) { currentUsage } }'

/** Usage that is corrected through one web process and read through each at once. Nothing is delivered, so only the announcement tells it. */
describe('corrected usage', () => {
  let bench: MeteringBench
  let environmentId: string
  let key: string
  let webs: WebProcess[]
  let serial = 0
  let customerId: string

  before(async () => {
    bench = await openMeteringBench({ shards: 1 })
    bench.startIngestion()
    environmentId = await createEnvironment(bench)
    const { refId } = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
    key = (await bench.app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'test', expiresAt: null })).key
    webs = await Promise.all(['one', 'other'].map((name) => openWebProcess(bench, name)))
  })
  after(async () => {
    for (const { life } of webs) expect(await life.stop()).to.deep.equal([])
    expect(await bench.close()).to.deep.equal([])
  })
  beforeEach(async () => {
    customerId = `customer-${++serial}`
    await bench.app.customers.provision(environmentId, { refId: customerId, subscription: { planRefId: 'free' } })
  })

  async function ask<T>(url: string, query: string, variables: object): Promise<T> {
    const { data, errors } = (await (await post(url, { query, variables }, { 'x-api-key': key })).json()) as GraphqlBody<Record<string, T>>
    expect(errors).to.equal(undefined)
    return Object.values(data!)[0]!
  }
  const usageThrough = async (featureId: string) =>
    Promise.all(
      webs.map(async ({ url }) => (await ask<{ currentUsage: number }>(url, check, { query: { customerId, featureId } })).currentUsage),
    )
  /** Both hold the state from then on, and hear of changes. */
  const hold = async (featureId: string, usage: number) => {
    for (let n = 0; n < 3; n++) expect(await usageThrough(featureId)).to.deep.equal([usage, usage])
  }
  const correct = (mutation: string, inputType: string, input: object) =>
    ask(webs[0]!.url, `mutation($input: ${inputType}!) { ${mutation}(input: $input) }`, { input })
  const countEvents = async (value: number) => {
    const reported = event(customerId, `event-${customerId}`, { dimensions: { tokens: value, user: 'ann' } })
    await bench.usage.reportEvents(environmentId, [reported])
    const { rows } = await bench.pool.query<{ id: string }>('SELECT id FROM pending_batch WHERE environment_id = $1::uuid', [environmentId])
    for (const { id } of rows) await bench.newAggregation().aggregate({ v: 1, environmentId, batchId: id, stored: null })
    const { dimensions, ...name } = reported
    return name
  }

  it('is read without an event that was removed', async () => {
    const name = await countEvents(7)
    await hold('tokens', 7)
    await correct('removeUsageEvent', 'UsageEventNameInput', name)
    expect(await usageThrough('tokens')).to.deep.equal([0, 0])
  })

  it('is read with what an event was replaced by', async () => {
    const name = await countEvents(7)
    await hold('tokens', 7)
    await correct('replaceUsageEvent', 'UsageEventReplacementInput', { ...name, dimensions: { tokens: 2, user: 'ann' } })
    expect(await usageThrough('tokens')).to.deep.equal([2, 2])
  })

  it('is read without a measurement that was removed, or with its new value', async () => {
    const [measured] = await bench.usage.report(environmentId, [report(customerId, 5)])
    await hold('calls', 5)
    await correct('replaceUsageMeasurement', 'UsageMeasurementReplacementInput', { id: measured!.id, value: 3 })
    expect(await usageThrough('calls')).to.deep.equal([3, 3])
    await correct('removeUsageMeasurement', 'UsageMeasurementNameInput', { id: measured!.id })
    expect(await usageThrough('calls')).to.deep.equal([0, 0])
  })
})
