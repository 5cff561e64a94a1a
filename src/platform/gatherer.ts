import { setTimeout as sleep } from 'node:timers/promises'
import { storeErrorOf } from '../kernel/store-errors.js'

interface Waiting<T> {
  item: T
  resolve: () => void
  reject: (error: unknown) => void
}

interface Lane<T> {
  waiting: Waiting<T>[]
  isBusy: boolean
}

/** After so long without another item, one that waits is not kept waiting for more. */
const quietMs = 100

/**
 * Gathers what arrives for a lane while its last lot is worked on, and has it worked on together: one lot at a time per lane. After a lot a lane rests for
 * as long as that took while more arrives, so that under load lots are large, and what they share is done once; a lone item waits for nobody. A lot that
 * fails is split, so that an item fails only for its own sake, unless what it needs is away.
 */
export class Gatherer<T> {
  readonly #lanes = new Map<string, Lane<T>>()
  #stopped: Error | null = null

  constructor(
    private readonly maxItems: number,
    private readonly work: (lane: string, items: T[]) => Promise<void>,
    private readonly longLotMs: number | null = null,
  ) {}

  /** Ends when the item has been worked on; fails as that failed. */
  add(name: string, item: T): Promise<void> {
    if (this.#stopped) return Promise.reject(this.#stopped)
    return new Promise((resolve, reject) => {
      const lane = this.#lanes.get(name) ?? { waiting: [], isBusy: false }
      this.#lanes.set(name, lane)
      lane.waiting.push({ item, resolve, reject })
      if (!lane.isBusy) void this.#run(name, lane)
    })
  }

  /** What is not worked on yet fails with `error`, and what is added from now on. */
  stop(error: Error): void {
    this.#stopped = error
    for (const { waiting } of this.#lanes.values()) for (const { reject } of waiting.splice(0)) reject(error)
  }

  async #run(name: string, lane: Lane<T>): Promise<void> {
    lane.isBusy = true
    // Items that arrive in the same turn go together.
    await new Promise(setImmediate)
    let most = this.maxItems
    while (lane.waiting.length > 0) {
      const startedAt = performance.now()
      await this.#lot(name, lane.waiting.splice(0, most))
      if (this.longLotMs === null) continue
      const tookMs = performance.now() - startedAt
      most = tookMs > this.longLotMs ? Math.max(1, most >> 1) : Math.min(this.maxItems, most * 2)
      await rest(lane, most, Math.min(this.longLotMs, tookMs))
    }
    this.#lanes.delete(name)
  }

  async #lot(name: string, lot: Waiting<T>[]): Promise<void> {
    try {
      await this.work(
        name,
        lot.map(({ item }) => item),
      )
      for (const { resolve } of lot) resolve()
    } catch (error) {
      // Where nobody answers, the parts would wait as long one after the other; and the lot may have been worked on.
      if (lot.length === 1 || storeErrorOf(error) === 'away') {
        for (const { reject } of lot) reject(error)
        return
      }
      const half = lot.length >> 1
      await this.#lot(name, lot.slice(0, half))
      await this.#lot(name, lot.slice(half))
    }
  }
}

/** Ends when the lane has `most` items, when no more arrive, or after `restMs`. */
async function rest(lane: Lane<unknown>, most: number, restMs: number): Promise<void> {
  for (let leftMs = restMs; leftMs > 0 && lane.waiting.length < most; leftMs -= quietMs) {
    const waiting = lane.waiting.length
    await sleep(Math.min(quietMs, leftMs))
    if (lane.waiting.length === waiting) return
  }
}
