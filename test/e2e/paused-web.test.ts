import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { holdersKey, leasePrefix } from '../../src/changes/wire/holders.js'
import { DatabaseClock } from '../../src/platform/database-clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { openPostgres } from '../../src/platform/postgres.js'
import { Life } from '../../src/platform/process.js'
import { openRedis } from '../../src/platform/redis.js'
import { createApp } from '../../src/wiring/app.js'
import { openHeldStates } from '../../src/wiring/front-door.js'
import { eventually } from '../support/eventually.js'
import { OwnProcesses } from '../support/own-processes.js'

const catalog = `
features: [{ refId: sso, type: BOOLEAN }]
products: [{ refId: cloud }]
plans:
  - { refId: basic, product: cloud, entitlements: [] }
  - { refId: business, product: cloud, entitlements: [{ feature: sso }] }
`
/** Three times as long as a process is trusted, and waited for, without a sign of life. */
const pauseMs = 3_000

describe('a web process that stands still for longer than its lease', function () {
  this.timeout(120_000)

  let own: OwnProcesses
  const life = new Life('other', silentLogger())

  before(async () => {
    own = await OwnProcesses.create(catalog)
    await own.start(['web'])
  })
  after(async () => {
    expect(await life.stop()).to.deep.equal([])
    await own.close()
  })

  it('holds up a mutation elsewhere for no longer than that, and answers nothing from memory when it wakes', async () => {
    // given: another web process, in that of the test
    const postgres = openPostgres(life, own.database.url, { poolSize: 3 })
    const app = createApp({ life, postgres, queues: own.queues, clock: await DatabaseClock.open(life, postgres.pool) })
    const held = openHeldStates({ app, life, queues: own.queues })
    await app.customers.provision(own.environmentId, { refId: 'acme' })
    const subscribe = (planRefId: string) =>
      app.subscriptions.provision(own.environmentId, { customerRefId: 'acme', planRefId, resourceRefId: null })
    await subscribe('business')
    const check = () => own.api.call<{ entitlement: { isGranted: boolean } }>(query).then(({ entitlement }) => entitlement.isGranted)
    const redis = openRedis(life, own.queues.redisUrl, 'request')
    await eventually('it holds the state', async () => {
      expect(await check()).to.equal(true)
      return (await redis.scard(holdersKey(own.queues.prefix, own.environmentId))) === 1
    })
    await eventually('it trusts it', async () => (await check()) && (await redis.keys(`${leasePrefix(own.queues.prefix)}*`)).length === 1)
    await check()

    for (const [planRefId, isGranted] of [
      ['basic', false],
      ['business', true],
    ] as const) {
      const asked = await own.whileFrozen('web', async () => {
        await subscribe(planRefId)
        const startedAt = performance.now()
        await held.announce(own.environmentId, [{ customerId: 'acme', version: null }])
        expect(performance.now() - startedAt).to.be.below(2_000)
        // It lies with the process that stands still, and is the first that it does when it wakes.
        const answer = check()
        await sleep(pauseMs)
        return { answer }
      })
      expect(await asked.answer).to.equal(isGranted)
      expect(await check()).to.equal(isGranted)
    }
  })
})

const query = '{ entitlement(query: { customerId: "acme", featureId: "sso" }) { isGranted } }'
