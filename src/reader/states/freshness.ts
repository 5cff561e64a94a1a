import type { EpochMs } from '../../kernel/clock.js'
import type { CacheEntry } from './entry.js'

/**
 * How far an entry can be trusted.
 *
 * fresh    answered as it is
 * suspect  answered as it is while it is refreshed: a change may have been missed, or a usage period ended
 * old      refreshed before it is answered; the API not answering, it is answered all the same
 * miss     must not be answered: expired, or older than the configured staleness
 */
type Freshness = 'fresh' | 'suspect' | 'old' | 'miss'

/** Of an entry that somebody here has made out of date: whatever is told, it is old until it is read anew. */
export const outdatedEpoch = -1

interface FreshnessLimits {
  /** Age from which an entry is old when no real-time connection vouches for it. */
  refreshAfterMs: number
  /** Age from which an unvouched entry is a miss. */
  maxStalenessMs: number
}

/**
 * Knows whether the real-time connection vouches for an entry: it does when every message since the read of the entry began has
 * arrived here, so when the same epoch lasts. An epoch ends with the connection, or when a message could not be read; it is resumed when the
 * next connection tells all that was missed meanwhile. What proves the connection is good for a while only: a process that was stopped answers before it
 * finds out what became of its connection.
 */
export class FreshnessJudge {
  /** Grows with each epoch. */
  #latestEpoch = 0
  #isVouching = false
  /** When what has proved the connection last was asked for: entries read in the latest epoch were right then. */
  #provenAt: EpochMs = 0
  #provenUntil: EpochMs = 0

  constructor(private readonly limits: FreshnessLimits) {}

  /** The epoch that an entry read now belongs to; 0 while none lasts. */
  get epoch(): number {
    return this.#isVouching ? this.#latestEpoch : 0
  }

  /** Until when all that was told has arrived, for certain. */
  get provenAt(): EpochMs {
    return this.#provenAt
  }

  /** All messages from before the first instant have arrived; the next proof is due before the second one. */
  prove(at: EpochMs, until: EpochMs): void {
    this.#provenAt = at
    this.#provenUntil = until
  }

  /** From now on no message gets lost. */
  beginEpoch(): void {
    this.#latestEpoch++
    this.#isVouching = true
  }

  /** All messages since the latest epoch ended have been told after all: it goes on as if it had not ended. */
  resumeEpoch(): void {
    this.#isVouching = this.#latestEpoch > 0
  }

  /** Messages since the last proof may be lost. */
  endEpoch(): void {
    this.#isVouching = false
  }

  judge(entry: CacheEntry, now: EpochMs): Freshness {
    if (now >= entry.expiresAt) return 'miss'
    if (entry.suspectSince !== null && this.ageMs(entry, now) >= this.limits.maxStalenessMs) return 'miss'
    if (entry.epoch === outdatedEpoch) return this.ageMs(entry, now) >= this.limits.maxStalenessMs ? 'miss' : 'old'
    const isVouching = this.#isVouching && now < this.#provenUntil
    if (entry.epoch !== this.#latestEpoch || !isVouching) {
      const age = this.ageMs(entry, now)
      if (age >= this.limits.maxStalenessMs) return 'miss'
      if (age >= this.limits.refreshAfterMs) return 'old'
      // With a connection again, there was a gap that nobody vouches for; without one, this is as good as it gets.
      if (isVouching) return 'suspect'
    }
    return entry.suspectSince !== null || now >= entry.usagePeriodEnd ? 'suspect' : 'fresh'
  }

  /** Time since the entry was last known to be right; 0 while it is vouched for and not suspect. */
  ageMs(entry: CacheEntry, now: EpochMs): number {
    return now - Math.min(this.#vouchedUntil(entry, now), entry.suspectSince ?? now)
  }

  #vouchedUntil({ epoch, fetchedAt }: CacheEntry, now: EpochMs): EpochMs {
    if (epoch === 0 || epoch !== this.#latestEpoch) return fetchedAt
    return this.#isVouching && now < this.#provenUntil ? now : Math.max(fetchedAt, this.#provenAt)
  }
}
