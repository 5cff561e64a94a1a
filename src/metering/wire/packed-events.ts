/** How the events of a call travel to the worker: by column, and what they have in common once. It is half of what they are one by one. */
import type { EpochMs } from '../../kernel/clock.js'
import type { Dimensions, EventItem } from '../model/report.js'
import { eachOnce, orNone } from './columns.js'

export interface PackedEvents {
  customers: string[]
  /** Null: no event has one. */
  resources: (string | null)[] | null
  /** Each once. */
  names: string[]
  /** Of each event, the position of its name; null: all have the one. */
  named: number[] | null
  keys: string[]
  /** Null: no event has one. */
  times: (EpochMs | null)[] | null
  dimensions: Dimensions[]
}

export function packEvents(events: readonly EventItem[]): PackedEvents {
  const names = eachOnce(events.map(({ eventName }) => eventName))
  return {
    customers: events.map((event) => event.customerId),
    resources: orNone(events.map((event) => event.resourceId)),
    names: names.values,
    named: names.values.length > 1 ? names.positions : null,
    keys: events.map((event) => event.idempotencyKey),
    times: orNone(events.map((event) => event.timestamp)),
    dimensions: events.map((event) => event.dimensions),
  }
}

export function unpackEvents({ customers, resources, names, named, keys, times, dimensions }: PackedEvents): EventItem[] {
  return keys.map((idempotencyKey, index) => ({
    customerId: customers[index]!,
    resourceId: resources?.[index] ?? null,
    eventName: names[named?.[index] ?? 0]!,
    idempotencyKey,
    timestamp: times?.[index] ?? null,
    dimensions: dimensions[index]!,
  }))
}
