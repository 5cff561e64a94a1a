import { expect } from 'chai'
import { directDoorPrefix, ingestDirectUsage } from '../../../src/metering/wire/jobs.js'
import { replyChannel } from '../../../src/metering/wire/replies.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { openQueue } from '../../../src/platform/queue.js'
import { withAccess } from '../../../src/platform/redis/address.js'
import { openRedis, openSubscriber } from '../../../src/platform/redis.js'
import { ExternalCacheReader } from '../../../src/reader/cache/redis.js'
import { RightsPool } from '../../../src/reader/states/rights.js'
import { environmentQueue } from '../../../src/updates/deliver/jobs.js'
import { ExternalCacheWriter } from '../../../src/updates/external-cache/writer.js'
import { keepQueueScriptsLoaded } from '../../../src/wiring/queue-scripts.js'
import { cacheUserRules, type QueueUser, queueUserRules } from '../../../src/wiring/redis-users.js'
import { metered, state, stateMessage, usage } from '../../contract/cache/held.js'
import { eventually } from '../../support/eventually.js'
import { OwnCluster } from '../../support/own-cluster.js'

const environmentId = '0b9a3c4e-6a51-4d0f-8a52-9d1c43b1f6aa'
const prefix = '{tollgate}'
const cachePrefix = '{production}'
const acme = state(10, [metered('calls', usage(3, 10))])

/** The rules say which keys: those of another slot, or of another environment, are refused as on one server. */
describe('the Redis users of an environment on a Redis Cluster', function () {
  this.timeout(60_000)

  const cluster = new OwnCluster()
  const life = new Life('users', silentLogger())
  before(async () => {
    await cluster.start()
    for (const kind of ['sidecar', 'persistent-cache-service'] as const)
      for (const node of [...cluster.masters, ...cluster.replicas]) {
        await node.call('ACL', 'SETUSER', kind, 'reset', 'on', '>secret', ...queueUserRules(kind, { queuePrefix: prefix, environmentId }))
        await node.call('ACL', 'SETUSER', `${kind}-cache`, 'reset', 'on', '>secret', ...cacheUserRules(kind, { cachePrefix }))
      }
    keepQueueScriptsLoaded(life, { redisUrl: cluster.url })
  })
  after(async () => {
    expect(await life.stop()).to.deep.equal([])
    await cluster.stop()
  })

  const urlOf = (user: string) => withAccess(cluster.url, user, 'secret')
  const queueOf = (user: QueueUser) => ({ redisUrl: urlOf(user), prefix, user: 'limited' }) as const

  it('let a sidecar add usage and hear the replies, and nothing else', async () => {
    const queue = openQueue(life, queueOf('sidecar'), ingestDirectUsage(environmentId))
    const job = { v: 1, environmentId, door: 'd', batchId: environmentId, isRepeat: false, batch: { kind: 'reports', calls: [] } } as const
    await eventually('the scripts to be known', () =>
      queue.add({ ...job, batch: { ...job.batch, calls: [] } }).then(
        () => true,
        () => false,
      ),
    )
    const channel = replyChannel(prefix, `${directDoorPrefix(environmentId)}door`)
    const heard: string[] = []
    const subscriber = openSubscriber(life, queueOf('sidecar'))
    subscriber.on('message', (_, text: string) => heard.push(text))
    await subscriber.subscribe(channel)
    // It is heard where it is published, and counted there.
    expect(await openRedis(life, cluster.url, 'request').publish(channel, 'reply')).to.equal(1)
    await eventually('the reply', () => heard[0] === 'reply')
    const plain = openRedis(life, urlOf('sidecar'), 'request', 'limited')
    for (const key of ['{tollgate:usage-ingestion}:usage-ingestion:wait', `tollgate:state:v2:x:${environmentId}:1:a`])
      await plain.lpush(key, 'x').then(
        () => expect.fail(`${key} could be written`),
        (error: Error) => expect(error.message).to.include('NOPERM'),
      )
  })

  it('let a persistent-cache-service work off its queue', async () => {
    const definition = environmentQueue(environmentId)
    const done: unknown[] = []
    consume(life, queueOf('persistent-cache-service'), definition, { concurrency: 2, handler: async (message) => void done.push(message) })
    const queue = openQueue(life, { redisUrl: cluster.url, prefix }, definition)
    await queue.add({ ...stateMessage(acme), environmentId })
    await eventually('the message to be worked off', () => done.length === 1)
  })

  it('let it write, purge and list the external cache, which sidecars and SDKs then read', async () => {
    const limited = (user: string) => openRedis(life, urlOf(user), 'request', 'limited')
    const writer = new ExternalCacheWriter({ redis: limited('persistent-cache-service-cache'), prefix: cachePrefix, ttlSeconds: 60 })
    const reader = new ExternalCacheReader({ redis: limited('sidecar-cache'), prefix: cachePrefix, pool: new RightsPool() })
    expect(await writer.writeState(acme)).to.equal(true)
    expect((await reader.read({ customerId: 'acme', resourceId: null })).state?.rights.positions.has('calls')).to.equal(true)
    const listed: unknown[] = []
    for await (const entities of writer.entities()) listed.push(...entities)
    expect(listed).to.deep.equal([{ customerId: 'acme', resourceId: null }])
    await writer.purge({ customerId: 'acme', resourceId: null }, acme.version + 1)
    expect((await reader.read({ customerId: 'acme', resourceId: null })).state).to.equal(null)
  })
})
