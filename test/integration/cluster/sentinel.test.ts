import { expect } from 'chai'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { consume } from '../../../src/platform/queue/consume.js'
import { openQueue } from '../../../src/platform/queue.js'
import { openRedis, openSubscriber } from '../../../src/platform/redis.js'
import { eventually } from '../../support/eventually.js'
import { Guard } from '../../support/guarded-redis.js'
import { OwnSentinels } from '../../support/own-cluster.js'
import { OwnProcesses } from '../../support/own-processes.js'
import { Load } from './load.js'

describe('the platform and its external cache on a Redis that sentinels watch, all of them encrypted and with passwords', function () {
  this.timeout(180_000)

  const guard = new Guard()
  const sentinels = new OwnSentinels(guard)
  let own: OwnProcesses
  let load: Load | undefined
  before(async () => {
    await guard.prepare()
    guard.trust()
    await sentinels.start()
    const env = { NODE_EXTRA_CA_CERTS: guard.certificateFile }
    own = await OwnProcesses.create(Load.catalog, env, { redisUrl: sentinels.url, hasPersistentCache: true })
    await own.start(['usage-ingestion', 'event-aggregation', 'cache-invalidation', 'queue-consumption', 'web'])
  })
  afterEach(async function () {
    await load?.stop()
    own?.showComplaints(this.currentTest)
  })
  after(async () => {
    await own?.close()
    await sentinels.stop()
    guard.close()
  })

  it('loses and doubles nothing while the primary is killed, and each cache says what is true', async () => {
    load = new Load(own, { customers: 5, name: 'load' })
    await load.begin()
    await sentinels.killPrimary()
    await load.goesOn()
    await load.end()
    await load.expectAllTrue()
    await load.expectCacheTrue(sentinels.urlOf(1), 'production')
  })

  it('is told apart from one whose sentinels have another password, in the log', async () => {
    const life = new Life('stranger', silentLogger())
    try {
      const url = sentinels.url.replace(/sentinel_password=[^&]*/, 'sentinel_password=guessed')
      const said = await new Promise((told) => {
        const log = { ...life.log, warn: (facts: { err: Error }) => told(facts.err.message) }
        openRedis({ open: life.open.bind(life), log: log as never }, url, 'request')
      })
      expect(said).to.match(/WRONGPASS/)
    } finally {
      await life.stop()
    }
  })
})

describe('a Redis that sentinels watch, and nobody guards', function () {
  this.timeout(60_000)

  const sentinels = new OwnSentinels()
  before(() => sentinels.start())
  after(() => sentinels.stop())

  it('has jobs worked off, and channels heard', async () => {
    const life = new Life('sentinels', silentLogger())
    try {
      const connection = { redisUrl: sentinels.url, prefix: '{tollgate}' }
      const definition = { queue: 'letters', name: 'letter', version: 1, parse: (data: unknown) => data as { v: number; text: string } }
      const heard: string[] = []
      const subscriber = openSubscriber(life, connection)
      subscriber.on('message', (_, text: string) => heard.push(text))
      await subscriber.subscribe('{tollgate}:channel')
      consume(life, connection, definition, { concurrency: 1, handler: async ({ text }) => void heard.push(text) })
      await openQueue(life, connection, definition).add({ v: 1, text: 'a job' })
      await openRedis(life, sentinels.url, 'request').publish('{tollgate}:channel', 'news')
      await eventually('both', () => heard.length === 2)
      expect(heard).to.have.members(['a job', 'news'])
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })

  it('is found again when another primary is told of while it is asked for', async () => {
    const life = new Life('sentinels', silentLogger())
    try {
      const client = openRedis(life, sentinels.url, 'request')
      await client.ping()
      // What its failover detector does, in the moment in which it connects again.
      client.once('connecting', () => (client as unknown as { connector: { disconnect(): void } }).connector.disconnect())
      client.disconnect(true)
      await new Promise((ended) => client.once('end', ended))
      await eventually('another connection', () => client.status === 'ready')
      expect(await client.ping()).to.equal('PONG')
    } finally {
      expect(await life.stop()).to.deep.equal([])
    }
  })
})
