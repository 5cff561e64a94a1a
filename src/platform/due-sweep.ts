import { Gauge, type Registry } from './metrics.js'
import type { Life } from './process.js'

/** Customers per look at what is due: who comes due meanwhile waits for the rest of one. */
const batchSize = 200
/** Customers in one transaction. More save little, and those who report usage for one of them wait for all. */
export const groupSize = 25

export interface DueCustomer {
  environmentId: string
  /** Ours. */
  customerId: string
}

/** A domain that knows which customers have something due, and records it. */
export interface DueWork {
  /** Without those (our ids) that are left alone. */
  dueCustomers(limit: number, leftAlone: readonly string[]): Promise<DueCustomer[]>
  applyDue(environmentId: string, customerId: string, options: { ifFree: boolean }): Promise<boolean>
  /** The same for several customers of one environment, all or none; answers for whom there was something. Absent: they are taken one by one. */
  applyDueTogether?(environmentId: string, customerIds: readonly string[]): Promise<readonly string[]>
}

/** How far behind the work is: per kind of it, the seconds since the oldest of what is due came due (0: nothing is). */
export function measureLag(registry: Registry, lagSeconds: Readonly<Record<string, () => Promise<number>>>): void {
  new Gauge({
    name: 'tollgate_transition_lag_seconds',
    help: 'Age of the oldest transition that is due and not recorded, by kind; 0 when there is none',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      // A database that is away leaves the last value: the scrape must not fail for it.
      for (const [kind, lag] of Object.entries(lagSeconds))
        await lag().then(
          (seconds) => this.set({ kind }, seconds),
          () => undefined,
        )
    },
  })
}

interface Pause {
  failures: number
  /** Of `performance.now()`. */
  until: number
}

const firstPauseMs = 60_000
const longestPauseMs = 15 * 60_000
/** Of what has not failed again for so long nothing is remembered. */
const forgottenAfterMs = 2 * longestPauseMs
/** With more than so many, the failures are of something that they have in common: those that are forgotten are tried with the next look. */
const most = 10_000

/**
 * What failed lately, by key, in the memory of this process: a sweep leaves it alone for a while, longer each time, so that the others have their turn. What
 * it works on stays in the database, so forgetting loses nothing.
 */
export class LeftAlone {
  readonly #pauses = new Map<string, Pause>()

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** How many are left alone: whoever looks for a number of things to do looks for so many more. */
  get size(): number {
    return this.keys().length
  }

  keys(): string[] {
    const now = this.now()
    const keys: string[] = []
    for (const [key, { until }] of this.#pauses) {
      if (until > now) keys.push(key)
      else if (now - until > forgottenAfterMs) this.#pauses.delete(key)
    }
    return keys
  }

  has(key: string): boolean {
    return (this.#pauses.get(key)?.until ?? Number.NEGATIVE_INFINITY) > this.now()
  }

  failed(key: string): void {
    const failures = (this.#pauses.get(key)?.failures ?? 0) + 1
    this.#pauses.delete(key)
    if (this.#pauses.size >= most) this.#pauses.delete(this.#pauses.keys().next().value!)
    this.#pauses.set(key, { failures, until: this.now() + Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs) })
  }

  succeeded(key: string): void {
    this.#pauses.delete(key)
  }
}

const leftAloneBy = new WeakMap<DueWork, LeftAlone>()

/**
 * Works off everything that is due, several customers at a time, until there is nothing left or the process stops. A customer that fails is logged and
 * holds up nobody. Running it in several processes is harmless: each takes a customer's state row, or leaves the customer alone.
 */
export async function sweepDue(
  life: Pick<Life, 'log' | 'signal'>,
  { domain, concurrency, label }: { domain: DueWork; concurrency: number; label: string },
): Promise<number> {
  const leftAlone = leftAloneBy.get(domain) ?? new LeftAlone()
  leftAloneBy.set(domain, leftAlone)
  const applyEach = async (group: readonly DueCustomer[]): Promise<number> => {
    let progress = 0
    for (const { environmentId, customerId } of group) {
      if (life.signal.aborted) break
      try {
        if (await domain.applyDue(environmentId, customerId, { ifFree: true })) progress += 1
        leftAlone.succeeded(customerId)
      } catch (error) {
        leftAlone.failed(customerId)
        life.log.warn({ err: error, environmentId, customerId }, `${label} of a customer could not be applied, trying again later`)
      }
    }
    return progress
  }
  const apply = async (group: readonly DueCustomer[]): Promise<number> => {
    const [{ environmentId }] = group as [DueCustomer]
    if (!domain.applyDueTogether || group.length === 1) return applyEach(group)
    const customerIds = group.map(({ customerId }) => customerId)
    try {
      return (await domain.applyDueTogether(environmentId, customerIds)).length
    } catch {
      // Whose fault it was shows one by one.
      return applyEach(group)
    }
  }
  let applied = 0
  for (;;) {
    const waiting = await domain.dueCustomers(batchSize, leftAlone.keys())
    let progress = 0
    await inLanes(concurrency, groupsOf(waiting), async (group) => {
      if (life.signal.aborted) return
      const count = await apply(group)
      progress += count
    })
    applied += progress
    // Nothing moved: what is left is held by others, or was left alone.
    if (life.signal.aborted || progress === 0 || waiting.length < batchSize / 2) break
  }
  if (applied > 0) life.log.info({ customers: applied }, `sweep applied ${label}`)
  return applied
}

function groupsOf(customers: readonly DueCustomer[]): DueCustomer[][] {
  const open = new Map<string, DueCustomer[]>()
  const groups: DueCustomer[][] = []
  for (const customer of customers) {
    const group = open.get(customer.environmentId)
    if (group && group.length < groupSize) group.push(customer)
    else {
      const begun = [customer]
      open.set(customer.environmentId, begun)
      groups.push(begun)
    }
  }
  return groups
}

/**
 * Does the work of each, so many at a time. What one lane takes long for is no matter of the others.
 * @throws the first failure, when all lanes have come to their end: a lane ends with it
 */
export async function inLanes<T>(lanes: number, all: Iterable<T>, work: (one: T) => Promise<void>): Promise<void> {
  const waiting = all[Symbol.iterator]()
  const lane = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) await work(next.value)
  }
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}
