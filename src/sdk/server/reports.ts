import { setTimeout as sleep } from 'node:timers/promises'
import { checkRefId, newId } from '../../kernel/id.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import type { SentEvent, SentReport } from '../../reader/api/client.js'
import { fromTime, type ReportUsageJson } from '../../reader/api/messages.js'
import type { EntitlementSource } from '../../reader/source/source.js'
import { toTollgateError } from '../error.js'
import type { CallOptions, Dimensions, ReportedUsage, UsageEvent, UsageReport } from '../types.js'
import { toOwner } from './checks.js'
import type { PendingUsage } from './pending-usage.js'

/** An event as the caller has it: without a key it is given one. */
export type NewEvent = Omit<UsageEvent, 'idempotencyKey'> & { idempotencyKey?: string }

/** Between two attempts that nobody took. */
const firstPauseMs = 50
const longestPauseMs = 1_000

interface Parts {
  source: EntitlementSource
  timeoutMs: number
  pending: PendingUsage
  isOptimistic: boolean
}

/** Sends usage, under keys that its repeats keep, until it is known what became of it or the time is over. */
export class Reports {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async reportUsage({ timeoutMs, ...report }: UsageReport & CallOptions): Promise<ReportedUsage> {
    const sent = toSentReport(report, 'report')
    const settle = this.#expect([report])
    try {
      const reported = await this.#send(timeoutMs, (waitMs) => this.#parts.source.reportUsage(sent, waitMs))
      return reported === null ? unsent(sent) : toReported(reported)
    } catch (error) {
      throw this.#failure(error, [sent])
    } finally {
      settle()
    }
  }

  async reportUsageBulk(reports: readonly UsageReport[], { timeoutMs }: CallOptions = {}): Promise<ReportedUsage[]> {
    if (reports.length === 0) return []
    const sent = reports.map((report, index) => toSentReport(report, `reports[${index}]`))
    const settle = this.#expect(reports)
    try {
      const reported = await this.#send(timeoutMs, (waitMs) => this.#parts.source.reportUsageBulk(sent, waitMs))
      return reported === null ? sent.map(unsent) : reported.map(toReported)
    } catch (error) {
      throw this.#failure(error, sent)
    } finally {
      settle()
    }
  }

  async reportEvents(events: readonly NewEvent[], { timeoutMs }: CallOptions = {}): Promise<void> {
    if (events.length === 0) return
    const sent = events.map((event, index) => toSentEvent(event, `events[${index}]`))
    try {
      await this.sendEvents(sent, timeoutMs)
    } catch (error) {
      throw this.#failure(error, sent)
    } finally {
      // Some may be stored whatever came of the others.
      for (const customerId of new Set(sent.map((event) => event.customerId))) this.#parts.source.outdate(customerId)
    }
  }

  /** Fails with a Problem. */
  sendEvents(events: readonly SentEvent[], timeoutMs?: number): Promise<void> {
    return this.#send(timeoutMs, (waitMs) => this.#parts.source.reportEvents(events, waitMs))
  }

  /** What was certainly not counted is sent again while there is time, too: under the same keys. */
  async #send<T>(timeoutMs = this.#parts.timeoutMs, attempt: (waitMs: number) => Promise<T>): Promise<T> {
    const until = performance.now() + timeoutMs
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await attempt(Math.max(0, until - performance.now()))
      } catch (error) {
        const { code, details } = Problem.from(error)
        if (code !== 'UNAVAILABLE' || details.outcome === 'unknown' || performance.now() + pauseMs >= until) throw error
      }
      await sleep(pauseMs)
    }
  }

  /** Answers what is to be called when it is known what became of the reports. */
  #expect(reports: readonly UsageReport[]): () => void {
    if (!this.#parts.isOptimistic) return () => {}
    const taken = reports.map((report) => this.#parts.pending.add(report))
    return () => {
      for (const takeOff of taken) takeOff()
    }
  }

  #failure(error: unknown, sent: readonly { customerId: string; idempotencyKey: string }[]) {
    const isUnknown = Problem.from(error).details.outcome === 'unknown'
    // It may be counted by now, or soon.
    if (isUnknown) for (const { customerId } of sent) this.#parts.source.outdate(customerId)
    return toTollgateError(error, {
      outcome: isUnknown ? 'unknown' : 'notCounted',
      idempotencyKeys: sent.map(({ idempotencyKey }) => idempotencyKey),
    })
  }
}

/** @throws TollgateError for what cannot be sent; the API checks the rest */
function toSentReport(report: UsageReport, path: string): SentReport {
  return checked(() => {
    if (!Number.isFinite(report.value)) throw invalidInput(`${path}.value is not a finite number`, { path: `${path}.value` })
    checkDimensions(report.dimensions, `${path}.dimensions`)
    return {
      ...toOwner(report, `${path}.`),
      featureId: checkRefId(report.featureId, `${path}.featureId`),
      idempotencyKey: report.idempotencyKey === undefined ? newId() : checkRefId(report.idempotencyKey, `${path}.idempotencyKey`),
      value: report.value,
      updateBehavior: report.updateBehavior ?? null,
      dimensions: report.dimensions ?? null,
      createdAt: toIso(report.timestamp, `${path}.timestamp`),
    }
  })
}

/** @throws TollgateError for what cannot be sent; the API checks the rest */
export function toSentEvent(event: NewEvent, path: string): SentEvent {
  return checked(() => {
    checkDimensions(event.dimensions, `${path}.dimensions`)
    return {
      ...toOwner(event, `${path}.`),
      eventName: checkRefId(event.eventName, `${path}.eventName`),
      idempotencyKey: event.idempotencyKey === undefined ? newId() : checkRefId(event.idempotencyKey, `${path}.idempotencyKey`),
      dimensions: event.dimensions ?? {},
      timestamp: toIso(event.timestamp, `${path}.timestamp`),
    }
  })
}

/** JSON makes null of a number that is not finite, and fails on what is none of its values. */
function checkDimensions(dimensions: Dimensions | undefined, path: string): void {
  for (const [name, value] of Object.entries(dimensions ?? {}) as [string, unknown][]) {
    const at = `${path}.${name}`
    if (typeof value === 'number' && !Number.isFinite(value)) throw invalidInput(`${at} is not a finite number`, { path: at })
    // null is the same as a missing one.
    if (!['string', 'number', 'boolean', 'undefined'].includes(typeof value) && value !== null)
      throw invalidInput(`${at} is no string, number or boolean`, { path: at })
  }
}

function checked<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw toTollgateError(error)
  }
}

function toIso(date: Date | undefined, path: string): string | null {
  if (date === undefined) return null
  if (Number.isNaN(date.getTime())) throw invalidInput(`${path} is no date`, { path })
  return date.toISOString()
}

const toDate = (text: string | null): Date | null => {
  const at = fromTime(text)
  return at === null ? null : new Date(at)
}

const toReported = (json: ReportUsageJson): ReportedUsage => ({
  measurementId: json.id,
  customerId: json.customerId,
  resourceId: json.resourceId,
  featureId: json.featureId,
  currentUsage: json.currentUsage,
  usagePeriodStart: toDate(json.usagePeriodStart),
  usagePeriodEnd: toDate(json.usagePeriodEnd),
})

/** Offline. */
const unsent = ({ customerId, resourceId, featureId }: SentReport): ReportedUsage => ({
  measurementId: '',
  customerId,
  resourceId,
  featureId,
  currentUsage: null,
  usagePeriodStart: null,
  usagePeriodEnd: null,
})
