import { expect } from 'chai'
import type { EntitlementState } from '../../../src/entitlement/rules/state.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Life } from '../../../src/platform/process.js'
import { loosePrefix } from '../../../src/platform/redis/slots.js'
import { openRedis, type Redis } from '../../../src/platform/redis.js'
import { mergeStates } from '../../../src/updates/held/merge-state.js'
import { StateCache } from '../../../src/updates/held/state-cache.js'
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js'

const state = (version: number, fields: Partial<EntitlementState> = {}): EntitlementState => ({
  environmentId: 'environment',
  customerId: 'acme',
  resourceId: null,
  version,
  accessVersion: version,
  deniedReason: null,
  entitlements: [],
  ...fields,
})

describe('the cache of states', () => {
  const life = new Life('test', silentLogger())
  const prefix = testRedisPrefix()
  const epoch = { current: '7-1' }
  let redis: Redis
  let cache: StateCache

  before(() => {
    redis = openRedis(life, testRedisUrl(), 'request')
    cache = new StateCache(redis, prefix, epoch)
  })
  after(async () => expect(await life.stop()).to.deep.equal([]))
  afterEach(async () => {
    const keys = await redis.keys(`${loosePrefix(prefix)}:*`)
    if (keys.length > 0) await redis.del(keys)
  })

  const put = (value: EntitlementState) => cache.update(value, () => value)
  async function read(of: Pick<EntitlementState, 'environmentId' | 'customerId' | 'resourceId'>): Promise<number | null> {
    let version: number | null = null
    await cache.update(of, (stored) => {
      version = stored?.version ?? null
      return null
    })
    return version
  }

  it('is of one history of the database', async () => {
    await put(state(9))
    epoch.current = '7-2'
    expect(await read(state(0))).to.equal(null)
    await put(state(8))
    expect(await read(state(0))).to.equal(8)
  })

  it('loses none of many writers at once', async () => {
    await Promise.all(Array.from({ length: 30 }, () => cache.update(state(0), (stored) => state((stored?.version ?? 0) + 1))))
    expect(await read(state(0))).to.equal(30)
  })

  it('keeps the newest in whatever order writers come', async () => {
    await Promise.all([3, 9, 1, 7].map((version) => cache.update(state(version), (stored) => mergeStates(stored, state(version)))))
    expect(await read(state(0))).to.equal(9)
  })

  it('leaves it alone when the change is none', async () => {
    await put(state(5))
    expect(await cache.update(state(0), () => null)).to.equal(null)
    expect(await read(state(0))).to.equal(5)
  })

  it('keeps customers and resources apart whose identifiers look alike', async () => {
    const alike: [string, string | null][] = [
      ['a', null],
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['a:b:c', null],
      ['1:a', null],
      ['a', '1'],
      ['', 'a'],
    ]
    for (const [index, [customerId, resourceId]] of alike.entries()) await put(state(index, { customerId, resourceId }))
    for (const [index, [customerId, resourceId]] of alike.entries())
      expect(await read(state(0, { customerId, resourceId }))).to.equal(index)
    expect(await read(state(0, { environmentId: 'other', customerId: 'a' }))).to.equal(null)
  })

  it('forgets what nobody changes for a week', async () => {
    await put(state(1))
    const [key] = await redis.keys(`${loosePrefix(prefix)}:*`)
    expect(await redis.ttl(key!)).to.be.within(7 * 86_400 - 60, 7 * 86_400)
  })
})
