import type { Clock, EpochMs } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import { isReply, type Redis } from '../../platform/redis.js'
import { toWritableState } from '../../updates/external-cache/state-json.js'
import type { ExternalCacheWriter } from '../../updates/external-cache/writer.js'
import type { SentEvent, SentReport } from '../api/client.js'
import { fromReportUsage, fromTime, type ReportUsageJson, type StateJson } from '../api/messages.js'
import { Outage, within } from '../api/outage.js'
import type { ExternalCacheReader, Reading } from '../cache/redis.js'
import { toEntry } from '../states/cached-state.js'
import type { CacheEntry, Owner } from '../states/entry.js'
import type { ReaderMetrics } from '../states/figures.js'
import { earliestPeriodEnd } from '../states/rights.js'
import type { ApiSource } from './api-source.js'
import type { EntitlementSource } from './source.js'

/** A local Redis answers in less than 1 ms. Slower than this it is as good as away: the API, or what is in memory, answers. */
const patienceMs = 150
/** After that many reads in a row without an answer Redis is left alone for a moment, so that checks do not wait for it. */
const outageAfterFailures = 3
/** What the external cache does not hold (unknown customers) was read from the API so lately that asking again would tell nothing new. */
const missTrustMs = 5_000

/** A persistent-cache-service that is not behind has written a change by then. */
const consumerLagMs = 5_000

/** A persistent-cache-service that has caught up says so each 5 s. */
const heartbeatMs = 10_000

/** Answers of Redis that are about one write and not about Redis. */
const refusals = ['NOPERM', 'NOSCRIPT', 'WRONGTYPE', 'ERR']

interface ExternalSourceParts {
  redis: Redis
  reader: ExternalCacheReader
  writer: ExternalCacheWriter
  /** What the persistent-cache-service has not vouched for in so long is not answered from there; infinite: whatever there is is. */
  maxStalenessMs: number
  /** Reads the API; keeps in memory what it read, for when Redis is away. */
  apiSource: ApiSource
  clock: Clock
  metrics: ReaderMetrics
  log: Log
}

/**
 * External cache, then API. The cache is kept current by the persistent-cache-service, so what it holds is answered as it is, as old as the heartbeat of that service
 * is; what it does not hold is read from the API and written there, where an older state never replaces a newer one. A cache that is slow or away is a miss.
 */
export class ExternalSource implements EntitlementSource {
  readonly #parts: ExternalSourceParts
  readonly #outage = new Outage({ name: 'The external cache', afterFailures: outageAfterFailures, isAway: () => true })
  #isAwayReported = false

  /** Customers that this process has changed, the last one last, and until when the API answers about them. */
  readonly #outdated = new Map<string, EpochMs>()
  #isRefusalReported = false

  constructor(parts: ExternalSourceParts) {
    this.#parts = parts
  }

  peek(): undefined {
    return undefined
  }

  async resolve(owner: Owner, waitMs: number, maxAgeMs?: number, featureId?: string): Promise<CacheEntry> {
    const { apiSource, clock, metrics } = this.#parts
    const ofApi = () =>
      apiSource.peek(owner.customerId, owner.resourceId, clock.now(), maxAgeMs) ?? apiSource.resolve(owner, waitMs, maxAgeMs)
    if (this.#isOutdated(owner.customerId)) return ofApi()
    const read = await this.#read(owner, featureId)
    // Without the external cache this is a sidecar with a cache in memory that nobody vouches for.
    if (read === 'away') return ofApi()
    const now = clock.now()
    const { state, knownUntil } = read
    if (state === null || (state.validUntil !== null && now >= state.validUntil))
      return apiSource.recent(owner, Math.min(missTrustMs, maxAgeMs ?? missTrustMs)) ?? apiSource.resolve(owner, waitMs, maxAgeMs)
    const ageMs = knownUntil === null ? null : Math.max(0, now - knownUntil)
    if ((ageMs ?? Number.POSITIVE_INFINITY) > Math.min(maxAgeMs ?? Number.POSITIVE_INFINITY, this.#parts.maxStalenessMs)) return ofApi()
    metrics.lookups.hit++
    if (ageMs !== null && ageMs > heartbeatMs) metrics.oldestAnswerSeconds = Math.max(metrics.oldestAnswerSeconds, ageMs / 1000)
    // The period is over: usage is 0, and the API is asked for the new one.
    if (now >= earliestPeriodEnd(state, featureId) && apiSource.recent(owner, missTrustMs) === undefined) apiSource.refresh(owner)
    return toEntry(state, 0, now)
  }

  reload(owner: Owner, waitMs: number, isStrong?: boolean): Promise<CacheEntry> {
    return this.#parts.apiSource.reload(owner, waitMs, isStrong)
  }

  outdate(customerId: string): void {
    this.#parts.apiSource.outdate(customerId)
    const now = this.#parts.clock.now()
    this.#outdated.delete(customerId)
    this.#outdated.set(customerId, now + consumerLagMs)
    for (const [id, until] of this.#outdated) {
      if (now < until) break
      this.#outdated.delete(id)
    }
  }

  #isOutdated(customerId: string): boolean {
    const until = this.#outdated.size === 0 ? undefined : this.#outdated.get(customerId)
    return until !== undefined && this.#parts.clock.now() < until
  }

  async reportUsage(report: SentReport, waitMs: number): Promise<ReportUsageJson> {
    const reported = await this.#parts.apiSource.reportUsage(report, waitMs)
    await this.#writeUsage(reported)
    return reported
  }

  async reportUsageBulk(reports: readonly SentReport[], waitMs: number): Promise<ReportUsageJson[]> {
    const reported = await this.#parts.apiSource.reportUsageBulk(reports, waitMs)
    await Promise.all(reported.map((one) => this.#writeUsage(one)))
    return reported
  }

  reportEvents(events: readonly SentEvent[], waitMs: number): Promise<void> {
    return this.#parts.apiSource.reportEvents(events, waitMs)
  }

  /** Keeps what the API answered. A cache that does not take it takes nothing away from the answer. */
  keep(owner: Owner, json: StateJson): void {
    // Without entitlements the answer tells no version, and nothing may be written that could be older than what is there.
    const isVersioned = json.entitlements?.some(({ entitlementUpdatedAt }) => fromTime(entitlementUpdatedAt) !== null) ?? false
    if (!isVersioned) return
    void this.#write(() => this.#parts.writer.writeState(toWritableState(owner, 0, json)))
  }

  async #read(owner: Owner, featureId: string | undefined): Promise<Reading | 'away'> {
    const { redis, reader, metrics } = this.#parts
    try {
      return await this.#guard(() =>
        redis.status === 'ready' ? reader.read(owner, featureId) : Promise.reject(new Error('not connected')),
      )
    } catch {
      metrics.externalCacheFailures++
      return 'away'
    }
  }

  /** What `work` answers in time. */
  async #guard<T>(work: () => Promise<T>): Promise<T> {
    const { log } = this.#parts
    try {
      const answer = await this.#outage.guard(() => within(work(), patienceMs, 'The external cache'))
      if (this.#isAwayReported) log.info({}, 'external cache answers again')
      this.#isAwayReported = false
      return answer
    } catch (err) {
      if (!this.#isAwayReported) log.warn({ err }, 'external cache does not answer, the API does')
      this.#isAwayReported = true
      throw err
    }
  }

  /** Waits for it, so that who has reported sees it in the next check. */
  #writeUsage(reported: ReportUsageJson): Promise<unknown> {
    const { customerId, resourceId, featureId, usage } = fromReportUsage(reported)
    // Who is not entitled has no usage that a reader would look for.
    if (reported.currentUsage === null) return Promise.resolve()
    return this.#write(() => this.#parts.writer.writeUsage({ customerId, resourceId }, { featureId, usage }))
  }

  async #write(write: () => Promise<boolean>): Promise<void> {
    const { metrics, log } = this.#parts
    try {
      await this.#guard(() => write().catch((error: unknown) => this.#hearRefusal(error)))
    } catch (error) {
      metrics.externalCacheFailures++
      log.debug({ err: error }, 'external cache did not take a write')
    }
  }

  /** A cache that refuses a write is there: the user may not write, or something else is kept under the key. Fails with what is no refusal. */
  #hearRefusal(error: unknown): void {
    if (!isReply(error, ...refusals)) throw error
    if (!this.#isRefusalReported) this.#parts.log.warn({ err: error }, 'external cache refuses what the API answered')
    this.#isRefusalReported = true
  }
}
