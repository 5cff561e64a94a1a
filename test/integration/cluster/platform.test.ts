import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { queuePrefix } from '../../../src/platform/redis/slots.js'
import { environmentQueue } from '../../../src/updates/deliver/jobs.js'
import { OwnCluster } from '../../support/own-cluster.js'
import { OwnProcesses } from '../../support/own-processes.js'
import { Load } from './load.js'

const cachePrefix = '{production}'

describe('the platform and its external cache on a Redis Cluster', function () {
  this.timeout(240_000)

  const cluster = new OwnCluster()
  let own: OwnProcesses
  before(async () => {
    await cluster.start()
    own = await OwnProcesses.create(Load.catalog, { INGESTION_SHARDS: '2' }, { redisUrl: cluster.url, hasPersistentCache: true })
    await own.start(['usage-ingestion', 'event-aggregation', 'cache-invalidation', 'queue-consumption', 'web'])
  })
  let load: Load | undefined
  afterEach(async function () {
    await load?.stop()
    own?.showComplaints(this.currentTest)
  })
  after(async () => {
    await own?.close()
    await cluster.stop()
  })

  it('spreads over all masters, each queue in one of them', async () => {
    load = new Load(own, { customers: 3, name: 'spread' })
    await load.begin()
    await load.end()
    const counts = await Promise.all(cluster.masters.map((master) => master.dbsize()))
    expect(
      counts.every((count) => count > 0),
      String(counts),
    ).to.equal(true)
    const { prefix } = own.queues
    const queues = [
      'usage-ingestion',
      'usage-ingestion-1',
      'event-aggregation',
      'cache-invalidation',
      environmentQueue(own.environmentId).queue,
    ]
    const slots = await Promise.all(queues.map((queue) => cluster.slotOf(`${queuePrefix(prefix, queue)}:`)))
    expect(new Set(slots).size).to.equal(queues.length)
  })

  it('loses and doubles nothing while slots are moved and a master is killed, and each cache says what is true', async () => {
    load = new Load(own, { customers: Number(process.env.TOLLGATE_CLUSTER_CUSTOMERS || 6), name: 'load' })
    await load.begin()
    const { prefix } = own.queues

    // when: slots of a queue, of what all announce, and of the external cache are moved
    for (const key of [`${queuePrefix(prefix, 'usage-ingestion')}:`, `${prefix}:`, `${cachePrefix}:`]) {
      const from = await cluster.masterOf(key)
      await cluster.moveSlot(key, (from + 1) % 3, () => sleep(200))
      await load.goesOn()
    }
    // when: the masters die that have the queue and all announcements
    for (const key of [`${queuePrefix(prefix, 'usage-ingestion')}:`, `${prefix}:`]) {
      const index = await cluster.masterOf(key)
      if (index >= 0) await cluster.killMaster(index)
      await load.goesOn()
    }

    await load.end()
    await load.expectAllTrue()
    await load.expectCacheTrue(cluster.url, cachePrefix)
  })
})
