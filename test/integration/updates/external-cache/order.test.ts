import { expect } from 'chai'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import type { Entitlement } from '../../../../src/entitlement/rules/state.js'
import { applyChange } from '../../../../src/updates/external-cache/apply.js'
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js'
import type { ChangeMessage } from '../../../../src/updates/wire/change-message.js'
import { boolean, message, metered, state, stateMessage, usage, usageMessage } from '../../../contract/cache/held.js'
import { read } from '../../../contract/cache/reader.js'
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js'

/** More with `CACHE_ORDER_RUNS`, which begins anywhere unless `CACHE_ORDER_SEED` says where. */
const runs = Number(process.env.CACHE_ORDER_RUNS ?? 60)
const seed = process.env.CACHE_ORDER_SEED ? Number(process.env.CACHE_ORDER_SEED) : process.env.CACHE_ORDER_RUNS ? undefined : 20_261_129

/** What happens to a customer and its one resource, each at the next version. */
type Happening =
  | { type: 'access'; featureIds: string[] }
  | { type: 'usage'; featureId: string; value: number; ofResource: boolean }
  | { type: 'rebuild' }
  | { type: 'purge' }

const features = ['calls', 'seats', 'sso']
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ type: fc.constant('access' as const), featureIds: fc.subarray(features) }),
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('usage' as const),
      featureId: fc.constantFrom('calls', 'seats'),
      value: fc.nat(9),
      ofResource: fc.boolean(),
    }),
  },
  fc.constant({ type: 'rebuild' as const }),
  fc.constant({ type: 'purge' as const }),
)

const resources = [null, 'site-1'] as const
type Usages = Record<string, { value: number; updatedAt: number }>

/** Plays a history as the platform does: the messages it sends, and the usage by feature that readers must see at its end (null: a miss). */
function play(history: Happening[]): { messages: ChangeMessage[]; end: (Record<string, number | null> | null)[] } {
  const messages: ChangeMessage[] = []
  let held: string[] | null = null
  let accessVersion = 0
  const usages: [Usages, Usages] = [{}, {}]
  const entitlement = (of: Usages, refId: string): Entitlement =>
    refId === 'sso' ? boolean(refId) : metered(refId, usage(of[refId]!.value, of[refId]!.updatedAt))
  const tellStates = (version: number) => {
    for (const [i, resourceId] of resources.entries())
      messages.push(
        stateMessage(
          state(
            accessVersion,
            held!.map((refId) => entitlement(usages[i]!, refId)),
            { resourceId, version },
          ),
        ),
      )
  }
  for (const [i, event] of history.entries()) {
    const version = i + 1
    if (event.type === 'purge') {
      held = null
      messages.push(message('purge', version))
    } else if (event.type === 'access') {
      held = event.featureIds
      accessVersion = version
      // Usage starts again, as on a change of plan.
      for (const of of usages) for (const refId of features) of[refId] = { value: 0, updatedAt: version }
      tellStates(version)
    } else if (held === null) {
      // Nothing is told of a customer that holds nothing.
    } else if (event.type === 'rebuild') {
      tellStates(version)
    } else if (held.includes(event.featureId)) {
      const which = event.ofResource ? 1 : 0
      usages[which][event.featureId] = { value: event.value, updatedAt: version }
      messages.push(usageMessage(event.featureId, usage(event.value, version), resources[which]))
    }
  }
  const seen = (of: Usages) => held && Object.fromEntries(held.map((refId) => [refId, refId === 'sso' ? null : of[refId]!.value]))
  return { messages, end: usages.map(seen) }
}

/** A history, and its messages in any order with some of them again. */
const told = fc
  .array(happening, { minLength: 1, maxLength: 12 })
  .map(play)
  .chain(({ messages, end }) =>
    fc
      .tuple(fc.shuffledSubarray(messages, { minLength: messages.length }), fc.shuffledSubarray(messages))
      .map(([all, again]) => ({ messages: [...all, ...again], end })),
  )

describe('order of messages to the external cache', () => {
  let redis: Redis

  before(() => {
    redis = new Redis(testRedisUrl())
  })
  after(() => redis.disconnect())

  for (const [title, inFlight] of [
    ['one by one', 1],
    ['several at once', 5],
  ] as const) {
    it(`ends with what the customer holds now, whatever the order and the repeats, ${title}`, async () => {
      await fc.assert(
        fc.asyncProperty(told, async ({ messages, end }) => {
          const prefix = testRedisPrefix()
          const cache = new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 })
          const fetchState = () => Promise.reject(new Error('every message has its state'))
          for (let from = 0; from < messages.length; from += inFlight)
            await Promise.all(
              messages
                .slice(from, from + inFlight)
                .map((each) => applyChange(each, { cache, fetchState, signal: new AbortController().signal })),
            )

          for (const [i, resourceId] of resources.entries()) {
            const reading = await read(redis, prefix, 'acme', resourceId)
            const seen =
              reading &&
              Object.fromEntries(Object.entries(reading.features).map(([refId, { usage: held }]) => [refId, held?.currentUsage ?? null]))
            expect(seen, resourceId ?? 'customer').to.deep.equal(end[i])
          }
          // After a purge not even a value that nobody reads is left.
          const isPurged = end[0] === null
          if (isPurged) expect((await redis.keys(`${prefix}:*`)).filter((key) => !key.endsWith('#timestamp'))).to.deep.equal([])
          const keys = await redis.keys(`${prefix}:*`)
          if (keys.length > 0) await redis.del(keys)
        }),
        { numRuns: runs, seed },
      )
    }).timeout(60_000 + 300 * runs)
  }

  it('ends so for a customer of more features than a call of Lua has arguments', async () => {
    const prefix = testRedisPrefix()
    const cache = new ExternalCacheWriter({ redis, prefix, ttlSeconds: 60 })
    const of = (version: number, value: number) =>
      state(
        version,
        Array.from({ length: 9_000 }, (_, n) => metered(`feature-${n}`, usage(value, version))),
      )
    for (const [version, value] of [
      [2, 22],
      [1, 11],
      [3, 33],
    ] as const)
      await cache.writeState(of(version, value))
    const { features: held } = (await read(redis, prefix, 'acme', null))!
    expect(new Set(Object.values(held).map(({ usage: of }) => of?.currentUsage))).to.deep.equal(new Set([33]))
    await redis.del(await redis.keys(`${prefix}:*`))
  }).timeout(20_000)
})
