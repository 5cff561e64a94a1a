import { expect } from 'chai'
import { FrozenClock } from '../../../../src/kernel/clock.js'
import { StateReader } from '../../../../src/reader/api/messages.js'
import { entryKey } from '../../../../src/reader/cache/cache.js'
import { MemoryCache } from '../../../../src/reader/cache/memory.js'
import { ApiSource, type ApiSourceParts } from '../../../../src/reader/source/api-source.js'
import { toEntry } from '../../../../src/reader/states/cached-state.js'
import { ReaderFigures } from '../../../../src/reader/states/figures.js'
import { FreshnessJudge } from '../../../../src/reader/states/freshness.js'
import { RightsPool } from '../../../../src/reader/states/rights.js'
import { held, state } from '../states.js'

const silent = () => {}
const nobody = () => Promise.reject(new Error('not asked here'))

describe('what is known to have changed while a reader was not told', () => {
  /** Cut off at 0, told at 1,010 that the customer has changed meanwhile; the API does not answer. */
  function toldOf(readAt: number) {
    const clock = new FrozenClock(1_010)
    const judge = new FreshnessJudge({ refreshAfterMs: 30, maxStalenessMs: 100 })
    const cache = new MemoryCache(1_000_000)
    const source = new ApiSource({
      cache,
      judge,
      clock,
      api: { fetchState: () => new Promise(() => {}) },
      usage: { reportUsage: nobody, reportUsageBulk: nobody, reportEvents: nobody },
      states: new StateReader(new RightsPool()),
      metrics: Object.assign(new ReaderFigures(), { apiSeconds: { startTimer: () => silent } }),
      log: { debug: silent, info: silent, warn: silent, error: silent },
    } satisfies ApiSourceParts)
    judge.prove(0, 20)
    judge.beginEpoch()
    const entry = toEntry(state(1, [held('a', 1, 1)]), readAt === 0 ? judge.epoch : 0, readAt)
    judge.endEpoch()
    cache.set(entryKey('c', null), entry)
    judge.prove(1_005, 1_025)
    judge.resumeEpoch()
    source.applyUnknown('c', 0)
    return source.peek('c', null, clock.now(), 50)
  }

  it('is no answer when it was read before that', () => {
    expect(toldOf(0)).to.equal(undefined)
  })

  it('is as old as its reading when it was read meanwhile', () => {
    expect(toldOf(1_000)?.suspectSince).to.equal(1_000)
  })
})
