/** What the load has done and been told: what the platform is compared with. All times are epoch milliseconds of this machine. */
import { callLimits } from '../stage/catalog.js'

/** `open`: nobody has said yet what became of it, or that was unknown. */
export type Fate = 'open' | 'acknowledged' | 'refused'

export interface SentReport {
  /** Of idempotency; a repeat is the same report. */
  key: string
  customer: string
  value: number
  fate: Fate
  sentAt: number
  acknowledgedAt: number | null
  /** Each that it was acknowledged with: there must be one. */
  measurementIds: Set<string>
  /** What a refusal said. */
  refusal: string
}

/** Of one token. */
export interface SentEvent {
  key: string
  customer: string
  /** What it says itself; null: nothing. */
  occurredAt: number | null
  fate: Fate
}

export interface Check {
  customer: string
  door: 'graphql' | 'sidecar'
  askedAt: number
  answeredAt: number
  requested: number
  isGranted: boolean
  usage: number
  limit: number | null
}

/** A plan that a customer came to. */
export interface Step {
  plan: string
  /** Somebody may see it from then on. */
  begunAt: number
  /** Everybody has to see it from then on; null: nobody has said so. */
  doneAt: number | null
  /** Time alone brings it about, and nobody needs to be told. */
  isByTime?: boolean
}

export type Role = 'counted' | 'evented' | 'limited' | 'changing' | 'trial' | 'converting'

export interface Holder {
  customer: string
  role: Role
  steps: Step[]
}

export interface QuietTenant {
  calls: number
  worstMs: number
  /** Answers that say that there is too much at once. */
  refused: number
}

export class Ledger {
  readonly reports: SentReport[] = []
  readonly events: SentEvent[] = []
  readonly checks: Check[] = []
  readonly holders: Holder[] = []
  readonly quiet: QuietTenant = { calls: 0, worstMs: 0, refused: 0 }
  /** Answers to calls of reports, events and changes. */
  readonly answers = { acknowledged: 0, refused: 0, unknown: 0 }

  of(role: Role): Holder[] {
    return this.holders.filter((holder) => holder.role === role)
  }

  report(key: string, customer: string, value: number): SentReport {
    const report: SentReport = {
      key,
      customer,
      value,
      fate: 'open',
      sentAt: Date.now(),
      acknowledgedAt: null,
      measurementIds: new Set(),
      refusal: '',
    }
    this.reports.push(report)
    return report
  }

  event(key: string, customer: string, occurredAt: number | null): SentEvent {
    const event: SentEvent = { key, customer, occurredAt, fate: 'open' }
    this.events.push(event)
    return event
  }
}

export const limitOf = (plan: string): number => callLimits[plan]!
