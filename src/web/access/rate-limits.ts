import { Allowance } from '../../environment/allowance.js'
import { Problem } from '../../kernel/problem.js'
import type { Identity } from './auth.js'

export interface RateLimitOptions {
  /** Requests per second of one key. An operation of a list is a request. */
  perKey: number
  /** Requests per second of one customer with its token: what a browser, or whoever took its token, may ask. */
  perCustomer: number
  /** Requests per second from one address, whatever the keys. */
  perAddress: number
}

/** Fields of large answers that a second may have: of one key about a third of a core, as 1,000 take 0.9 ms. Many customers share a client key, and some keys an address. */
export const costPerKey = 400_000
export const costPerCustomer = 100_000
export const costPerAddress = 800_000
/** Of a check that PostgreSQL is asked for, in the same points: when it has nothing newer than what is in Redis, and when the state has to be built of its rows. */
export const strongReadCost = { compared: 1_000, built: 5_000 }
/** Pages and their files that an address is given in a second without a key: a page has some five files, and each costs everybody a part of a millisecond. */
export const pagesPerAddress = 100
/** Bytes of pages and their files that an address is given in a second without a key. The largest page of the docs, and the editor, have less than 2 MB. */
export const pageBytesPerAddress = 16 * 2 ** 20
/** Bytes of what is there already that are given in the time of a point, with room to spare: a MB takes about half a millisecond to write. */
export const bytesPerPoint = 1_000
/** Characters of what is sent that are read and checked in the time of a field of an answer. */
export const charactersPerField = 100
/** Bytes of an answer that is made that a field of it accounts for: most have some 20. A MB of few fields, which is JSON, takes 2 to 25 ms to count and write. */
export const bytesPerField = 100
/** Seconds of them that can be had at once: a page asks for several things, and then for nothing. */
const savedMs = 3_000

/**
 * Counts in this process: a request that is within its limits costs no other system anything, and several processes let through that many times
 * as much. The purpose is that one caller cannot take a process from all others. Who has had too many large answers is still given small ones.
 */
export class RateLimits {
  readonly #requests: Allowances
  readonly #pages = new Allowance({ perSecond: pagesPerAddress })
  readonly #pageBytes = new Allowance({ perSecond: pageBytesPerAddress })
  readonly #costs = allowances({ key: costPerKey, customer: costPerCustomer, address: costPerAddress }, savedMs)

  /** `now`: milliseconds of a clock that only goes on. */
  constructor(
    { perKey, perCustomer, perAddress }: RateLimitOptions,
    private readonly now = () => performance.now(),
  ) {
    this.#requests = allowances({ key: perKey, customer: perCustomer, address: perAddress })
  }

  /** One request. Fails with RESOURCE_EXHAUSTED and `details.retryAfterMs`. */
  take(identity: Identity, address: string): void {
    take(this.#requests, identity, address, 1, this.now(), tooManyRequests)
  }

  /** One socket, before its key is known. Fails as `take` does. */
  takeFrom(address: string): void {
    refuseFor(this.#requests.address.take(address, 1, this.now()), tooManyRequests)
  }

  /** One page, or a file of one, which needs no key. It takes nothing from whoever has a key there. Fails as `take` does. */
  takePage(address: string): void {
    refuseFor(this.#pages.take(address, 1, this.now()), tooManyRequests)
  }

  /** Of what is given without a key. Fails as `take` does. */
  takeBytesFrom(address: string, bytes: number): void {
    refuseFor(this.#pageBytes.take(address, bytes, this.now()), tooManyBytes)
  }

  /** Of an answer that was made before. Fails as `take` does. */
  takeBytes(identity: Identity, address: string, bytes: number): void {
    take(this.#costs, identity, address, bytes / bytesPerPoint, this.now(), tooManyBytes)
  }

  /** Of an answer that may be large, or takes a transaction where others take none. Whoever has anything left may have any: the largest are larger than what can be saved. 0: only with anything left. Fails as `take` does. */
  takeCost(identity: Identity, address: string, cost: number): void {
    take(this.#costs, identity, address, cost, this.now(), tooMuchWork)
  }

  /** Of what was taken and not spent. Below 0: of what was spent beyond it, which is owed. */
  giveBackCost({ keyId, environmentId, customerId }: Identity, address: string, cost: number): void {
    const now = this.now()
    if (customerId !== null) this.#costs.customer.giveBack(environmentId + customerId, cost, now)
    this.#costs.address.giveBack(address, cost, now)
    this.#costs.key.giveBack(keyId, cost, now)
  }
}

interface Allowances {
  key: Allowance
  customer: Allowance
  address: Allowance
}

const allowances = (perSecond: Record<keyof Allowances, number>, saved?: number): Allowances => ({
  key: new Allowance({ perSecond: perSecond.key, savedMs: saved }),
  customer: new Allowance({ perSecond: perSecond.customer, savedMs: saved }),
  address: new Allowance({ perSecond: perSecond.address, savedMs: saved }),
})

/** The key last: whoever is over a limit of its own takes nothing from others with the same key. */
function take(
  of: Allowances,
  { keyId, environmentId, customerId }: Identity,
  address: string,
  points: number,
  now: number,
  why: string,
): void {
  const waitMs =
    (customerId === null ? 0 : of.customer.take(environmentId + customerId, points, now)) ||
    of.address.take(address, points, now) ||
    of.key.take(keyId, points, now)
  refuseFor(waitMs, why)
}

const tooManyRequests = 'Too many requests: slow down, and try again in a moment.'
const tooManyBytes = 'Too many bytes: keep what was answered and ask with If-None-Match, or try again in a moment.'
const tooMuchWork =
  'Too many large answers, large bodies, long filters, new documents or strong checks: ask for fewer fields, shorter pages, by the same documents, or for cached checks, or try again in a moment.'

function refuseFor(retryAfterMs: number, why: string): void {
  if (retryAfterMs > 0) throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', why, { details: { retryAfterMs } })
}
