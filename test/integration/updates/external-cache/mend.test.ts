import { expect } from 'chai'
import { Redis } from 'ioredis'
import { Problem } from '../../../../src/kernel/problem.js'
import type { FetchState } from '../../../../src/updates/external-cache/apply.js'
import { Feed } from '../../../../src/updates/external-cache/feed.js'
import { compareWithTruth, mend } from '../../../../src/updates/external-cache/mend.js'
import { questionFailed } from '../../../../src/updates/external-cache/state-api.js'
import { CacheUpkeep } from '../../../../src/updates/external-cache/upkeep.js'
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js'
import { boolean, enumerated, metered, numeric, state, usage } from '../../../contract/cache/held.js'
import { read } from '../../../contract/cache/reader.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'

describe('what differs between a persistent cache and the truth', () => {
  const acme = { customerId: 'acme', resourceId: null }
  const { signal } = new AbortController()
  let redis: Redis
  let prefix: string
  let cache: ExternalCacheWriter
  let truth: ReturnType<typeof state>
  const fetchState: FetchState = async () => truth

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())
  beforeEach(() => {
    prefix = testRedisPrefix()
    cache = new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 })
  })
  afterEach(async () => {
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(keys)
  })

  const forever = { periodEnd: 4_000_000_000_000 }
  const compared = () => compareWithTruth(acme, { cache, fetchState, signal }, 0)
  const mended = () => mend(acme, { cache, fetchState, signal }, 0)

  it('is told by what a reader would answer otherwise', async () => {
    const held = [numeric('seats', 5), enumerated('regions', 'eu'), metered('calls', usage(3, 10, forever)), boolean('sso')]
    truth = state(10, held)
    await cache.writeState(truth)
    expect(await compared()).to.deep.equal([])
    truth = state(20, [numeric('seats', 7), enumerated('regions', 'eu', 'us'), metered('calls', usage(4, 20, forever)), boolean('audit')])
    expect(await compared()).to.have.members([
      'seats.usageLimit is 5, should be 7',
      'regions.enumValues is ["eu"], should be ["eu","us"]',
      'calls.currentUsage is 3, should be 4',
      'sso is not held any more',
      'audit is missing',
    ])
    truth = state(20, [], { deniedReason: 'CustomerIsArchived' })
    expect(await compared()).to.include('accessDeniedReason is null, should be "CustomerIsArchived"')
  })

  it('is nothing of what is a miss for readers, or of a period that has ended', async () => {
    truth = state(10, [boolean('sso')])
    expect(await compared()).to.deep.equal([])
    await cache.writeState(state(10, [metered('calls', usage(9, 10))]))
    truth = state(10, [metered('calls', usage(0, 11, { ...forever, periodStart: 2_000 }))])
    expect(await compared()).to.deep.equal([])
    const site = { customerId: 'acme', resourceId: 'site' }
    await cache.writeState(state(5, [boolean('old')], site))
    expect(await compareWithTruth(site, { cache, fetchState, signal }, 0), 'older than its customer’s').to.deep.equal([])
  })

  it('is told of a usage whose period has ended by the clock of this process, when the platform goes on with it', async () => {
    await cache.writeState(state(10, [metered('calls', usage(3, 10))]))
    truth = state(10, [metered('calls', usage(4, 11))])
    expect(await compared()).to.deep.equal(['calls.currentUsage is 3, should be 4'])
  })

  for (const [title, version] of [
    ['lower than what is there', 10],
    ['higher', 9_000],
  ] as const)
    it(`is mended by a truth of a version that is ${title}, and what comes later is taken`, async () => {
      await cache.writeState(state(5_000, [boolean('never-committed'), metered('calls', usage(9, 6_000, forever))]))
      truth = state(version, [metered('calls', usage(2, version, forever))])
      expect(await mended()).to.equal(true)
      expect(await compared()).to.deep.equal([])
      await cache.writeUsage(acme, { featureId: 'calls', usage: usage(3, version + 1, forever) })
      expect((await read(redis, prefix, 'acme'))?.features.calls?.usage?.currentUsage).to.equal(3)
    })

  it('is mended when nothing is held any more, which tells no version', async () => {
    await cache.writeState(state(5_000, [boolean('sso')]))
    truth = state(0, [], { deniedReason: 'NoActiveSubscription' })
    expect(await mended()).to.equal(true)
    expect(await read(redis, prefix, 'acme')).to.deep.equal({ accessDeniedReason: 'NoActiveSubscription', features: {} })
  })

  it('is not what was only late, and takes nothing away that is written meanwhile', async () => {
    await cache.writeState(state(5_000, [boolean('sso')]))
    truth = state(6_000, [boolean('audit')])
    let asked = 0
    const late: FetchState = async () => {
      if (++asked === 1) setTimeout(() => void cache.writeState(truth), 0)
      return truth
    }
    expect(await compareWithTruth(acme, { cache, fetchState: late, signal }, 50)).to.deep.equal([])
    // A change that is committed and told between reading and writing is seen when it is looked at again.
    truth = state(10, [boolean('one')])
    let isChanged = false
    const changing: FetchState = async () => {
      const answer = truth
      if (!isChanged && (await cache.held(acme)).version === 6_000) {
        isChanged = true
        truth = state(20, [boolean('two')])
        await cache.writeState(truth)
      }
      return answer
    }
    expect(await mend(acme, { cache, fetchState: changing, signal }, 0)).to.equal(true)
    expect(Object.keys((await read(redis, prefix, 'acme'))!.features)).to.deep.equal(['two'])
  })

  describe('after messages were lost on the way', () => {
    const epoch = 1_790_000_000_000
    const lost = async (fetch: FetchState) => {
      const feed = new Feed({ redis, prefix, missingAfterMs: 0 })
      const told = (sequence: number) => ({ ...of('package'), epoch, sequence })
      const of = <K extends string>(kind: K) =>
        ({ v: 1, id: 'm', environmentId: 'e', customerId: '', version: 1, timestamp: 0, kind }) as const
      await feed.settle({ ...of('reload'), epoch })
      await feed.settle(told(1))
      await feed.settle(told(3))
      await feed.beat({ v: 1, id: 'm', environmentId: 'e', kind: 'heartbeat', epoch, sequence: 3, asOf: 77, timestamp: 0 })
      const log = { debug() {}, info() {}, warn() {}, error() {} }
      const api = { warm: () => Promise.reject(new Error('not asked here')) }
      await feed.markFilled('test')
      await new CacheUpkeep({ feed, cache, api, fetchState: fetch, log }).look(signal)
      return feed
    }
    const heartbeat = async () => Number(await redis.get(`${prefix}:heartbeat`))

    it('is gone when everything was read anew, and only then is the heartbeat told', async () => {
      await cache.writeState(state(epoch + 10, [boolean('before-what-was-lost')]))
      truth = state(epoch + 20, [boolean('sso')])
      await lost(async () => {
        expect(await heartbeat()).to.equal(0)
        return truth
      })
      expect(Object.keys((await read(redis, prefix, 'acme'))!.features)).to.deep.equal(['sso'])
      expect(await heartbeat()).to.equal(77)
    })

    it('does not stay for all others when the API fails on one', async () => {
      await cache.writeState(state(epoch + 10, [boolean('stale')]))
      await cache.writeState(state(epoch + 10, [boolean('stale')], { customerId: 'broken' }))
      truth = state(epoch + 20, [boolean('sso')])
      await lost(async ({ customerId }) => {
        if (customerId === 'broken') throw new Problem('UNAVAILABLE', questionFailed, 'it breaks on it')
        return truth
      })
      expect(Object.keys((await read(redis, prefix, 'acme'))!.features)).to.deep.equal(['sso'])
      expect(await heartbeat()).to.equal(77)
    })
  })
})
