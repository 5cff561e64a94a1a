/**
 * What callers send, as it is checked at the door and stored.
 *
 * report  a measured value, counted by the caller (seats, megabytes): added to the usage (DELTA) or replacing it (SET)
 * event   a raw fact that meters count
 */
import { hash } from 'node:crypto'
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import { checkRefId } from '../../kernel/id.js'
import { invalidInput } from '../../kernel/problem.js'
import { isStorableText } from '../../kernel/storable.js'
import { heapBytes } from '../../kernel/weight.js'
import type { DimensionValue } from './meter.js'
import { checkTimestamp } from './timestamp.js'
import { maxMagnitude } from './usage-value.js'

export type Dimensions = Readonly<Record<string, DimensionValue | null>>

/** Ids are the caller's. */
export interface UsageReport {
  customerId: string
  /** Null: the customer itself. */
  resourceId: string | null
  featureId: string
  /** See `checkUsageValue`. */
  value: Decimal
  behavior: 'DELTA' | 'SET'
  /** When it was used; null: when it is counted, in the order of commits. */
  timestamp: string | Date | EpochMs | null
  /** Unique per environment: a repeat with the same body is answered and not counted. Null: each report counts. */
  idempotencyKey: string | null
  dimensions: Dimensions | null
}

export interface UsageEvent {
  customerId: string
  resourceId: string | null
  eventName: string
  idempotencyKey: string
  /** When it happened; null: when it is stored. Part of the event's identity. */
  timestamp: string | Date | EpochMs | null
  dimensions: Dimensions
}

/** The usage after a report. Always of the current usage period, also when the report was dated back. */
export interface ReportedUsage {
  /** Of the measurement. A repeat by idempotency key has the id of the first. */
  id: string
  customerId: string
  resourceId: string | null
  featureId: string
  /** In the unit that is answered, at least 0. */
  currentUsage: Decimal
  /** Null when usage is never reset, or the customer is not entitled. */
  periodStart: EpochMs | null
  /** When usage starts again. */
  periodEnd: EpochMs | null
  /** Version of the customer's state that this usage belongs to. */
  timestamp: EpochMs
  /** The report changed more than usage for the customer: a budget is used up, or is not any more. Absent: it did not. */
  isAccessChanged?: true
}

/** A checked report under its measurement id. */
export interface ReportItem extends UsageReport {
  id: string
  timestamp: EpochMs | null
}

export interface EventItem extends UsageEvent {
  timestamp: EpochMs | null
}

/** The key that a report without one can be sent again under: it names the measurement that the door has given it. */
export const keyOfMeasurement = (id: string): string => `${measurementPrefix}${id}`

/** The measurement that such a key names; null: the caller has made the key. */
export function measurementOfKey(idempotencyKey: string | null): string | null {
  if (!idempotencyKey?.startsWith(measurementPrefix)) return null
  const id = idempotencyKey.slice(measurementPrefix.length)
  return ownId.test(id) ? id : null
}

const measurementPrefix = 'measurement:'
/** As `newId` makes them. */
const ownId = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

export const maxItemsPerCall = 1_000
const maxEventBytes = 1_000_000
/** Of the reports of one call, which are counted together. */
export const maxDimensionBytesPerCall = 1_000_000

/** Fails with INVALID_ARGUMENT on anything that can be refused by reading it. `now` is the database's time. */
export function checkReport(report: UsageReport, id: string, now: EpochMs): ReportItem {
  checkRefId(report.customerId, 'customerId')
  checkRefId(report.featureId, 'featureId')
  if (report.resourceId !== null) checkRefId(report.resourceId, 'resourceId')
  if (report.idempotencyKey !== null) checkRefId(report.idempotencyKey, 'idempotencyKey')
  if (!(Math.abs(Number(report.value)) < maxMagnitude))
    throw invalidInput('value must be between -1e15 and 1e15, both excluded', { path: 'value' })
  if (report.dimensions !== null) checkDimensions(report.dimensions)
  return { ...report, id, timestamp: report.timestamp === null ? null : checkTimestamp(report.timestamp, now) }
}

/** Fails with INVALID_ARGUMENT on anything that can be refused by reading it. `now` is the database's time; null: of an event that was reported before. */
export function checkEvent(event: UsageEvent, now: EpochMs | null): EventItem {
  checkRefId(event.customerId, 'customerId')
  checkRefId(event.eventName, 'eventName')
  checkRefId(event.idempotencyKey, 'idempotencyKey')
  if (event.resourceId !== null) checkRefId(event.resourceId, 'resourceId')
  checkDimensions(event.dimensions)
  return { ...event, timestamp: event.timestamp === null ? null : checkTimestamp(event.timestamp, now) }
}

/** Fails with INVALID_ARGUMENT when they are too much for one call. */
export function checkTogether(reports: readonly ReportItem[]): void {
  const bytes = reports.reduce((sum, { dimensions }) => sum + heapBytes(dimensions), 0)
  if (bytes > maxDimensionBytesPerCall)
    throw invalidInput(
      `the reports of one call have more than ${maxDimensionBytesPerCall} bytes of dimensions together: send them in several calls`,
      {
        path: 'dimensions',
      },
    )
}

function checkDimensions(dimensions: Dimensions): void {
  if (typeof dimensions !== 'object' || dimensions === null || Array.isArray(dimensions))
    throw invalidInput('dimensions must be an object', { path: 'dimensions' })
  let bytes = 0
  for (const [name, value] of Object.entries(dimensions)) {
    const path = `dimensions.${name}`
    const type = typeof value
    if (value !== null && type !== 'string' && type !== 'boolean' && !(type === 'number' && Number.isFinite(value)))
      throw invalidInput(`${path} must be text, a number, true, false or null`, { path })
    if (!isStorableText(name) || (type === 'string' && !isStorableText(value as string)))
      throw invalidInput(`${path} contains a character that is not text`, { path })
    bytes += Buffer.byteLength(name) + (type === 'string' ? Buffer.byteLength(value as string) : 8)
  }
  if (bytes > maxEventBytes) throw invalidInput('an event must not be larger than 1 MB', { path: 'dimensions' })
}

/** Identity of a report that carries an idempotency key. */
export function reportIdentity(environmentId: string, idempotencyKey: string): Buffer {
  return hashOf(['report', environmentId, idempotencyKey])
}

/** What a repeat must agree in. */
export function reportBody(report: ReportItem): Buffer {
  const { customerId, resourceId, featureId, value, behavior, timestamp, dimensions } = report
  return hashOf([customerId, resourceId, featureId, value, behavior, timestamp === null ? null : String(timestamp), canonical(dimensions)])
}

/** Identity of an event: the timestamp belongs to it when the caller sent one, the dimensions never. */
export function eventIdentity(environmentId: string, event: EventItem): Buffer {
  const { customerId, resourceId, eventName, idempotencyKey, timestamp } = event
  return hashOf(['event', environmentId, customerId, resourceId, eventName, idempotencyKey, timestamp === null ? null : String(timestamp)])
}

/** SHA-256 of length-prefixed parts, so that "a" + "bc" never meets "ab" + "c", and null is not "". */
function hashOf(parts: (string | null)[]): Buffer {
  let text = ''
  for (const part of parts) text += part === null ? '-' : `${part.length}:${part}`
  return hash('sha256', text, 'buffer')
}

/** The same text whatever the order of the names. */
function canonical(dimensions: Dimensions | null): string | null {
  return dimensions === null ? null : JSON.stringify(Object.entries(dimensions).sort(([a], [b]) => (a < b ? -1 : 1)))
}
