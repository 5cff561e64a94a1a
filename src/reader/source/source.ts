import type { EpochMs } from '../../kernel/clock.js'
import type { ApiClient, SentEvent, SentReport } from '../api/client.js'
import type { ReportUsageJson } from '../api/messages.js'
import type { CacheEntry, Owner } from '../states/entry.js'

/** Where the service gets its answers: the platform through cache and API, or nowhere (offline). */
export interface EntitlementSource {
  /** The entry to answer from at `now`. Undefined: ask `resolve`. `maxAgeMs`: none that was last known to be right longer ago. */
  peek(customerId: string, resourceId: string | null, now: EpochMs, maxAgeMs?: number): CacheEntry | undefined
  /**
   * The entry to answer from, within `waitMs`. `featureId`: the only one that is asked about, so that others may have an older usage; absent: all are. Fails with
   * a Problem when the question can't be answered: a fallback has to.
   */
  resolve(owner: Owner, waitMs: number, maxAgeMs?: number, featureId?: string): Promise<CacheEntry>
  /**
   * Reads anew, whatever is cached. Null: nothing is known about anybody (offline). `isStrong`: from the platform's database, whatever the platform holds, too.
   */
  reload(owner: Owner, waitMs: number, isStrong?: boolean): Promise<CacheEntry | null>
  /** This process has changed what the customer holds: whoever asks next is answered what is read after this. */
  outdate(customerId: string): void
  /** Within `waitMs`. Null: not sent (offline). Fails with a Problem that refuses it or says what became of it (`UsageOutcome`). */
  reportUsage(report: SentReport, waitMs: number): Promise<ReportUsageJson | null>
  /** The same; all or none, answered in their order. */
  reportUsageBulk(reports: readonly SentReport[], waitMs: number): Promise<ReportUsageJson[] | null>
  /** The same, but each event by itself. */
  reportEvents(events: readonly SentEvent[], waitMs: number): Promise<void>
}

/** Takes usage, and acknowledges it when it is committed. Sends it once: a problem that does not refuse it says what became of it. */
export type UsageDoor = Pick<ApiClient, 'reportUsage' | 'reportUsageBulk' | 'reportEvents'>

/** Takes usage as a source does, and is never offline. */
export interface UsageSource {
  reportUsage(report: SentReport, waitMs: number): Promise<ReportUsageJson>
  reportUsageBulk(reports: readonly SentReport[], waitMs: number): Promise<ReportUsageJson[]>
  reportEvents(events: readonly SentEvent[], waitMs: number): Promise<void>
}
