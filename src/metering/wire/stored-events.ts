/**
 * How a batch of events travels from the worker that stored it to the one that counts it: by column, and what they share once, because it is written and
 * read again for each batch.
 */
import type { EpochMs } from '../../kernel/clock.js'
import type { Holder } from '../model/holder.js'
import type { MeteredEvent } from '../model/meter.js'
import type { Dimensions } from '../model/report.js'
import { eachOnce, orNone } from './columns.js'

/** Ids are ours, refIds the caller's; without a resource it is the customer's own. */
type PackedHolder = [customerId: string, customerRefId: string, resourceId?: string, resourceRefId?: string]

export interface StoredEvents {
  /** Holders, each once. */
  places: PackedHolder[]
  names: string[]
  /** Of the events that came without a time. */
  time: EpochMs
  /** Of each event, the position of its holder. */
  placed: number[]
  /** Of each event, the position of its name; null: all have the one. */
  named: number[] | null
  /** Of each event, its time; null: none came with one. */
  times: (EpochMs | null)[] | null
  dimensions: Dimensions[]
}

/** One of them. */
export interface StoredEvent {
  customerId: string
  resourceId: string | null
  /** By the caller's ids. */
  holder: Holder
  eventName: string
  /** Null: it came without one. */
  occurredAt: EpochMs | null
  dimensions: Dimensions
}

/** `time`: of the events that came without one. */
export function packStored(time: EpochMs, events: readonly StoredEvent[]): StoredEvents {
  const known = new Map<string, number>()
  const places: PackedHolder[] = []
  const placed = events.map(({ customerId, resourceId, holder }) => {
    const key = resourceId ?? customerId
    let position = known.get(key)
    if (position === undefined) {
      const isCustomer = resourceId === null || holder.resourceId === null
      position =
        places.push(isCustomer ? [customerId, holder.customerId] : [customerId, holder.customerId, resourceId, holder.resourceId!]) - 1
      known.set(key, position)
    }
    return position
  })
  const names = eachOnce(events.map(({ eventName }) => eventName))
  return {
    places,
    names: names.values,
    time,
    placed,
    named: names.values.length > 1 ? names.positions : null,
    times: orNone(events.map(({ occurredAt }) => occurredAt)),
    dimensions: events.map(({ dimensions }) => dimensions),
  }
}

/** Calls `visit` with each event in order; `position` is that of its holder, see `storedHolder`. */
export function visitStored(
  { names, time, placed, named, times, dimensions }: StoredEvents,
  visit: (event: MeteredEvent, at: EpochMs, position: number) => void,
): void {
  for (const [index, position] of placed.entries())
    visit({ eventName: names[named?.[index] ?? 0]!, dimensions: dimensions[index]! }, times?.[index] ?? time, position)
}

export function storedHolder({ places }: StoredEvents, position: number): Pick<StoredEvent, 'customerId' | 'resourceId' | 'holder'> {
  const [customerId, customerRefId, resourceId = null, resourceRefId = null] = places[position]!
  return { customerId, resourceId, holder: { customerId: customerRefId, resourceId: resourceRefId } }
}

/** Our ids of the customers that have any of them; one may come twice. */
export function storedCustomers({ places }: StoredEvents): string[] {
  return places.map(([customerId]) => customerId)
}
