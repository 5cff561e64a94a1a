import { LRUCache } from 'lru-cache'
import type { Clock, EpochMs } from '../kernel/clock.js'
import { Problem } from '../kernel/problem.js'
import { Allowance } from './allowance.js'
import type { StoredIdentity } from './records/environments.js'

/** How long a revoked key can go unnoticed by a process. */
const knownMs = 5_000
/** A key in use is looked up again from then on, while what is known of it is good: nobody waits for a database that is busy with others' work. */
const refreshAfterMs = knownMs / 2
/** Who creates a key says so, so that absence can be remembered for longer. It is for when nobody hears it. */
const unknownMs = 60_000
const maxKnown = 10_000
/** A hash is some 150 bytes, so these are 3 MB. */
const maxUnknown = 20_000

/** Of keys that have not been seen before. What turns out to be a key is given back, so this is what made-up ones may cost. */
export const lookupsPerSecond = { address: 20, all: 100 }
/** Of an address: many keys are new at once after a start, and one proxy may bring them all. */
const savedOfAddressMs = 5_000
/** An address that has spent no more than this does not wait for those who look for keys: they have what is left of their own. */
const lookupsOfNewcomer = 3

/** A key as it is looked up: by its text, which costs nothing, and by its hash, which is what the database holds. */
interface KeyToLookUp {
  name: string
  hash: () => Buffer
}

interface Known {
  stored: StoredIdentity
  askedAt: EpochMs
}

/**
 * Keys in the memory of a process. Made-up ones take no place from those that exist, cost one look-up each, and so many a second at most: a key that was seen
 * once is looked up again whatever others do.
 */
export class KeyLookups {
  readonly #load: (hash: Buffer) => Promise<StoredIdentity | null>
  readonly #clock: Clock
  readonly #known = new LRUCache<string, Known>({ max: maxKnown })
  readonly #unknown = new LRUCache<string, EpochMs>({ max: maxUnknown })
  readonly #underWay = new Map<string, Promise<StoredIdentity | null>>()
  readonly #ofAddress = new Allowance({ perSecond: lookupsPerSecond.address, savedMs: savedOfAddressMs })
  readonly #ofAll = new Allowance({ perSecond: lookupsPerSecond.all })
  /** Raised by what makes a look-up that is under way worth nothing. */
  #generation = 0

  constructor({ load, clock }: { load: (hash: Buffer) => Promise<StoredIdentity | null>; clock: Clock }) {
    this.#load = load
    this.#clock = clock
  }

  /** Null: there is no such key. `from`: who is held to the limits. Fails with RESOURCE_EXHAUSTED. */
  async get({ name, hash }: KeyToLookUp, from: string): Promise<StoredIdentity | null> {
    const now = this.#clock.now()
    const known = this.#known.get(name)
    // A clock that was set back must not lengthen an answer's life.
    const age = known ? Math.abs(now - known.askedAt) : Number.POSITIVE_INFINITY
    if (known && age < refreshAfterMs) return known.stored
    const found = this.#underWay.get(name) ?? this.#lookUp({ name, hash }, known ? null : from, now)
    if (!known || age >= knownMs) return found
    // Whoever asks when it is not good any more hears of it.
    found.catch(() => {})
    return known.stored
  }

  /** It may be one that is remembered as unknown. */
  created(hash: Buffer): void {
    this.#generation += 1
    this.#unknown.delete(nameOf(hash))
  }

  /** Keys may have been created without a word of it. */
  forgetUnknown(): void {
    this.#generation += 1
    this.#unknown.clear()
  }

  /** Keys have been changed here: each is looked up again. */
  forgetKnown(): void {
    this.#generation += 1
    for (const known of this.#known.values()) known.askedAt = Number.NEGATIVE_INFINITY
    this.#underWay.clear()
  }

  /** `from` null: it was a key when it was last asked for. */
  async #lookUp({ name, hash: hashOf }: KeyToLookUp, from: string | null, now: EpochMs): Promise<StoredIdentity | null> {
    const hash = hashOf()
    const missedAt = this.#unknown.get(nameOf(hash))
    if (missedAt !== undefined && Math.abs(now - missedAt) < unknownMs) return null
    const giveBack = from === null ? () => {} : this.#take(from)
    const generation = this.#generation
    const answer = this.#load(hash)
    this.#underWay.set(name, answer)
    try {
      const stored = await answer
      if (stored) giveBack()
      if (generation === this.#generation) this.#remember(name, nameOf(hash), stored, now)
      return stored
    } catch (error) {
      giveBack()
      throw error
    } finally {
      if (this.#underWay.get(name) === answer) this.#underWay.delete(name)
    }
  }

  #remember(name: string, hash: string, stored: StoredIdentity | null, askedAt: EpochMs): void {
    if (stored) this.#known.set(name, { stored, askedAt })
    else {
      this.#known.delete(name)
      this.#unknown.set(hash, askedAt)
    }
  }

  /** Answers what gives it back. */
  #take(from: string): () => void {
    const now = performance.now()
    const pool = this.#ofAddress.spent(from, now) < lookupsOfNewcomer ? 'newcomers' : 'others'
    const waitMs = this.#ofAddress.take(from, 1, now) || this.#ofAll.take(pool, 1, now)
    if (waitMs > 0)
      throw new Problem(
        'RESOURCE_EXHAUSTED',
        'RATE_LIMIT_EXCEEDED',
        'Too many unknown API keys came from your address: try again in a moment.',
        {
          details: { retryAfterMs: waitMs },
        },
      )
    return () => {
      this.#ofAddress.giveBack(from, 1, performance.now())
      this.#ofAll.giveBack(pool, 1, performance.now())
    }
  }
}

const nameOf = (hash: Buffer): string => hash.toString('base64')
