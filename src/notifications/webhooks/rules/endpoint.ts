import type { EpochMs } from '../../../kernel/clock.js'

export type EndpointStatus = 'ACTIVE' | 'PAUSED' | 'DISABLED'
export type DisabledReason = 'GONE' | 'NO_SUCCESS'

/** Where the host application hears of events. */
export interface WebhookEndpoint {
  id: string
  environmentId: string
  url: string
  description: string | null
  /** Those that it hears of; none: all. */
  eventTypes: string[]
  /** PAUSED: by request. DISABLED: by what it has answered. What it is to hear of waits either way. */
  status: EndpointStatus
  disabledReason: DisabledReason | null
  disabledAt: EpochMs | null
  /** Since when nothing was answered right; null: the last attempt was, or there was none. */
  failingSince: EpochMs | null
  /** Until when deliveries are signed with the secret before the current one too; null: there is none. */
  previousSecretExpiresAt: EpochMs | null
  createdAt: EpochMs
  updatedAt: EpochMs
}

/** For those who do not manage the endpoint, its scheme, host and port: everything else may be what it knows its callers by. */
export const shownUrl = (text: string): string => new URL(text).origin
