import { expect } from 'chai'
import { Redis } from 'ioredis'
import { applyChange, type FetchState } from '../../../../src/updates/external-cache/apply.js'
import { reload } from '../../../../src/updates/external-cache/reload.js'
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js'
import type { ChangeMessage } from '../../../../src/updates/wire/change-message.js'
import { boolean, message, metered, state, stateMessage, usage, usageMessage } from '../../../contract/cache/held.js'
import { read } from '../../../contract/cache/reader.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'

/** Each was told of a commit that was lost with its database; a new epoch begins after it. */
describe('what an external cache was told that is undone', () => {
  const forever = { periodEnd: 4_000_000_000_000 }
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

  const tell = (change: ChangeMessage, epoch: number) => applyChange({ ...change, epoch, sequence: 1 }, { cache, fetchState, signal })
  const begin = (epoch: number) => reload({ epoch }, { cache, fetchState, signal, settleMs: 0 })
  const seen = async () => {
    const reading = await read(redis, prefix, 'acme')
    return reading && Object.fromEntries(Object.entries(reading.features).map(([refId, held]) => [refId, held.usage?.currentUsage ?? null]))
  }

  it('is gone also when it is of the very instant in which the epoch began', async () => {
    await begin(100)
    await tell(stateMessage(state(200, [boolean('undone')])), 100)
    truth = state(150, [boolean('sso')])
    await begin(200)
    expect(await seen()).to.deep.equal({ sso: null })
  })

  it('is gone when it was usage that came before any entry', async () => {
    await begin(100)
    await tell(usageMessage('calls', usage(9, 180, forever)), 100)
    truth = state(150, [metered('calls', usage(2, 150, forever))])
    await begin(200)
    await tell(stateMessage({ ...truth, version: 250 }), 200)
    expect(await seen()).to.deep.equal({ calls: 2 })
  })

  it('keeps nobody out when it was the end of a customer', async () => {
    await begin(100)
    await tell(message('purge', 180), 100)
    truth = state(150, [boolean('sso')])
    await begin(200)
    await tell(stateMessage({ ...truth, version: 250 }), 200)
    expect(await seen()).to.deep.equal({ sso: null })
    // What is older is still kept out, when it was told before the epoch.
    await tell(message('purge', 260), 200)
    await tell(stateMessage({ ...truth, version: 255 }), 200)
    expect(await seen()).to.equal(null)
  })
})
