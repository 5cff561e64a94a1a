import type { ToldUsage } from '../../changes/model/change.js'
import type { Clock, EpochMs } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import { Problem } from '../../kernel/problem.js'
import type { ApiClient, SentEvent, SentReport } from '../api/client.js'
import { isKeyRefused } from '../api/errors.js'
import { fromReportUsage, type ReportUsageJson, type StateJson, type StateReader } from '../api/messages.js'
import { within } from '../api/outage.js'
import { type EntitlementCache, entryKey, isOf } from '../cache/cache.js'
import { entryAt, isOlder, newerState, stateWithUsage, toEntry } from '../states/cached-state.js'
import type { CachedState, CacheEntry, Owner } from '../states/entry.js'
import type { ReaderMetrics } from '../states/figures.js'
import { type FreshnessJudge, outdatedEpoch } from '../states/freshness.js'
import { usageVersion } from '../states/rights.js'
import type { EntitlementSource, UsageSource } from './source.js'

/** A read of the API under way. There is one per customer and resource; all who miss wait for it. */
interface Read {
  owner: Owner
  beganAt: EpochMs
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

export interface ApiSourceParts {
  cache: EntitlementCache
  api: Pick<ApiClient, 'fetchState'>
  /** Where usage goes: the API, unless it is enqueued directly. */
  usage: UsageSource
  states: StateReader
  judge: FreshnessJudge
  clock: Clock
  metrics: ReaderMetrics
  log: Log
  /** Told what the API answered about a customer or resource. */
  onRead?: (owner: Owner, json: StateJson) => void
}

/** Cache, then API. The caller falls back when this fails. */
export class ApiSource implements EntitlementSource {
  readonly #parts: ApiSourceParts
  readonly #reads = new Map<string, Read>()
  /** Keys of entries that are to be refreshed as soon as others are done. */
  readonly #toRefresh = new Set<string>()
  #refreshes = 0
  #lastFailure = { code: '', at: Number.NEGATIVE_INFINITY }

  constructor(parts: ApiSourceParts) {
    this.#parts = parts
  }

  peek(customerId: string, resourceId: string | null, now: EpochMs, maxAgeMs = Number.POSITIVE_INFINITY): CacheEntry | undefined {
    const key = entryKey(customerId, resourceId)
    const entry = this.#entryAt(key, now)
    if (entry === undefined || !isOf(entry, resourceId) || this.#isTooOld(entry, now, maxAgeMs)) return undefined
    const freshness = this.#parts.judge.judge(entry, now)
    if (freshness === 'fresh') {
      this.#parts.metrics.lookups.hit++
      return entry
    }
    if (freshness === 'suspect') this.#refreshInBackground(entry, now)
    else if (freshness === 'miss' || now >= entry.refreshNotBefore) return undefined
    return this.#stale(entry, now)
  }

  async resolve(owner: Owner, waitMs: number, maxAgeMs = Number.POSITIVE_INFINITY): Promise<CacheEntry> {
    const key = entryKey(owner.customerId, owner.resourceId)
    const now = this.#parts.clock.now()
    const cached = this.#entryAt(key, now)
    if (cached === undefined || this.#parts.judge.judge(cached, now) === 'miss' || this.#isTooOld(cached, now, maxAgeMs)) {
      this.#parts.metrics.lookups.miss++
      return within(this.#read(key, owner, maxAgeMs), waitMs, 'The API')
    }
    try {
      return await within(this.#read(key, owner, maxAgeMs), Math.min(waitMs, longestWaitForNewerMs), 'The API')
    } catch {
      cached.refreshNotBefore = this.#parts.clock.now() + refreshPauseMs
      return this.#stale(cached, now)
    }
  }

  reload(owner: Owner, waitMs: number, isStrong?: boolean): Promise<CacheEntry> {
    // A read that began before this call may not know what the caller wants to see: it is overtaken.
    return within(this.#beginRead(entryKey(owner.customerId, owner.resourceId), owner, isStrong), waitMs, 'The API')
  }

  outdate(customerId: string): void {
    for (const [key, { owner }] of this.#reads) if (owner.customerId === customerId) this.#reads.delete(key)
    const { cache, judge, clock } = this.#parts
    const now = clock.now()
    for (const entry of cache.entriesOf(customerId)) {
      const fetchedAt = now - judge.ageMs(entry, now)
      cache.set(entryKey(customerId, entry.state.resourceId), { ...entry, fetchedAt, epoch: outdatedEpoch, refreshNotBefore: 0 })
    }
  }

  /** For a caller who says how old it may be. */
  #isTooOld(entry: CacheEntry, now: EpochMs, maxAgeMs: number): boolean {
    if (maxAgeMs === Number.POSITIVE_INFINITY) return false
    return this.#parts.judge.ageMs(entry, now) > maxAgeMs
  }

  /** The entry if it was read so lately that asking again would tell nothing new. */
  recent({ customerId, resourceId }: Owner, withinMs: number): CacheEntry | undefined {
    const now = this.#parts.clock.now()
    const entry = this.#entryAt(entryKey(customerId, resourceId), now)
    return entry !== undefined && now - entry.fetchedAt < withinMs ? entry : undefined
  }

  /** What is cached, as it is by now: where time alone has changed it and it is known to what, that is cached from here on. */
  #entryAt(key: string, now: EpochMs): CacheEntry | undefined {
    const cached = this.#parts.cache.get(key)
    const entry = cached && entryAt(cached, now)
    if (entry && entry !== cached) this.#parts.cache.set(key, entry)
    return entry
  }

  /** What a message is applied to: what is cached by now, else what was true until then, so that the newer of the two stays. */
  #heldAt(key: string): CacheEntry | undefined {
    return this.#entryAt(key, this.#parts.clock.now()) ?? this.#parts.cache.get(key)
  }

  /** Reads anew behind the caller's back. */
  refresh({ customerId, resourceId }: Owner): void {
    this.#toRefresh.add(entryKey(customerId, resourceId))
    this.#refreshNext({ customerId, resourceId })
  }

  async reportUsage(report: SentReport, waitMs: number): Promise<ReportUsageJson> {
    const reported = await this.#parts.usage.reportUsage(report, waitMs)
    this.applyUsage(fromReportUsage(reported))
    return reported
  }

  async reportUsageBulk(reports: readonly SentReport[], waitMs: number): Promise<ReportUsageJson[]> {
    const reported = await this.#parts.usage.reportUsageBulk(reports, waitMs)
    for (const one of reported) this.applyUsage(fromReportUsage(one))
    return reported
  }

  reportEvents(events: readonly SentEvent[], waitMs: number): Promise<void> {
    return this.#parts.usage.reportEvents(events, waitMs)
  }

  /** A whole new state was told. Entries that nobody asked for are not added. */
  applyState(state: CachedState): void {
    const { customerId, resourceId } = state
    const key = entryKey(customerId, resourceId)
    this.#reads.get(key)?.changes.push((read) => newerState(read, state))
    const cached = this.#heldAt(key)
    if (cached) {
      const merged = newerState(cached.state, state)
      this.#parts.cache.set(
        key,
        isOlder(state, cached.state) || cached.epoch === outdatedEpoch
          ? replaceState(cached, merged)
          : toEntry(merged, this.#parts.judge.epoch, this.#parts.clock.now()),
      )
    }
    // What the customer holds itself counts for its resources too.
    if (resourceId === null) this.#suspectOthers(state, (other) => state.version === 0 || other.version < state.version)
  }

  /** The usage of one feature was told. */
  applyUsage(change: ToldUsage): void {
    const { customerId, resourceId, featureId, usage } = change
    const key = entryKey(customerId, resourceId)
    this.#reads.get(key)?.changes.push((read) => stateWithUsage(read, featureId, usage))
    const cached = this.#heldAt(key)
    if (cached) {
      const state = stateWithUsage(cached.state, featureId, usage)
      if (state !== cached.state) this.#parts.cache.set(key, replaceState(cached, state))
    }
    // A customer and its resources may share one total.
    this.#suspectOthers(change, (other) => (usageVersion(other, featureId) ?? Number.POSITIVE_INFINITY) < usage.updatedAt)
  }

  /** Something about the customer or one of its resources changed after `since`, it is not known what: what is cached is refreshed, a few at a time. */
  applyUnknown(customerId: string, since: EpochMs): void {
    for (const read of this.#reads.values()) if (read.owner.customerId === customerId) read.isSuspect = true
    for (const entry of this.#parts.cache.entriesOf(customerId)) {
      suspect(entry, since)
      this.refresh(entry.state)
    }
  }

  #suspectOthers({ customerId, resourceId }: Owner, isConcerned: (state: CachedState) => boolean): void {
    const now = this.#parts.clock.now()
    for (const entry of this.#parts.cache.entriesOf(customerId)) {
      if (entry.state.resourceId !== resourceId && isConcerned(entry.state)) suspect(entry, now)
    }
    for (const read of this.#reads.values()) {
      if (read.owner.customerId === customerId && read.owner.resourceId !== resourceId) read.isSuspect = true
    }
  }

  #refreshInBackground(entry: CacheEntry, now: EpochMs): void {
    if (now < entry.refreshNotBefore) return
    entry.refreshNotBefore = now + refreshPauseMs
    this.refresh(entry.state)
  }

  /** Begins the refresh when not too many are under way; else it has its turn when one is done. */
  #refreshNext(owner: Owner): void {
    const key = entryKey(owner.customerId, owner.resourceId)
    if (this.#refreshes >= mostRefreshes || !this.#toRefresh.delete(key)) return
    this.#refreshes++
    const done = () => {
      this.#refreshes--
      for (const next of this.#toRefresh) {
        const entry = this.#parts.cache.get(next)
        if (entry) this.#refreshNext(entry.state)
        else this.#toRefresh.delete(next)
        if (this.#refreshes >= mostRefreshes) break
      }
    }
    this.#read(key, owner).then(done, done)
  }

  #stale(entry: CacheEntry, now: EpochMs): CacheEntry {
    this.#parts.metrics.lookups.stale++
    this.#parts.metrics.oldestAnswerSeconds = Math.max(this.#parts.metrics.oldestAnswerSeconds, this.#parts.judge.ageMs(entry, now) / 1000)
    return entry
  }

  /** One that is under way answers too, unless it began before what the caller takes. */
  #read(key: string, owner: Owner, maxAgeMs = Number.POSITIVE_INFINITY): Promise<CacheEntry> {
    const underWay = this.#reads.get(key)
    return underWay && this.#parts.clock.now() - underWay.beganAt <= maxAgeMs ? underWay.done : this.#beginRead(key, owner)
  }

  #beginRead(key: string, { customerId, resourceId }: Owner, isStrong?: boolean): Promise<CacheEntry> {
    const [epoch, beganAt] = [this.#parts.judge.epoch, this.#parts.clock.now()]
    const finish = async (): Promise<CacheEntry> => {
      try {
        const json = await this.#parts.api.fetchState(read.owner, isStrong)
        this.#parts.onRead?.(read.owner, json)
        const answer = this.#parts.states.state(read.owner, json)
        const state = read.changes.reduce((known, change) => change(known), answer)
        // Overtaken by a reload: good enough for those who waited for it, but not to be kept.
        if (this.#reads.get(key) !== read) return toEntry(state, 0, beganAt)
        const cached = this.#parts.cache.get(key)
        // What is expired here was true only until then, however new its version; and after a gap the platform may have versions that begin lower again.
        const isComparable = cached !== undefined && this.#parts.clock.now() < cached.expiresAt && epoch !== 0 && cached.epoch === epoch
        const entry = toEntry(isComparable ? newerState(cached.state, state) : state, epoch, beganAt)
        if (read.isSuspect) suspect(entry, beganAt)
        // A lagging clock of the API answers the past usage period again: not at every check.
        if (entry.usagePeriodEnd <= beganAt) entry.refreshNotBefore = beganAt + refreshPauseMs
        this.#parts.cache.set(key, entry)
        return entry
      } catch (error) {
        this.#logFailure(error)
        throw error
      } finally {
        if (this.#reads.get(key) === read) this.#reads.delete(key)
      }
    }
    const owner = { customerId, resourceId }
    const read: Read = { owner, beganAt, done: Promise.resolve().then(finish), changes: [], isSuspect: false }
    this.#reads.set(key, read)
    return read.done
  }

  #logFailure(error: unknown): void {
    const problem = Problem.from(error)
    // Told once, by who watches the key.
    if (isKeyRefused(problem)) return
    const { code, reason, message, cause } = problem
    const now = this.#parts.clock.now()
    if (code === this.#lastFailure.code && now - this.#lastFailure.at < failureLogMs) return
    this.#lastFailure = { code, at: now }
    this.#parts.log.warn({ code, reason, err: cause }, `could not read entitlements: ${message}`)
  }
}

/** Something changed after `since`, of which what was read later knows. */
function suspect(entry: CacheEntry, since: EpochMs): void {
  const rightUntil = Math.max(since, entry.fetchedAt)
  entry.suspectSince = Math.min(entry.suspectSince ?? rightUntil, rightUntil)
}

/** The entry with a state that says no more about its freshness. */
function replaceState(entry: CacheEntry, state: CachedState): CacheEntry {
  return { ...toEntry(state, entry.epoch, entry.fetchedAt), suspectSince: entry.suspectSince, refreshNotBefore: entry.refreshNotBefore }
}
