import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { TcpProxy } from '../../support/tcp-proxy.js'
import { count, createEnvironment, eventually, type MeteringBench, openMeteringBench } from '../metering/fixture.js'
import { type GraphqlBody, post } from '../web/front-door.js'
import { openWebProcess, type WebProcess } from '../web/web-process.js'

const check = 'query($query: FetchEntitlementQuery!) { entitlement(query: $query) { usageLimit } }'
const provision = `mutation { provisionSubscriptionV2(input: { customerId: "customer", planId: "paid" }) { id } }`

/** One process writes, its way to Redis cut for a moment; another one reads from what it holds. Nothing is delivered but what the first announces. */
describe('a change that could not be published at first', () => {
  let bench: MeteringBench
  let environmentId: string
  let key: string
  let proxy: TcpProxy
  const processes: WebProcess[] = []

  before(async () => {
    bench = await openMeteringBench({ shards: 1 })
    environmentId = await createEnvironment(bench)
    await bench.app.customers.provision(environmentId, { refId: 'customer', subscription: { planRefId: 'free' } })
    const { refId } = (await bench.app.environments.list()).find(({ id }) => id === environmentId)!
    key = (await bench.app.environments.createKey({ environment: refId, kind: 'SERVER', name: 'test', expiresAt: null })).key
    proxy = await TcpProxy.start(bench.queues.redisUrl)
    const redisUrl = new URL(bench.queues.redisUrl)
    redisUrl.host = `127.0.0.1:${proxy.port}`
    processes.push(await openWebProcess({ ...bench, queues: { ...bench.queues, redisUrl: redisUrl.href } }, 'writer'))
    processes.push(await openWebProcess(bench, 'reader'))
  })
  after(async () => {
    for (const { life } of processes) expect(await life.stop()).to.deep.equal([])
    await proxy.stop()
    expect(await bench.close()).to.deep.equal([])
  })

  const ask = async ({ url }: WebProcess, query: string, variables: object = {}) => {
    const { data, errors } = (await (await post(url, { query, variables }, { 'x-api-key': key })).json()) as GraphqlBody<
      Record<string, { usageLimit: number }>
    >
    expect(errors).to.equal(undefined)
    return Object.values(data!)[0]!
  }
  const limit = async (of: WebProcess) => (await ask(of, check, { query: { customerId: 'customer', featureId: 'calls' } })).usageLimit

  it('is known everywhere when the mutation is answered', async () => {
    const [writer, reader] = processes as [WebProcess, WebProcess]
    for (let n = 0; n < 3; n++) expect(await limit(reader)).to.equal(10)
    const before = await count(bench.pool, 'subscription', environmentId)
    proxy.cut()
    const committed = eventually(
      () => count(bench.pool, 'subscription', environmentId),
      (subscriptions) => subscriptions > before,
    )
    const mended = committed.then(() => sleep(900)).then(() => proxy.mend())
    await ask(writer, provision)
    const known = await limit(reader)
    await mended
    expect(known).to.equal(20)
  }).timeout(15_000)
})
