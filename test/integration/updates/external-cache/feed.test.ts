import { expect } from 'chai'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { Feed } from '../../../../src/updates/external-cache/feed.js'
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js'
import type { HeartbeatMessage, QueueMessage } from '../../../../src/updates/wire/queue-message.js'
import { message } from '../../../contract/cache/held.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'

describe('what a persistent cache has taken of its queue', () => {
  const epoch = 1_790_000_000_000
  const missingAfterMs = 60_000
  let redis: Redis
  let prefix: string
  let feed: Feed

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())
  beforeEach(() => {
    prefix = testRedisPrefix()
    feed = new Feed({ redis, prefix, missingAfterMs })
  })
  afterEach(async () => {
    const keys = await redis.keys(`${prefix}:*`)
    if (keys.length > 0) await redis.del(keys)
  })

  const common = { v: 1, id: 'm', environmentId: 'e', timestamp: 0 } as const
  const reload = (of = epoch): QueueMessage => ({ ...common, kind: 'reload', epoch: of })
  const change = (sequence: number, of = epoch): QueueMessage => ({ ...message('package', 1), epoch: of, sequence })
  const beat = (sequence: number, asOf: number, of = epoch): HeartbeatMessage => ({
    ...common,
    kind: 'heartbeat',
    epoch: of,
    sequence,
    asOf,
  })
  const heartbeat = async () => Number(await redis.get(`${prefix}:heartbeat`))
  const settleAll = async (messages: readonly QueueMessage[]) => {
    for (const one of messages) await feed.settle(one)
  }

  it('takes no heartbeat of a time that has not come: every entry would count as fresh', async () => {
    await feed.settle(reload())
    await feed.beat(beat(0, Date.now() + 2 * 86_400_000))
    expect(await heartbeat()).to.equal(0)
    const now = Date.now()
    await feed.beat(beat(0, now))
    expect(await heartbeat()).to.equal(now)
  })

  it('says how far it was told of, by whomever, and finds everything missing once that is forgotten', async () => {
    expect(await feed.heard()).to.equal(null)
    await settleAll([reload(), change(1), change(9)])
    expect(await feed.heard()).to.deep.equal({ epoch, sequence: 9 })
    await feed.settle(reload(epoch + 1e12))
    await settleAll([change(2), change(3)])
    expect(await feed.heard()).to.deep.equal({ epoch: epoch + 1e12, sequence: 0 })
    // What is written goes by an epoch of its own key.
    await new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 }).beginEpoch(epoch + 2e12)
    expect(await feed.heard()).to.deep.equal({ epoch: epoch + 2e12, sequence: 0 })
    await feed.forget()
    expect(await feed.heard()).to.equal(null)
    await feed.beat(beat(3, Date.now()))
    expect(await feed.missing(missingAfterMs)).to.deep.equal({ epoch, sequence: 3 })
  })

  it('is proven by a heartbeat once everything before it is applied, in any order and with repeats, and by none sooner', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }).chain((last) => {
          const all = [reload(), ...Array.from({ length: last }, (_, n) => change(n + 1))]
          return fc.tuple(
            fc.constant(last),
            fc.shuffledSubarray(all, { minLength: all.length }),
            fc.shuffledSubarray(all),
            fc.nat(all.length),
          )
        }),
        async ([last, order, again, heardAfter]) => {
          prefix = testRedisPrefix()
          feed = new Feed({ redis, prefix, missingAfterMs })
          await settleAll(order.slice(0, heardAfter))
          await feed.beat(beat(last, 77))
          for (const one of order.slice(heardAfter)) {
            expect(await heartbeat(), 'before all is applied').to.equal(0)
            await feed.settle(one)
          }
          expect(await heartbeat()).to.equal(77)
          await settleAll(again)
          expect(await feed.missing(missingAfterMs)).to.equal(null)
          await feed.beat(beat(last, 99))
          expect(await heartbeat()).to.equal(99)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('keeps the oldest heartbeat that waits, so that many messages under way do not put off the proof for ever', async () => {
    await settleAll([reload(), change(1)])
    await feed.beat(beat(2, 10))
    await feed.beat(beat(4, 20))
    await feed.settle(change(2))
    expect(await heartbeat()).to.equal(10)
  })

  it('does not go back to a heartbeat that comes again, but does in a new epoch, whose clock may be behind', async () => {
    await settleAll([reload(), change(1)])
    await feed.beat(beat(1, 20))
    await feed.beat(beat(0, 10))
    expect(await heartbeat()).to.equal(20)
    await feed.settle(reload(epoch + 10))
    await feed.beat(beat(0, 15, epoch + 10))
    expect(await heartbeat()).to.equal(15)
  })

  it('notices a number that is missing, once for all copies, and no other after everything was read anew', async () => {
    await settleAll([reload(), change(1), change(3)])
    const later = missingAfterMs
    expect(await feed.missing(), 'it may still come').to.equal(null)
    const copies = await Promise.all([feed.missing(later), new Feed({ redis, prefix, missingAfterMs }).missing(later)])
    expect(copies).to.have.deep.members([{ epoch, sequence: 3 }, null])
    await feed.mend({ epoch, sequence: 3 })
    expect(await feed.missing(later + 2 * missingAfterMs)).to.equal(null)
    await feed.beat(beat(3, 30))
    expect(await heartbeat()).to.equal(30)
  })

  it('notices it at the end of what was told by the heartbeat after it', async () => {
    await settleAll([reload(), change(1)])
    await feed.beat(beat(2, 20))
    expect(await feed.missing(missingAfterMs)).to.deep.equal({ epoch, sequence: 2 })
  })

  it('notices an epoch that it was not told the beginning of, and does not know an older one any more', async () => {
    await settleAll([reload(), change(1)])
    await feed.settle(change(1, epoch + 10))
    await feed.settle(change(2))
    await feed.beat(beat(1, 50, epoch + 10))
    await feed.beat(beat(1, 40))
    expect(await heartbeat(), 'nobody has read anew').to.equal(0)
    expect(await feed.missing(missingAfterMs)).to.deep.equal({ epoch: epoch + 10, sequence: 1 })
  })

  it('takes a message that waits for something that is away for no lost one', async () => {
    await settleAll([reload(), change(2)])
    await feed.wait(change(1))
    expect(await feed.missing(missingAfterMs)).to.equal(null)
    expect(await feed.missing(24 * 3_600_000), 'for ever').to.deep.equal({ epoch, sequence: 2 })
  })

  it('counts nothing of messages without a number', async () => {
    await feed.settle(message('package', 1))
    expect(await redis.keys(`${prefix}:*`)).to.deep.equal([])
    expect(await feed.missing(missingAfterMs)).to.equal(null)
  })

  it('is cold until it is filled, and when it was lost with all that it held', async () => {
    expect(await feed.isCold()).to.equal(true)
    await feed.markFilled('warming-1')
    expect(await feed.isCold()).to.equal(false)
    await redis.del(`${prefix}:filled`)
    expect(await feed.isCold()).to.equal(true)
  })
})
