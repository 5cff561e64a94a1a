import { expect } from 'chai'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { type App, createApp } from '../../../src/wiring/app.js'
import { openWholePlatform, type TestEnvironment, type WholePlatform } from '../../integration/web/whole-platform.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'
import { cases, oddIds, type World } from './cases.js'
import { catalog } from './catalog.js'
import { type Door, doors } from './doors.js'
import { freshnessCases } from './freshness-cases.js'

/** One list of promises, held through every way to ask the platform. */
describe('contract of checks and usage', () => {
  let platform: WholePlatform
  let environment: TestEnvironment
  /** Another process, whose word of what it has committed is lost. */
  let elsewhere: App
  const lifeElsewhere = new Life('elsewhere', silentLogger())

  before(async function () {
    this.timeout(60_000)
    platform = await openWholePlatform()
    environment = await platform.createEnvironment('contract', catalog)
    const postgres = openPostgres(lifeElsewhere, platform.databaseUrl, { poolSize: 2 })
    const queues = { redisUrl: testRedisUrl(), prefix: testRedisPrefix() }
    const clock = await DatabaseClock.open(lifeElsewhere, postgres.pool)
    elsewhere = createApp({ life: lifeElsewhere, postgres, queues, clock })
  })
  after(async () => {
    expect(await lifeElsewhere.stop()).to.deep.equal([])
    expect(await platform.close()).to.deep.equal([])
  })

  const mutate = async (mutation: string, variables: object = {}, declared = '') => {
    const { errors } = await environment.ask(`mutation ${declared} { ${mutation} }`, variables)
    if (errors) throw new Error(JSON.stringify(errors))
  }
  const subscribe = async (customerId: string, planId: string, resourceId?: string) => {
    await mutate('provisionCustomer(input: $input) { customer { id } }', { input: { customerId } }, '($input: ProvisionCustomerInput!)')
    const input = { customerId, planId, ...(resourceId ? { resourceId } : {}) }
    await mutate('provisionSubscriptionV2(input: $input) { id }', { input }, '($input: ProvisionSubscriptionInput!)')
  }

  for (const [number, kind] of doors.entries()) {
    describe(`through ${kind.name}`, () => {
      let door: Door
      before(async function () {
        this.timeout(30_000)
        door = await kind.open({ url: platform.url, environment }, true)
      })
      after(() => door.close())

      for (const [index, [title, hold]] of Object.entries(cases).entries()) {
        it(title, async () => {
          const customerId = `customer-${number}-${index}`
          const world: World = {
            door,
            kind,
            customerId,
            subscribe: (planId, resourceId) => subscribe(customerId, planId, resourceId),
            mutate,
          }
          await hold(world)
        }).timeout(30_000)
      }

      it('takes identifiers as they are, whatever is in them', async () => {
        for (const id of oddIds) {
          const customerId = `${number}${id}`.slice(0, 255)
          await subscribe(customerId, 'basic')
          const { currentUsage } = await door.reportUsage({ customerId, featureId: 'calls', value: 2 })
          expect(currentUsage, id).to.equal(2)
          for (let again = 0; again < 2; again++)
            expect((await door.getMeteredEntitlement({ customerId, featureId: 'calls' })).entitlement?.currentUsage, id).to.equal(2)
        }
      }).timeout(60_000)
    })

    describe(`how fresh an answer is through ${kind.name}, when nobody tells of changes`, () => {
      let door: Door
      before(async function () {
        this.timeout(30_000)
        door = await kind.open({ url: platform.url, environment }, false)
      })
      after(() => door.close())

      for (const [index, [title, hold]] of Object.entries(freshnessCases).entries()) {
        it(title, async () => {
          const customerId = `reader-${number}-${index}`
          await hold({
            door,
            kind,
            customerId,
            subscribe: (planId, resourceId) => subscribe(customerId, planId, resourceId),
            mutate,
            grantElsewhere: async (featureRefId) => {
              await elsewhere.promotional.grant(environment.id, customerId, [{ featureRefId, period: 'LIFETIME' }])
            },
          })
        }).timeout(30_000)
      }
    })
  }
})
