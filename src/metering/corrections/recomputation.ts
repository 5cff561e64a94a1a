import type pg from 'pg'
import { recordAudit } from '../../audit/record/record.js'
import { customerNotFound } from '../../customer/model/problems.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { isoOrNull } from '../../kernel/iso-time.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import type { Logger } from '../../platform/logger.js'
import { inPoolTransaction } from '../../platform/transaction.js'
import type { Bindings } from '../counting/bindings.js'
import { findNearestFeature } from '../counting/feature-names.js'
import { eventsDropped, featureNotFound, recomputationNotFound, tooManyRecomputations } from '../model/problems.js'
import { findKeptSince } from '../retention/kept-since.js'
import {
  advanceRecomputation,
  type ClaimedRecomputation,
  claimRecomputation,
  countUnfinished,
  findRecomputation,
  findRecomputed,
  findUnbegun,
  insertRecomputation,
  lockRequests,
  nextCustomers,
  pauseRecomputation,
  type Recomputation,
} from './recomputation-repository.js'
import { recomputeCustomers } from './recompute-customers.js'

/** Customers of one transaction: they are locked while the events of their periods are read, so there are fewer when that takes long. */
const maxCustomersPerStep = 20
/** A report that waits for a customer gives up after four seconds. */
const longStepMs = 1_000

/** Unfinished ones of an environment. */
export const maxRecomputations = 1_000

/** What is counted anew. */
export interface RecomputationRequest {
  /** The caller's identifiers. */
  featureId: string
  /** Null: all customers. */
  customerId: string | null
  /** Usage periods that touch [from, to) are counted anew; null: without bound. */
  from: EpochMs | null
  to: EpochMs | null
}

/**
 * Counts a feature's usage anew from raw events, with its meter as it is now: after a change of filters that shall not wait for the next period, or to
 * prove that counting and recounting agree. The work is done by a worker in steps that commit with how far it is, so it can be stopped at any time.
 */
export class Recomputations {
  constructor(private readonly pool: pg.Pool) {}

  /**
   * Notes what is to be done. The worker's sweep finds it. What was asked for before and has not begun is not noted twice: it counts all that is there by now.
   * Fails with FAILED_PRECONDITION for a time of which events have been dropped, with RESOURCE_EXHAUSTED beyond `maxRecomputations`.
   */
  async request(environmentId: string, { featureId, customerId, from, to }: RecomputationRequest): Promise<Recomputation> {
    if (from !== null && to !== null && from >= to) throw invalidInput('startDate must be before endDate', { path: 'startDate' })
    const found = await findRecomputed(this.pool, environmentId, { featureId, customerId })
    if (found.featureId === null) throw featureNotFound(featureId, await findNearestFeature(this.pool, environmentId, featureId))
    if (customerId !== null && found.customerId === null) throw customerNotFound(customerId)
    if (found.meterVersion === null)
      throw new Problem(
        'FAILED_PRECONDITION',
        'METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE',
        `Feature "${featureId}" has no meter on raw events.`,
      )
    const keptSince = await findKeptSince(this.pool, environmentId)
    // Without a start, what can be counted anew is; a start says that the caller counts on it.
    if (keptSince !== null && ((from !== null && from < keptSince) || (to !== null && to <= keptSince))) throw eventsDropped(keptSince)
    const work = { featureId: found.featureId, customerId: found.customerId, from, to, meterVersion: found.meterVersion }
    const id = await inPoolTransaction(this.pool, async (db) => {
      await lockRequests(db, environmentId)
      const before = await findUnbegun(db, environmentId, work)
      if (before !== null) return before
      if ((await countUnfinished(db, environmentId)) >= maxRecomputations) throw tooManyRecomputations(maxRecomputations)
      const id = newId()
      await insertRecomputation(db, environmentId, { id, ...work })
      const after = { featureId, customerId, startDate: isoOrNull(from), endDate: isoOrNull(to) }
      recordAudit(db, { environmentId, kind: 'USAGE_RECOMPUTATION', id, before: null, after })
      return id
    })
    return this.progress(environmentId, id)
  }

  /** Fails with NOT_FOUND. */
  async progress(environmentId: string, id: string): Promise<Recomputation> {
    const found = /^[0-9a-f-]{36}$/i.test(id) ? await findRecomputation(this.pool, environmentId, id) : null
    if (!found) throw recomputationNotFound(id)
    return found
  }
}

/** Works off recomputations. Any number may run: a step is claimed, done and noted in one transaction. */
export class RecomputationWorker {
  readonly #pool: pg.Pool
  readonly #bindings: Bindings
  readonly #changed: (environmentId: string) => void
  readonly #log: Logger
  /** The environment that was worked on last: others have their turn. */
  #last = '00000000-0000-0000-0000-000000000000'

  constructor(parts: { pool: pg.Pool; bindings: Bindings; changed: (environmentId: string) => void; log: Logger }) {
    this.#pool = parts.pool
    this.#log = parts.log
    this.#bindings = parts.bindings
    this.#changed = parts.changed
  }

  /** Works until nothing waits or `signal` aborts. Answers the number of customers that were looked at. */
  async run(signal?: AbortSignal): Promise<number> {
    let sum = 0
    while (!signal?.aborted) {
      const done = await this.#step()
      if (done === null) break
      sum += done
    }
    return sum
  }

  /** Null: there is nothing to do, or others do it. */
  async #step(): Promise<number | null> {
    const startedAt = performance.now()
    let claimed: ClaimedRecomputation | null = null
    const result = await inPoolTransaction(this.#pool, async (db) => {
      claimed = await claimRecomputation(db, this.#last)
      if (!claimed) return null
      const work = claimed
      const limit = work.stepSize
      const customers = await nextCustomers(db, work, limit)
      const left = customers.length > 0 ? await recomputeCustomers(db, this.#bindings, work, customers) : 0
      const isLong = performance.now() - startedAt > longStepMs
      const nextStep = isLong ? Math.max(1, limit >> 1) : Math.min(maxCustomersPerStep, limit * 2)
      const customerIds = customers.map(({ id }) => id)
      await advanceRecomputation(db, work, { customerIds, left, isLast: customers.length < limit, nextStep })
      return { environmentId: work.environmentId, count: customers.length }
    }).catch((error: unknown) => this.#pause(claimed, error))
    if (result === null) return null
    this.#last = result.environmentId
    if (result.count > 0) this.#changed(result.environmentId)
    return result.count
  }

  /** Fails with the error again when even that can't be noted: the database is away then. */
  async #pause(work: ClaimedRecomputation | null, error: unknown): Promise<{ environmentId: string; count: 0 }> {
    if (!work) throw error
    const seconds = await pauseRecomputation(this.#pool, work).catch(() => {
      throw error
    })
    const { environmentId, id } = work
    this.#log.error({ err: error, environmentId, recomputationId: id, seconds }, 'recomputation failed, trying it again later')
    return { environmentId, count: 0 }
  }
}
