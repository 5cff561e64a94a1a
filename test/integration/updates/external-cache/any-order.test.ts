import { expect } from 'chai'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import type { EntitlementState } from '../../../../src/entitlement/rules/state.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { applyChange } from '../../../../src/updates/external-cache/apply.js'
import { Feed } from '../../../../src/updates/external-cache/feed.js'
import { reload } from '../../../../src/updates/external-cache/reload.js'
import { CacheUpkeep } from '../../../../src/updates/external-cache/upkeep.js'
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js'
import type { QueueMessage } from '../../../../src/updates/wire/queue-message.js'
import { type Reading, read } from '../../../contract/cache/reader.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'
import { anyTelling, platformOf, resources } from './told-history.js'

/** More with `CACHE_ORDER_RUNS`, which begins anywhere unless `CACHE_ORDER_SEED` says where. */
const runs = Number(process.env.CACHE_ORDER_RUNS ?? 60)
const seed = process.env.CACHE_ORDER_SEED ? Number(process.env.CACHE_ORDER_SEED) : process.env.CACHE_ORDER_RUNS ? undefined : 20_261_129

const log = { debug() {}, info() {}, warn() {}, error() {} }
const { signal } = new AbortController()

/** What readers make of it: why nothing is held, and by feature the usage. */
const seenOf = (reading: Reading) =>
  reading && {
    denied: reading.accessDeniedReason,
    usages: Object.fromEntries(Object.entries(reading.features).map(([refId, { usage }]) => [refId, usage?.currentUsage ?? null])),
  }
const rightOf = ({ deniedReason, entitlements }: EntitlementState) => ({
  denied: deniedReason,
  usages: Object.fromEntries(entitlements.map(({ feature, usage }) => [feature.refId, usage && decimal.toNumber(usage.currentUsage)])),
})

describe('messages of several epochs to the external cache', () => {
  let redis: Redis

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())

  for (const [title, inFlight] of [
    ['one by one', 1],
    ['several at once', 4],
  ] as const)
    it(`end with the truth, whatever the order, the repeats and the losses, ${title}`, async () => {
      await fc.assert(
        fc.asyncProperty(anyTelling, async ({ history, all, again, lateness }) => {
          const prefix = testRedisPrefix()
          const cache = new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 })
          const feed = new Feed({ redis, prefix, missingAfterMs: 0 })
          const fetchState = platformOf(history, lateness)
          const parts = { cache, fetchState, signal, settleMs: 0 }
          // As the worker does (workers/queue-consumption.ts).
          const apply = async (message: QueueMessage) => {
            if (message.kind === 'heartbeat') return feed.beat(message)
            await (message.kind === 'reload' ? reload(message, parts) : applyChange(message, parts))
            await feed.settle(message)
          }
          const told = [...all, ...again]
          const heartbeat = async () => Number(await redis.get(`${prefix}:heartbeat`))
          let latest = 0
          for (let from = 0; from < told.length; from += inFlight) {
            await Promise.all(told.slice(from, from + inFlight).map(apply))
            expect(await heartbeat(), 'heartbeat, after one that was later').to.be.at.least(latest)
            latest = await heartbeat()
          }
          // The next heartbeat shows what is missing, and the next look reads everything anew; the one after it is proven at once.
          await feed.beat(history.heartbeat)
          await feed.markFilled('test')
          await new CacheUpkeep({
            feed,
            cache,
            api: { warm: () => Promise.reject(new Error('it is filled')) },
            fetchState: platformOf(history, [Infinity]),
            log,
            settleMs: 0,
          }).look(signal)
          await feed.beat(history.heartbeat)

          const { truth } = history.truths.at(-1)!
          for (const [i, resourceId] of resources.entries()) {
            const seen = seenOf(await read(redis, prefix, 'acme', resourceId))
            // What is not held is a miss: readers ask the platform.
            if (seen !== null || history.mustHold[i]) expect(seen, resourceId ?? 'customer').to.deep.equal(rightOf(truth[i]!))
          }
          expect(await heartbeat(), 'heartbeat').to.equal(history.heartbeat.asOf)
          const keys = await redis.keys(`${prefix}:*`)
          if (keys.length > 0) await redis.del(keys)
        }),
        { numRuns: runs, seed, endOnFailure: process.env.CACHE_ORDER_SHRINK === undefined },
      )
    }).timeout(60_000 + 1_000 * runs)
})
