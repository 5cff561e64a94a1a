import { expect } from 'chai'
import { createMetrics } from '../../../src/platform/metrics.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { openRedis } from '../../../src/platform/redis.js'
import { ChangeDelivery } from '../../../src/updates/deliver/delivery.js'
import { changeSinks } from '../../../src/updates/deliver/sinks.js'
import { StateCache } from '../../../src/updates/held/state-cache.js'
import { type RunningSidecar, runSidecar, until } from '../../contract/grpc/harness.js'
import { testRedisUrl } from '../../support/redis.js'
import { TcpProxy } from '../../support/tcp-proxy.js'
import { type FrontDoor, openFrontDoor } from '../web/front-door.js'

/** A sidecar at the platform's own door: what is committed there is seen here, also after a moment without a connection. */
describe('sidecar at the real front door', () => {
  let door: FrontDoor
  let proxy: TcpProxy
  let sidecar: RunningSidecar
  let delivery: ChangeDelivery

  before(async function () {
    this.timeout(30_000)
    door = await openFrontDoor()
    const queues = { redisUrl: testRedisUrl(), prefix: door.queuePrefix }
    const postgres = openPostgres(door.life, door.databaseUrl, { poolSize: 5 })
    const redis = openRedis(door.life, queues.redisUrl, 'request')
    delivery = new ChangeDelivery({
      pool: postgres.pool,
      clock: door.app.clock,
      entitlements: door.app.entitlements,
      epoch: postgres.epoch,
      cache: new StateCache(redis, queues.prefix, postgres.epoch),
      sinks: changeSinks({
        life: door.life,
        redis,
        queues,
        databaseEpoch: postgres.epoch,
        persistentCacheOf: async () => null,
        sqs: { tell: async () => true },
        epochs: { number: async () => null, lose: async () => undefined },
      }),
      metrics: createMetrics('test'),
      log: door.life.log,
    })
  })
  after(async () => expect(await door.close()).to.deep.equal([]))
  beforeEach(async () => {
    proxy = await TcpProxy.start(door.url)
    sidecar = await runSidecar({
      SERVER_API_KEY: door.serverKey,
      API_URL: door.url,
      WS_URL: `ws://127.0.0.1:${proxy.port}/graphql`,
      EDGE_ENABLED: 'TRUE',
      REFRESH_AFTER_SECS: '600',
    })
    await connected()
  })
  afterEach(async () => {
    await sidecar.stop()
    await proxy.stop()
  })

  const isConnected = async () => (await sidecar.metric('sidecar_real_time_connected')) === 1
  const connected = () => until(isConnected, 'the connection vouches', 5_000)
  const mutate = async (mutation: string) => {
    const { errors } = await door.ask(`mutation { ${mutation} }`)
    expect(errors).to.equal(undefined)
    await delivery.deliver(door.environmentId)
  }
  const provisionCustomer = (id: string) => mutate(`provisionCustomer(input: { customerId: "${id}" }) { customer { id } }`)
  const subscribe = (id: string, plan: string) =>
    mutate(`provisionSubscriptionV2(input: { customerId: "${id}", planId: "${plan}", billingPeriod: MONTHLY }) { id }`)
  const check = (id: string) => sidecar.call('GetMeteredEntitlement', { customer_id: id, feature_id: 'api-calls' })
  const limitOf = async (id: string): Promise<number | null> => (await check(id)).entitlement?.usage_limit ?? null

  it('sees a customer as soon as it is provisioned, though it was unknown a moment ago', async () => {
    expect((await check('acme')).access_denied_reason).to.equal(3)
    await provisionCustomer('acme')
    await until(async () => (await check('acme')).has_access === true, 'the customer is known')
  })

  it('sees a new plan without asking again', async () => {
    await provisionCustomer('upgraded')
    const before = await limitOf('upgraded')
    const reads = await sidecar.metric('sidecar_api_request_seconds_count')
    await subscribe('upgraded', 'team')
    await until(async () => (await limitOf('upgraded')) !== before, 'the new limit is known')
    expect(await sidecar.metric('sidecar_api_request_seconds_count')).to.equal(reads)
  })

  it('sees what happened while it was away for a moment', async () => {
    for (const id of ['away', 'unchanged']) await provisionCustomer(id)
    const [before, unchanged] = [await limitOf('away'), await limitOf('unchanged')]
    proxy.cut()
    await until(async () => !(await isConnected()), 'the break is noticed')
    await subscribe('away', 'team')
    proxy.mend()
    await connected()
    await until(async () => (await limitOf('away')) !== before, 'what was missed is known')
    expect(await sidecar.metric('sidecar_real_time_connections_total', 'start="caught_up"')).to.equal(1)
    // The other one is vouched for again: no more than the one that changed was read.
    const reads = await sidecar.metric('sidecar_api_request_seconds_count')
    expect(await limitOf('unchanged')).to.equal(unchanged)
    expect(await sidecar.metric('sidecar_api_request_seconds_count')).to.equal(reads)
  }).timeout(15_000)
})
