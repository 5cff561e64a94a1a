/**
 * How events become usage.
 *
 * share   what one event brings: a number, or for UNIQUE the member that it names
 * tally   shares added up; any order and any split of the events ends the same
 */
import { hash } from 'node:crypto'
import * as decimal from '../../kernel/decimal.js'
import { type Aggregation, asNumber, fieldOf, type Meter, type MeteredEvent, matches } from './meter.js'
import { maxMagnitude } from './usage-value.js'

/** A decimal; for UNIQUE the member's text. */
export type Share = string

/**
 * What one event brings to the usage of the meter's feature: 1 for COUNT, the value of the dimension as text for UNIQUE (5 and "5" are one member),
 * and else the number in the dimension (also one written as text; rounded to 9 decimals).
 *
 * Null when the event brings nothing and leaves no trace: the filters do not want it, or the dimension is missing, or not a number where one is
 * needed, or beyond what a report may carry (one broken event must not push a counter out of its range).
 */
export function measure(meter: Pick<Meter, 'aggregation' | 'field' | 'filters'>, event: MeteredEvent): Share | null {
  if (!matches(meter, event)) return null
  if (meter.aggregation === 'COUNT') return one
  const value = meter.field === null ? null : fieldOf(event, meter.field)
  if (meter.aggregation === 'UNIQUE') return value === null ? null : String(value)
  const number = asNumber(value)
  return number === null || Math.abs(number) >= maxMagnitude ? null : decimal.fromNumber(number)
}

const one = decimal.fromNumber(1)

/** What stands for a member where many are kept. */
export const memberHash = (member: Share): Buffer => hash('sha256', member, 'buffer').subarray(0, 16)

const none: ReadonlySet<Share> = new Set()

/** Shares of one meter, added up. */
export class Tally {
  events = 0
  /** COUNT, SUM and AVG: their sum. MAX, MIN: the largest, the smallest; 0 when there are none. */
  value: decimal.Decimal = decimal.zero
  /** UNIQUE: the members; of others none. */
  readonly members: ReadonlySet<Share>
  readonly #members: Set<Share> | null

  constructor(readonly aggregation: Aggregation) {
    this.#members = aggregation === 'UNIQUE' ? new Set() : null
    this.members = this.#members ?? none
  }

  add(share: Share): void {
    this.events += 1
    if (this.#members) this.#members.add(share)
    else this.value = this.events === 1 ? (share as decimal.Decimal) : combine(this.aggregation, this.value, share as decimal.Decimal)
  }

  /** What has been added up before. Not of UNIQUE, which would need the members. */
  addTallied({ value, events }: { value: decimal.Decimal; events: number }): void {
    if (events === 0) return
    this.value = this.events === 0 ? value : combine(this.aggregation, this.value, value)
    this.events += events
  }
}

function combine(aggregation: Aggregation, a: decimal.Decimal, b: decimal.Decimal): decimal.Decimal {
  if (aggregation === 'MAX') return decimal.max(a, b)
  if (aggregation === 'MIN') return decimal.compare(a, b) < 0 ? a : b
  return decimal.add(a, b)
}
