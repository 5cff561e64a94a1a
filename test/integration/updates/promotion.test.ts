import { expect } from 'chai'
import { migrate } from '../../../src/migrate.js'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres, watchEpoch } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { createApp } from '../../../src/wiring/app.js'
import { openHeldStates } from '../../../src/wiring/front-door.js'
import { eventually } from '../../support/eventually.js'
import { OwnPostgres } from '../../support/own-postgres.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

const catalog = `
features: [{ refId: sso, type: BOOLEAN }, { refId: audit, type: BOOLEAN }]
products: [{ refId: cloud }]
plans:
  - { refId: basic, product: cloud, entitlements: [{ feature: audit }] }
  - { refId: business, product: cloud, entitlements: [{ feature: audit }, { feature: sso }] }
`

describe('a standby that is promoted without the last commits', function () {
  this.timeout(120_000)

  const server = new OwnPostgres()
  const life = new Life('test', silentLogger())

  before(() => server.start())
  after(async () => {
    expect(await life.stop()).to.deep.equal([])
    await server.stop()
  })

  it('has states forgotten that were read of them, before anything is read or written in the new history', async () => {
    await migrate({ databaseUrl: server.url, log: () => undefined })
    const postgres = openPostgres(life, server.url, { poolSize: 4 })
    const queues = { redisUrl: testRedisUrl(), prefix: testRedisPrefix() }
    const app = createApp({ life, postgres, queues, clock: await DatabaseClock.open(life, postgres.pool) })
    const { environment } = await app.environments.create({ refId: 'own' })
    await app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
    await app.customers.provision(environment.id, { refId: 'acme' })
    const subscribe = (planRefId: string) =>
      app.subscriptions.provision(environment.id, { customerRefId: 'acme', planRefId, resourceRefId: null })
    await subscribe('basic')
    const held = openHeldStates({ app, life, queues })
    const features = (state: { entitlements: { feature: { refId: string } }[] } | null) =>
      state?.entitlements.map(({ feature }) => feature.refId).sort()
    const fromMemory = () => features(held.held(environment.id, 'acme', null))
    const hold = () =>
      eventually('it is held', async () => {
        await held.state(environment.id, 'acme', null)
        return fromMemory()
      })
    const changes: string[] = []
    const before = postgres.epoch.current
    expect(before).to.match(/^\d+-1$/)
    postgres.epoch.onChange(() => void changes.push(postgres.epoch.current))

    await server.failOver(async () => {
      await eventually('connected again', () => subscribe('business').catch(() => null))
      await held.announce(environment.id, [{ customerId: 'acme', version: null }])
      expect(await hold()).to.deep.equal(['audit', 'sso'])
    })
    // It is in memory still: nobody has asked the database anything since.
    expect(fromMemory()).to.deep.equal(['audit', 'sso'])
    expect(changes).to.deep.equal([])
    // when: it asks, or looks, as it does each second. Who has begun with what it knew of the history before has to begin anew.
    const refused = await subscribe('basic').catch(({ message }: Error) => message)
    expect(refused).to.match(/failed over/)
    watchEpoch(life, postgres)
    await eventually('it is forgotten', () => fromMemory() === undefined)
    expect(changes).to.deep.equal([before.replace(/1$/, '2')])
    expect(features(await held.state(environment.id, 'acme', null))).to.deep.equal(['audit'])
  })
})
