/**
 * Meters: how the usage of a feature is counted from raw events.
 *
 * event      a raw fact: a name and dimensions
 * filter     which events count: any group, all conditions of it
 * condition  a claim about the event's name (field `eventName`) or one of its dimensions
 */

import type { EpochMs } from '../../kernel/clock.js'

/** None: nothing is counted. Fluctuating: a level, which is never reset. Incremental: what adds up in a usage period. */
export type MeterType = 'None' | 'Fluctuating' | 'Incremental'

/** What a dimension holds. 0, false and "" are values; null is the same as a missing dimension. */
export type DimensionValue = string | number | boolean

export interface MeteredEvent {
  eventName: string
  dimensions: Readonly<Record<string, DimensionValue | null>>
}

export const aggregations = ['COUNT', 'SUM', 'MAX', 'MIN', 'AVG', 'UNIQUE'] as const
export type Aggregation = (typeof aggregations)[number]

/** Operations that compare with one value. */
export const comparisons = [
  'EQUALS',
  'NOT_EQUALS',
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUAL',
  'LESS_THAN',
  'LESS_THAN_OR_EQUAL',
  'CONTAINS',
  'STARTS_WITH',
  'ENDS_WITH',
] as const
export type Comparison = (typeof comparisons)[number]

/** `field` is `eventName` for the event's name (a dimension of that name cannot be asked for), else the name of a dimension. */
export type FilterCondition =
  | { field: string; operation: Comparison; value: DimensionValue }
  | { field: string; operation: 'IN'; values: DimensionValue[] }
  | { field: string; operation: 'IS_NULL' | 'IS_NOT_NULL' }

/** All conditions must hold; a group without conditions takes every event. */
export type FilterGroup = FilterCondition[]

export interface Meter {
  featureId: string
  aggregation: Aggregation
  /** The dimension that is aggregated; null for COUNT. */
  field: string | null
  /** One group that holds is enough; without groups every event counts. */
  filters: FilterGroup[]
}

/** What a meter was from an instant on. */
export interface MeterVersion extends Pick<Meter, 'aggregation' | 'field' | 'filters'> {
  version: number
  validFrom: EpochMs
}

/** A meter with its history. Ids are ours, refIds the caller's. */
export interface FeatureMeter {
  featureId: string
  featureRefId: string
  /** Oldest first; never empty. */
  versions: MeterVersion[]
  /** Somebody has asked for its history by dimensions: also a UNIQUE one leaves rows in usage_rollup, which tell where something was counted. */
  isGrouped: boolean
}

/** What counts in a period that begins at `start` (null: at no time): the meter as it was then, or as it was first. */
export function versionAt({ versions }: FeatureMeter, start: EpochMs | null): MeterVersion {
  return (start !== null && versions.findLast(({ validFrom }) => validFrom <= start)) || versions[0]!
}

/**
 * Whether the meter wants the event. How values meet:
 * - two texts as texts: exactly, case-sensitive, ordered by code units ("10" comes before "9");
 * - a number and a number, or a number and a text that is written as one ("5", "0.50", "1e3"), as numbers;
 * - two booleans are equal or not, and have no order;
 * - anything else is not equal, and neither greater nor less. NOT_EQUALS is true whenever EQUALS is not, so for a missing dimension too;
 * - CONTAINS, STARTS_WITH and ENDS_WITH read numbers and booleans as their text;
 * - for a missing dimension only IS_NULL and NOT_EQUALS hold.
 */
export function matches(meter: Pick<Meter, 'filters'>, event: MeteredEvent): boolean {
  return meter.filters.length === 0 || meter.filters.some((group) => group.every((condition) => holds(condition, event)))
}

/** The value of a field of the event; null when it is missing. Names that every object inherits ("constructor") are missing too. */
export function fieldOf(event: MeteredEvent, field: string): DimensionValue | null {
  if (field === 'eventName') return event.eventName
  return Object.hasOwn(event.dimensions, field) ? (event.dimensions[field] ?? null) : null
}

/** The number that a value is or, as text, is written as; null when it is none or not finite. */
export function asNumber(value: DimensionValue | null): number | null {
  const isWritten = typeof value === 'string' && /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value)
  const number = isWritten ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

function holds(condition: FilterCondition, event: MeteredEvent): boolean {
  const actual = fieldOf(event, condition.field)
  switch (condition.operation) {
    case 'IS_NULL':
      return actual === null
    case 'IS_NOT_NULL':
      return actual !== null
    case 'NOT_EQUALS':
      return actual === null || !areEqual(actual, condition.value)
    case 'IN':
      return actual !== null && condition.values.some((value) => areEqual(actual, value))
    default:
      return actual !== null && compares(condition.operation, actual, condition.value)
  }
}

function compares(operation: Exclude<Comparison, 'NOT_EQUALS'>, actual: DimensionValue, value: DimensionValue): boolean {
  switch (operation) {
    case 'EQUALS':
      return areEqual(actual, value)
    case 'GREATER_THAN':
      return order(actual, value) > 0
    case 'GREATER_THAN_OR_EQUAL':
      return order(actual, value) >= 0
    case 'LESS_THAN':
      return order(actual, value) < 0
    case 'LESS_THAN_OR_EQUAL':
      return order(actual, value) <= 0
    case 'CONTAINS':
      return String(actual).includes(String(value))
    case 'STARTS_WITH':
      return String(actual).startsWith(String(value))
    case 'ENDS_WITH':
      return String(actual).endsWith(String(value))
  }
}

function areEqual(a: DimensionValue, b: DimensionValue): boolean {
  return a === b || order(a, b) === 0
}

/** Below 0, 0 or above 0; NaN, which no comparison accepts, when the two have no order. */
function order(a: DimensionValue, b: DimensionValue): number {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'boolean' || typeof b === 'boolean') return Number.NaN
  const [x, y] = [asNumber(a), asNumber(b)]
  return x === null || y === null ? Number.NaN : x - y
}
