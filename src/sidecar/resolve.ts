import type { Clock, EpochMs } from '../kernel/clock.js'
import { Problem, timedOut } from '../kernel/problem.js'
import type { Logger } from '../platform/logger.js'
import type { ApiClient, UsageEvent, UsageReport } from './api-client.js'
import { fromReportUsage, type Owner, type ReportUsageJson, type UsageChange } from './api-messages.js'
import { type CachedState, type CacheEntry, type EntitlementCache, entryKey } from './cache/cache.js'
import { isOlder, newerState, stateWithUsage, toEntry } from './cached-state.js'
import type { FreshnessJudge } from './freshness.js'
import type { SidecarMetrics } from './metrics.js'

/** Where the service gets its answers: the platform through cache and API, or nowhere (offline). */
export interface EntitlementSource {
  /** The entry to answer from now. Undefined: ask `resolve`. */
  peek(customerId: string, resourceId: string | null): CacheEntry | undefined
  /** The entry to answer from, within `waitMs`. Fails with a Problem when the question can't be answered: a fallback has to. */
  resolve(owner: Owner, waitMs: number): Promise<CacheEntry>
  /** Reads anew, whatever is cached. Null: nothing is known about anybody (offline). */
  reload(owner: Owner, waitMs: number): Promise<CachedState | null>
  /** Null: not sent (offline). */
  reportUsage(report: UsageReport, signal: AbortSignal): Promise<ReportUsageJson | null>
  reportEvents(events: readonly UsageEvent[], signal: AbortSignal): Promise<void>
}

/** A read of the API under way. There is one per customer and resource; all who miss wait for it. */
interface Read {
  owner: Owner
  done: Promise<CacheEntry>
  /** Changes that were told since it began: its answer may not know them yet. */
  changes: Array<(state: CachedState) => CachedState>
  /** Something related changed since it began. */
  isSuspect: boolean
}

/** Refreshes in the background at a time: after a reconnect all entries want one. */
const mostRefreshes = 8
/** After a refresh was tried, the same entry is not tried again for so long. */
const refreshPauseMs = 1_000
/** A caller that could be given an old answer waits at most so long for a new one. */
const longestWaitForNewerMs = 1_000
/** The same failure is logged at most this often. */
const failureLogMs = 60_000

/** Cache, then API. The caller falls back when this fails. */
export class EntitlementResolver implements EntitlementSource {
  readonly #reads = new Map<string, Read>()
  #refreshes = 0
  #lastFailure = { code: '', at: Number.NEGATIVE_INFINITY }

  constructor(
    private readonly cache: EntitlementCache,
    private readonly api: ApiClient,
    private readonly judge: FreshnessJudge,
    private readonly clock: Clock,
    private readonly metrics: SidecarMetrics,
    private readonly log: Logger,
  ) {}

  peek(customerId: string, resourceId: string | null): CacheEntry | undefined {
    const key = entryKey(customerId, resourceId)
    const entry = this.cache.get(key)
    if (entry === undefined) return undefined
    const now = this.clock.now()
    const freshness = this.judge.judge(entry, now)
    if (freshness === 'fresh') {
      this.metrics.lookups.hit++
      return entry
    }
    if (freshness === 'suspect') this.#refreshInBackground(key, entry, now)
    else if (freshness === 'miss' || now >= entry.refreshNotBefore) return undefined
    return this.#stale(entry, now)
  }

  async resolve(owner: Owner, waitMs: number): Promise<CacheEntry> {
    const key = entryKey(owner.customerId, owner.resourceId)
    const cached = this.cache.get(key)
    const now = this.clock.now()
    if (cached === undefined || this.judge.judge(cached, now) === 'miss') {
      this.metrics.lookups.miss++
      return within(this.#read(key, owner), waitMs)
    }
    try {
      return await within(this.#read(key, owner), Math.min(waitMs, longestWaitForNewerMs))
    } catch {
      cached.refreshNotBefore = this.clock.now() + refreshPauseMs
      return this.#stale(cached, now)
    }
  }

  async reload(owner: Owner, waitMs: number): Promise<CachedState> {
    // A read that began before this call may not know what the caller wants to see: it is overtaken.
    return (await within(this.#beginRead(entryKey(owner.customerId, owner.resourceId), owner), waitMs)).state
  }

  async reportUsage(report: UsageReport, signal: AbortSignal): Promise<ReportUsageJson> {
    const reported = await this.api.reportUsage(report, signal)
    this.applyUsage(fromReportUsage(reported))
    return reported
  }

  reportEvents(events: readonly UsageEvent[], signal: AbortSignal): Promise<void> {
    return this.api.reportEvents(events, signal)
  }

  /** A whole new state was told. Entries that nobody asked for are not added. */
  applyState(state: CachedState): void {
    const { customerId, resourceId } = state
    const key = entryKey(customerId, resourceId)
    this.#reads.get(key)?.changes.push((read) => newerState(read, state))
    const cached = this.cache.get(key)
    if (cached) {
      const merged = newerState(cached.state, state)
      this.cache.set(key, isOlder(state, cached.state) ? replaceState(cached, merged) : toEntry(merged, this.judge.epoch, this.clock.now()))
    }
    // What the customer holds itself counts for its resources too.
    if (resourceId === null) this.#suspectOthers(state, (other) => state.version === 0 || other.version < state.version)
  }

  /** The usage of one feature was told. */
  applyUsage(change: UsageChange): void {
    const { customerId, resourceId, featureId, usage } = change
    const key = entryKey(customerId, resourceId)
    this.#reads.get(key)?.changes.push((read) => stateWithUsage(read, featureId, usage))
    const cached = this.cache.get(key)
    if (cached) {
      const state = stateWithUsage(cached.state, featureId, usage)
      if (state !== cached.state) this.cache.set(key, replaceState(cached, state))
    }
    // A customer and its resources may share one total.
    this.#suspectOthers(change, (other) =>
      other.entitlements.some((e) => e.feature.refId === featureId && e.usage !== null && e.usage.updatedAt < usage.updatedAt),
    )
  }

  #suspectOthers({ customerId, resourceId }: Owner, isConcerned: (state: CachedState) => boolean): void {
    for (const entry of this.cache.entriesOf(customerId)) {
      if (entry.state.resourceId !== resourceId && isConcerned(entry.state)) entry.isSuspect = true
    }
    for (const read of this.#reads.values()) {
      if (read.owner.customerId === customerId && read.owner.resourceId !== resourceId) read.isSuspect = true
    }
  }

  #refreshInBackground(key: string, entry: CacheEntry, now: EpochMs): void {
    if (now < entry.refreshNotBefore || this.#refreshes >= mostRefreshes) return
    entry.refreshNotBefore = now + refreshPauseMs
    this.#refreshes++
    const done = () => {
      this.#refreshes--
    }
    this.#read(key, entry.state).then(done, done)
  }

  #stale(entry: CacheEntry, now: EpochMs): CacheEntry {
    this.metrics.lookups.stale++
    this.metrics.oldestAnswerSeconds = Math.max(this.metrics.oldestAnswerSeconds, this.judge.ageMs(entry, now) / 1000)
    return entry
  }

  #read(key: string, owner: Owner): Promise<CacheEntry> {
    return this.#reads.get(key)?.done ?? this.#beginRead(key, owner)
  }

  #beginRead(key: string, { customerId, resourceId }: Owner): Promise<CacheEntry> {
    const [epoch, beganAt] = [this.judge.epoch, this.clock.now()]
    const finish = async (): Promise<CacheEntry> => {
      try {
        const answer = await this.api.fetchState(read.owner)
        const state = read.changes.reduce((known, change) => change(known), answer)
        // Overtaken by a reload: good enough for those who waited for it, but not to be kept.
        if (this.#reads.get(key) !== read) return toEntry(state, 0, beganAt)
        const cached = this.cache.get(key)
        // What is expired here was true only until then, however new its version.
        const isComparable = cached !== undefined && this.clock.now() < cached.expiresAt
        const entry = toEntry(isComparable ? newerState(cached.state, state) : state, epoch, beganAt)
        entry.isSuspect = read.isSuspect
        // A lagging clock of the API answers the past usage period again: not at every check.
        if (entry.usagePeriodEnd <= beganAt) entry.refreshNotBefore = beganAt + refreshPauseMs
        this.cache.set(key, entry)
        return entry
      } catch (error) {
        this.#logFailure(error)
        throw error
      } finally {
        if (this.#reads.get(key) === read) this.#reads.delete(key)
      }
    }
    const read: Read = { owner: { customerId, resourceId }, done: Promise.resolve().then(finish), changes: [], isSuspect: false }
    this.#reads.set(key, read)
    return read.done
  }

  #logFailure(error: unknown): void {
    const { code, reason, message, cause } = Problem.from(error)
    const now = this.clock.now()
    if (code === this.#lastFailure.code && now - this.#lastFailure.at < failureLogMs) return
    this.#lastFailure = { code, at: now }
    this.log.warn({ code, reason, err: cause }, `could not read entitlements: ${message}`)
  }
}

/** The entry with a state that says no more about its freshness. */
function replaceState(entry: CacheEntry, state: CachedState): CacheEntry {
  return { ...toEntry(state, entry.epoch, entry.fetchedAt), isSuspect: entry.isSuspect, refreshNotBefore: entry.refreshNotBefore }
}

/** The result, or DEADLINE_EXCEEDED. The work goes on: others may wait for it, and its answer is kept. */
function within<T>(work: Promise<T>, waitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timedOut('The API did not answer in time')), waitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
