/** How the events of a call travel to the worker: by column, and what they have in common once. It is half of what they are one by one. */
import type { EpochMs } from '../../kernel/clock.js'
import type { Dimensions, EventItem } from '../model/report.js'

export interface PackedEvents {
  customers: string[]
  /** Null: no event has one. */
  resources: (string | null)[] | null
  /** Each once. */
  names: string[]
  /** Of each event, the index of its name; null: all have the one. */
  named: number[] | null
  keys: string[]
  /** Null: no event has one. */
  times: (EpochMs | null)[] | null
  dimensions: Dimensions[]
}

export function packEvents(events: readonly EventItem[]): PackedEvents {
  const names = new Map<string, number>()
  const named = events.map(({ eventName }) => {
    const index = names.get(eventName) ?? names.size
    names.set(eventName, index)
    return index
  })
  return {
    customers: events.map((event) => event.customerId),
    resources: orNone(events.map((event) => event.resourceId)),
    names: [...names.keys()],
    named: names.size > 1 ? named : null,
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

/** Null when there is none. */
export function orNone<T>(values: (T | null)[]): (T | null)[] | null {
  return values.some((value) => value !== null) ? values : null
}
