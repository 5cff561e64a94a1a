import { expect } from 'chai'
import type { Life } from '../../../../../src/platform/process.js'
import { createEnvironment, type MeteringBench, openMeteringBench } from '../../../metering/fixture.js'
import { type GraphqlBody, post } from '../../front-door.js'
import { openWebProcess } from '../../web-process.js'

const report = 'mutation($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }'
const check = 'query($query: FetchEntitlementQuery!) { entitlement(query: $query) { currentUsage } }'

/** Usage reported through one web process, counted by a worker, read through each; nothing is delivered, so only the worker's announcement tells it. */
describe('reported usage', () => {
  let bench: MeteringBench
  let key: string
  const lives: Life[] = []
  const urls: string[] = []

  before(async () => {
    bench = await openMeteringBench({ shards: 1 })
    bench.startIngestion()
    const environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
    const { refId } = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
    key = (await bench.app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'test', expiresAt: null })).key
    for (const name of ['one', 'other']) {
      const { life, url } = await openWebProcess(bench, name)
      lives.push(life)
      urls.push(url)
    }
  })
  after(async () => {
    for (const life of lives) expect(await life.stop()).to.deep.equal([])
    expect(await bench.close()).to.deep.equal([])
  })

  const ask = async (url: string, query: string, variables: object) => {
    const answer = (await (await post(url, { query, variables }, { 'x-api-key': key })).json()) as GraphqlBody<
      Record<string, { currentUsage: number }>
    >
    expect(answer.errors).to.equal(undefined)
    return Object.values(answer.data!)[0]!.currentUsage
  }
  const usageThrough = (url: string) => ask(url, check, { query: { customerId: 'customer', featureId: 'calls' } })
  const builtIn = async (life: Life) =>
    Number(/tollgate_state_reads_total\{source="PostgreSQL"\S* (\d+)/.exec(await life.metrics.metrics())?.[1] ?? 0)

  it('is read through every web process by who has the answer, and from memory', async () => {
    const [one, other] = urls as [string, string]
    // From here on both hold the state, and hear of changes.
    for (let n = 0; n < 3; n++) for (const url of urls) expect(await usageThrough(url)).to.equal(0)
    const built = await Promise.all(lives.map(builtIn))
    const wrong: string[] = []
    for (let n = 1; n <= 200; n++) {
      const [reporter, reader] = n % 2 ? [one, other] : [other, one]
      const answered = await ask(reporter, report, { input: { customerId: 'customer', featureId: 'calls', value: 1 } })
      const read = await Promise.all([usageThrough(reader), usageThrough(reporter)])
      if (answered !== n || read.some((usage) => usage !== n)) wrong.push(`${n}: answered ${answered}, read ${read}`)
    }
    expect(wrong).to.deep.equal([])
    expect(await Promise.all(lives.map(builtIn))).to.deep.equal(built)
  })
})
