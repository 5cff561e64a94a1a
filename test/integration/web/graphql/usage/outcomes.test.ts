import { expect } from 'chai'
import type { Life } from '../../../../../src/platform/process.js'
import { createEnvironment, eventually, type MeteringBench, openMeteringBench, usageOf } from '../../../metering/fixture.js'
import { type GraphqlBody, post } from '../../front-door.js'
import { openWebProcess } from '../../web-process.js'

const mutations = {
  reportUsage: 'mutation($input: ReportUsageInput!) { reportUsage(input: $input) { id currentUsage } }',
  reportUsageBulk: 'mutation($input: ReportUsageBulkInput!) { reportUsageBulk(input: $input) { id currentUsage } }',
  createUsageMeasurement:
    'mutation($input: UsageMeasurementCreateInput!) { createUsageMeasurement(usageMeasurement: $input) { id currentUsage } }',
  reportEvent: 'mutation($input: UsageEventsReportInput!) { reportEvent(events: $input) }',
} as const
/** As graphql-js executes them, and not the door itself: with an input in the document. */
const inDocument = 'mutation { reportUsage(input: { customerId: "customer", featureId: "calls", value: 1 }) { id currentUsage } }'

describe('a report over GraphQL that is not acknowledged', () => {
  let bench: MeteringBench
  let environmentId: string
  let key: string
  const lives: Life[] = []

  beforeEach(async () => {
    bench = await openMeteringBench({ shards: 1 })
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
    const { refId } = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
    key = (await bench.app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'test', expiresAt: null })).key
  })
  afterEach(async () => {
    for (const life of lives.splice(0)) expect(await life.stop()).to.deep.equal([])
    expect(await bench.close()).to.deep.equal([])
  })

  const open = async (options: Parameters<typeof openWebProcess>[2]) => {
    const { life, url } = await openWebProcess(bench, 'web', options)
    lives.push(life)
    return async (query: string, input?: object) =>
      (await (await post(url, { query, variables: input && { input } }, { 'x-api-key': key })).json()) as GraphqlBody
  }
  const extensionsOf = ({ errors }: GraphqlBody) => {
    const { traceId: _, ...extensions } = errors![0]!.extensions
    return extensions
  }
  const usage = () => usageOf(bench, environmentId, 'customer', 'calls')
  const report = { customerId: 'customer', featureId: 'calls', value: 1 }
  const chosen = { ...report, idempotencyKey: 'chosen' }

  // With the door's own time, and where the operation's comes before it.
  for (const options of [{ answerWithinMs: 400, operationTimeoutMs: 400 }, { operationTimeoutMs: 300 }]) {
    it(`may be counted, and says so with its keys, after ${options.operationTimeoutMs} ms`, async () => {
      const ask = await open(options)
      const unknown = { code: 'Timeout', outcome: 'unknown' }
      expect(extensionsOf(await ask(mutations.reportUsage, chosen))).to.deep.equal({ ...unknown, idempotencyKey: 'chosen' })
      expect(extensionsOf(await ask(mutations.createUsageMeasurement, chosen))).to.deep.equal({ ...unknown, idempotencyKey: 'chosen' })
      const bulk = extensionsOf(await ask(mutations.reportUsageBulk, { usages: [report, chosen] }))
      expect(bulk).to.include(unknown)
      expect(bulk.idempotencyKeys).to.have.length(2).and.include('chosen')
      const event = { customerId: 'customer', eventName: 'request', idempotencyKey: 'event' }
      expect(extensionsOf(await ask(mutations.reportEvent, { usageEvents: [event] }))).to.deep.equal({
        ...unknown,
        idempotencyKey: 'event',
      })
      const given = extensionsOf(await ask(inDocument))
      expect(given).to.include(unknown)

      // All of them are in the queue, and in time: now they are counted, those with a key once.
      bench.startIngestion()
      expect(await eventually(usage, (known) => known === '3')).to.equal('3')
      const again = { ...report, idempotencyKey: given.idempotencyKey }
      expect(await ask(mutations.reportUsage, again)).to.have.nested.property('data.reportUsage.currentUsage', 3)
      expect(await usage()).to.equal('3')
    }).timeout(15_000)
  }

  it('says of each of several reports of a document what became of it', async () => {
    const ask = await open({ operationTimeoutMs: 300 })
    const one = 'reportUsageBulk(input: { usages: [{ customerId: "customer", featureId: "calls", value: 1 }] }) { id }'
    const { errors } = await ask(`mutation { first: ${one} second: ${one} }`)
    expect(errors!.map(({ path, extensions }) => [path, extensions.outcome])).to.deep.equal([
      [['first'], 'unknown'],
      [['second'], 'notCounted'],
    ])
  })
})
