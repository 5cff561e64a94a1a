import { performance } from 'node:perf_hooks'
import { Counter, Histogram, latencyBuckets, type Registry } from '../platform/metrics.js'
import { leaseMs } from './wire/holders.js'

/** Who has acknowledged an announcement, and who is to. */
interface Unheard {
  by: Set<string>
  /** Null: not known, or everybody that there may be. */
  holders: readonly string[] | null
  done: () => void
}

/** The announcements of a process that others have not all acknowledged, by their number. */
export class UnheardAnnouncements {
  readonly #unheard = new Map<number, Unheard>()
  readonly #seconds: Histogram
  readonly #lost: Counter
  #last = 0

  constructor(metrics: Registry) {
    const registers = [metrics]
    this.#seconds = new Histogram({
      name: 'tollgate_announcement_seconds',
      help: 'From the commit of a change until every web process knew of it',
      buckets: latencyBuckets,
      registers,
    })
    this.#lost = new Counter({
      name: 'tollgate_announcements_unheard_total',
      help: 'Announcements that some web process did not acknowledge, or that Redis did not take',
      registers,
    })
  }

  /** The number of the next one. */
  begin(): number {
    this.#last += 1
    this.#unheard.set(this.#last, { by: new Set(), holders: null, done: () => undefined })
    return this.#last
  }

  forget(number: number): void {
    this.#unheard.delete(number)
  }

  /** Ends when each of the holders has acknowledged it, or the lease is over; null: it is not known who they are. Never fails. */
  heardByAll(number: number, published: Promise<readonly string[] | null>): Promise<void> {
    const startedAt = performance.now()
    const unheard = this.#unheard.get(number)!
    return new Promise((resolve) => {
      const end = (isHeard: boolean) => {
        clearTimeout(lease)
        this.#unheard.delete(number)
        if (!isHeard) this.#lost.inc()
        this.#seconds.observe((performance.now() - startedAt) / 1000)
        resolve()
      }
      let lease: NodeJS.Timeout | undefined
      unheard.done = () => end(true)
      published
        // Counted from when it was published, or may have been at the latest.
        .finally(() => {
          if (this.#unheard.has(number)) lease = setTimeout(end, leaseMs, false)
        })
        .then((holders) => {
          unheard.holders = holders
          this.acknowledged(number)
        })
        .catch(() => undefined)
    })
  }

  /** `by` may say so more than once: a batch that is worked on twice is announced twice. */
  acknowledged(number: number, by?: string): void {
    const unheard = this.#unheard.get(number)
    if (!unheard) return
    if (by !== undefined) unheard.by.add(by)
    if (unheard.holders?.every((name) => unheard.by.has(name))) unheard.done()
  }
}
