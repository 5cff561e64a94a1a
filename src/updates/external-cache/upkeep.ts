import type { Log } from '../../kernel/log.js'
import { Problem } from '../../kernel/problem.js'
import type { FetchState } from './apply.js'
import type { Feed } from './feed.js'
import { reload } from './reload.js'
import { questionFailed, type StateApi } from './state-api.js'
import type { ExternalCacheWriter } from './writer.js'

/** An API that does not warm is not asked at each look. */
const pauseMs = 60_000

/**
 * What no message tells: that the cache is empty, and is to be filled; that messages were lost, so that everything is read anew. Each copy of the consumer looks,
 * and one of them does it.
 */
export class CacheUpkeep {
  readonly #feed: Feed
  readonly #cache: ExternalCacheWriter
  readonly #api: Pick<StateApi, 'warm'>
  readonly #fetchState: FetchState
  readonly #log: Log
  readonly #settleMs: number | undefined
  #notBefore = 0

  /** `settleMs`: see mend. */
  constructor(parts: {
    feed: Feed
    cache: ExternalCacheWriter
    api: Pick<StateApi, 'warm'>
    fetchState: FetchState
    log: Log
    settleMs?: number
  }) {
    this.#feed = parts.feed
    this.#cache = parts.cache
    this.#api = parts.api
    this.#fetchState = parts.fetchState
    this.#log = parts.log
    this.#settleMs = parts.settleMs
  }

  async look(signal: AbortSignal): Promise<void> {
    if (await this.#feed.isCold()) await this.#fill(signal)
    const gap = await this.#feed.missing()
    if (gap === null) return
    this.#log.warn({ ...gap }, 'messages of the queue are missing: everything is read anew')
    try {
      await reload(gap, { cache: this.#cache, fetchState: this.#fetchState, signal, settleMs: this.#settleMs })
    } catch (error) {
      // What the API fails on would fail again: nothing else waits for it.
      if (signal.aborted || Problem.from(error).reason !== questionFailed) throw error
      this.#log.error({ err: error }, 'an entry could not be read anew')
    }
    await this.#feed.mend(gap)
  }

  async #fill(signal: AbortSignal): Promise<void> {
    if (performance.now() < this.#notBefore) return
    try {
      const id = await this.#api.warm(signal)
      await this.#feed.markFilled(id)
      this.#log.info({ warming: id }, 'the cache was empty: the platform tells everything')
    } catch (error) {
      this.#notBefore = performance.now() + pauseMs
      this.#log.warn({ err: error }, 'the cache is empty, and fills with changes: it is not warmed yet')
    }
  }
}
