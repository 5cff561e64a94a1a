import type { ApiClient, SentEvent, SentReport } from '../api/client.js'
import type { ReportUsageJson } from '../api/messages.js'
import type { CachedState, CacheEntry, Owner } from '../states/entry.js'

/** Where the service gets its answers: the platform through cache and API, or nowhere (offline). */
export interface EntitlementSource {
  /** The entry to answer from now. Undefined: ask `resolve`. */
  peek(customerId: string, resourceId: string | null): CacheEntry | undefined
  /** The entry to answer from, within `waitMs`. Fails with a Problem when the question can't be answered: a fallback has to. */
  resolve(owner: Owner, waitMs: number): Promise<CacheEntry>
  /** Reads anew, whatever is cached. Null: nothing is known about anybody (offline). */
  reload(owner: Owner, waitMs: number): Promise<CachedState | null>
  /** Null: not sent (offline). */
  reportUsage(report: SentReport, signal: AbortSignal): Promise<ReportUsageJson | null>
  /** All or none, answered in their order. Null: not sent (offline). */
  reportUsageBulk(reports: readonly SentReport[], signal: AbortSignal): Promise<ReportUsageJson[] | null>
  reportEvents(events: readonly SentEvent[], signal: AbortSignal): Promise<void>
}

/** Takes usage, and acknowledges it when it is committed. */
export type UsageDoor = Pick<ApiClient, 'reportUsage' | 'reportUsageBulk' | 'reportEvents'>
