import { OwnSentinels } from '../../support/own-cluster.js'
import { OwnProcesses } from '../../support/own-processes.js'
import { Load } from './load.js'

describe('the platform and its external cache on a Redis that sentinels watch', function () {
  this.timeout(180_000)

  const sentinels = new OwnSentinels()
  let own: OwnProcesses
  let load: Load | undefined
  before(async () => {
    await sentinels.start()
    own = await OwnProcesses.create(Load.catalog, {}, { redisUrl: sentinels.url, hasPersistentCache: true })
    await own.start(['usage-ingestion', 'event-aggregation', 'cache-invalidation', 'queue-consumption', 'web'])
  })
  afterEach(() => load?.stop())
  after(async () => {
    await own?.close()
    await sentinels.stop()
  })

  it('loses and doubles nothing while the primary is killed, and each cache says what is true', async () => {
    load = new Load(own, { customers: 5, name: 'load' })
    await load.begin()
    await sentinels.killPrimary()
    await load.goesOn()
    await load.end()
    await load.expectAllTrue()
    await load.expectCacheTrue(`${sentinels.url}/1`, 'production')
  })
})
