import { expect } from 'chai'
import type { EntitlementState } from '../../../src/entitlement/rules/state.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import { WarmingDelivery } from '../../../src/updates/deliver/warming-delivery.js'
import type { ChangeMessage } from '../../../src/updates/wire/change-message.js'
import { type FrontDoor, openFrontDoor } from '../web/front-door.js'

describe('warming of a persistent cache', function () {
  this.timeout(60_000)

  interface Warming {
    id: string
    told: number
    total: number
    beganAt: string
    endedAt: string | null
  }
  const customers = Array.from({ length: 120 }, (_, n) => `customer-${n}`)
  let door: FrontDoor
  let postgres: Postgres
  let told: ChangeMessage[] = []
  let waiting = 0

  before(async () => {
    door = await openFrontDoor()
    postgres = openPostgres(door.life, door.databaseUrl, { poolSize: 3 })
    for (const id of customers) await door.app.customers.provision(door.environmentId, { refId: id })
    await door.app.customers.archive(door.environmentId, 'customer-7')
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  /** As each process that delivers has it. */
  const worker = (states?: (environmentId: string, customerIds: readonly string[]) => Promise<EntitlementState[]>) =>
    new WarmingDelivery({
      pool: postgres.pool,
      entitlements: states ? { states } : door.app.entitlements,
      sinks: {
        enqueue: async (messages) => {
          told.push(...messages)
          waiting += messages.length
        },
      },
      queueOf: () => ({ waiting: async () => waiting }),
      log: door.life.log,
    })
  const fields = '{ id told total beganAt endedAt }'
  const warm = () => door.ask<{ warmPersistentCache: Warming }>(`mutation { warmPersistentCache ${fields} }`)
  const progress = async () =>
    (await door.ask<{ persistentCacheWarming: Warming | null }>(`{ persistentCacheWarming ${fields} }`)).data!.persistentCacheWarming
  const { signal } = new AbortController()

  it('is refused to an environment without one, and to client keys', async () => {
    expect((await warm()).errors?.[0]?.message).to.match(/no persistent cache/)
    expect(await progress()).to.equal(null)
    const { errors } = await door.ask(`mutation { warmPersistentCache ${fields} }`, {}, { 'x-api-key': door.clientKey })
    expect(errors?.[0]?.extensions.code).to.equal('IdentityForbidden')
  })

  it('tells the queue of each customer, as much as has room there, and how far it is; whoever goes on goes on where it was', async () => {
    await door.app.environments.enablePersistentCache('test', { queueUrl: null })
    const { id, total, endedAt } = (await warm()).data!.warmPersistentCache
    expect({ total, endedAt }).to.deep.equal({ total: 119, endedAt: null })
    // given: a queue that is almost full
    waiting = 499
    await worker().work(signal)
    expect(await progress()).to.include({ id, told: 50, endedAt: null })
    await worker().work(signal)
    expect(await progress(), 'it is full').to.include({ told: 50 })
    expect((await warm()).data?.warmPersistentCache, 'the one that is under way').to.include({ id, told: 50 })
    // when
    waiting = 0
    await Promise.all([worker().work(signal), worker().work(signal)])
    const ended = await progress()
    expect(ended).to.include({ id, told: 119 })
    expect(ended!.endedAt).to.be.a('string')
    expect(told.map(({ customerId }) => customerId)).to.have.members(customers.filter((each) => each !== 'customer-7'))
    expect(told.every(({ kind, state }) => kind === 'entitlements' && state !== undefined)).to.equal(true)
  })

  it('is begun once a minute at most', async () => {
    const refused = (await warm()).errors?.[0]
    expect(refused?.extensions.code).to.equal('RateLimitExceeded')
    expect(refused?.extensions.retryAfterMs).to.be.within(1, 60_000)
    await postgres.pool.query(`UPDATE cache_warming SET began_at = began_at - interval '1 minute'`)
    expect((await warm()).data?.warmPersistentCache).to.include({ told: 0, endedAt: null })
  })

  it('leaves out who cannot be built, and nobody else', async () => {
    told = []
    waiting = 0
    const { entitlements } = door.app
    await worker(async (environmentId, customerIds) => {
      if (customerIds.includes('customer-3')) throw new Error('it breaks on it')
      return entitlements.states(environmentId, customerIds)
    }).work(signal)
    expect(told.map(({ customerId }) => customerId)).to.have.members(
      customers.filter((each) => !['customer-3', 'customer-7'].includes(each)),
    )
    expect(await progress()).to.include({ told: 119 })
  })
})
