import { expect } from 'chai'
import type { EntitlementState } from '../../../src/entitlement/rules/state.js'
import { openPostgres, type Postgres } from '../../../src/platform/postgres.js'
import type { ChangeSinks } from '../../../src/updates/deliver/delivery.js'
import { WarmingDelivery } from '../../../src/updates/deliver/warming-delivery.js'
import { Warmings } from '../../../src/updates/deliver/warmings.js'
import type { ChangeMessage } from '../../../src/updates/wire/change-message.js'
import { eventually } from '../../support/eventually.js'
import { type FrontDoor, openFrontDoor } from '../web/front-door.js'

type States = (environmentId: string, customerIds: readonly string[]) => Promise<EntitlementState[]>

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

  const tell: ChangeSinks['enqueue'] = async (messages) => {
    told.push(...messages)
    waiting += messages.length
    return async () => true
  }
  /** As each process that delivers has it. */
  const worker = (states?: States, enqueue: ChangeSinks['enqueue'] = tell) =>
    new WarmingDelivery({
      pool: postgres.pool,
      entitlements: states ? { states } : door.app.entitlements,
      sinks: { enqueue },
      queueOf: () => ({ waiting: async () => waiting }),
      log: door.life.log,
    })
  const work = async (worked: WarmingDelivery) => {
    await worked.work(signal)
    await worked.workedAll()
  }
  const fields = '{ id told total beganAt endedAt }'
  const warm = () => door.ask<{ warmPersistentCache: Warming }>(`mutation { warmPersistentCache ${fields} }`)
  const progress = async () =>
    (await door.ask<{ persistentCacheWarming: Warming | null }>(`{ persistentCacheWarming ${fields} }`)).data!.persistentCacheWarming
  const { signal } = new AbortController()
  const again = async () => {
    told = []
    waiting = 0
    await postgres.pool.query(`UPDATE cache_warming SET began_at = began_at - interval '1 minute', ended_at = coalesce(ended_at, now())`)
    await warm()
  }

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
    await work(worker())
    expect(await progress()).to.include({ id, told: 50, endedAt: null })
    await work(worker())
    expect(await progress(), 'it is full').to.include({ told: 50 })
    expect((await warm()).data?.warmPersistentCache, 'the one that is under way').to.include({ id, told: 50 })
    // when
    waiting = 0
    await Promise.all([work(worker()), work(worker())])
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

  it('leaves out who cannot be built and does not count them, and nobody else', async () => {
    told = []
    waiting = 0
    await work(
      worker(async (environmentId, customerIds) => {
        if (customerIds.includes('customer-3')) throw new Error('it breaks on it')
        return door.app.entitlements.states(environmentId, customerIds)
      }),
    )
    expect(told.map(({ customerId }) => customerId)).to.have.members(
      customers.filter((each) => !['customer-3', 'customer-7'].includes(each)),
    )
    const ended = await progress()
    expect(ended).to.include({ told: 118 })
    expect(ended!.endedAt).to.be.a('string')
  })

  it('counts nobody as told while the database is away, or the queue does not take it, and goes on there', async () => {
    await again()
    const away = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    await work(worker(() => Promise.reject(away)))
    expect(await progress()).to.include({ told: 0, endedAt: null })
    await work(worker(undefined, async () => async () => false))
    expect(await progress()).to.include({ told: 0, endedAt: null })
    await work(worker())
    expect(await progress()).to.include({ told: 119 })
    expect(told).to.have.length(119)
  })

  describe('of one environment', () => {
    let other: string
    const progressOfOther = () => new Warmings({ pool: postgres.pool }).find(other)

    before(async () => {
      other = (await door.app.environments.create({ refId: 'other', hasPersistentCache: true })).environment.id
      await door.app.customers.provision(other, { refId: 'elsewhere' })
    })
    beforeEach(async () => {
      await again()
      await postgres.pool.query('DELETE FROM cache_warming WHERE environment_id = $1', [other])
      await new Warmings({ pool: postgres.pool }).begin(other)
    })

    it('whose queue does not answer holds up no other, nor its next turn', async () => {
      let answer = (_isTaken: boolean) => {}
      const answered = new Promise<boolean>((resolve) => {
        answer = resolve
      })
      const worked = worker(undefined, async (messages) =>
        messages[0]!.environmentId === door.environmentId ? () => answered : tell(messages),
      )
      for (const _ of ['a turn', 'the next one']) {
        await worked.work(signal)
        await eventually('the other one to be told', async () => (await progressOfOther())!.endedAt)
        await postgres.pool.query('UPDATE cache_warming SET ended_at = NULL, last_customer = NULL, told = 0 WHERE environment_id = $1', [
          other,
        ])
        await eventually('its turn to be over', async () => {
          const { rows } = await postgres.pool.query('SELECT claimed_until FROM cache_warming WHERE environment_id = $1', [other])
          return rows[0].claimed_until === null
        })
      }
      expect(await progress()).to.include({ told: 0, endedAt: null })
      answer(false)
      await worked.workedAll()
      expect(await progress()).to.include({ told: 0, endedAt: null })
    })

    it('that was begun anew while a process works on the one before is left to others, and to its next turn', async () => {
      let answer = (_isTaken: boolean) => {}
      const answered = new Promise<boolean>((resolve) => {
        answer = resolve
      })
      const worked = worker(undefined, async () => () => answered)
      await worked.work(signal)
      const claims = async () =>
        (await postgres.pool.query('SELECT claimed_until FROM cache_warming WHERE environment_id = $1 AND ended_at IS NULL', [other])).rows
      expect((await claims())[0].claimed_until).not.to.equal(null)
      await postgres.pool.query('DELETE FROM cache_warming WHERE environment_id = $1', [other])
      await new Warmings({ pool: postgres.pool }).begin(other)
      await worked.work(signal)
      expect(await claims()).to.deep.equal([{ claimed_until: null }])
      answer(true)
      await worked.workedAll()
    })

    it('ends each turn after a thousand customers, whatever its queue has room for', async () => {
      await postgres.pool.query(
        `INSERT INTO customer (environment_id, id, ref_id, updated_at)
         SELECT $1::uuid, gen_random_uuid(), 'many-' || n, now() FROM generate_series(1, 1000) AS n`,
        [door.environmentId],
      )
      const worked = worker(async () => [])
      await work(worked)
      expect(await progress()).to.include({ told: 1_000, endedAt: null })
      expect((await progressOfOther())!.endedAt).to.be.a('number')
      await work(worked)
      expect(await progress()).to.include({ told: 1_119 })
    })
  })
})
