import { type Place, placeKey } from '../counting/bindings.js'
import type { MeasuredEvent } from '../counting/counter-batch.js'
import { measure } from '../model/aggregate.js'
import type { FeatureMeter, MeterVersion } from '../model/meter.js'
import type { StoredEvents } from '../wire/jobs.js'

/** Events of one customer or of one of its resources, as meters see them. */
export interface PlaceEvents {
  place: Place
  key: string
  /** Ours. */
  customerId: string
  /** Of each version of a meter that wants some of them. */
  measured: Map<MeterVersion, { meter: FeatureMeter; events: MeasuredEvent[] }>
}

/** The events of the batches that some version of a meter makes something of, by whose they are. */
export function measureEvents(batches: readonly StoredEvents[], meters: readonly FeatureMeter[]): PlaceEvents[] {
  const versions = meters.flatMap((meter) => meter.versions.map((version) => ({ meter, version })))
  const groups = new Map<string, PlaceEvents>()
  for (const { places, names, time, placed, named, times, dimensions } of batches) {
    const groupOf: PlaceEvents[] = []
    for (const [index, placeIndex] of placed.entries()) {
      const event = { eventName: names[named?.[index] ?? 0]!, dimensions: dimensions[index]! }
      for (const { meter, version } of versions) {
        const share = measure(version, event)
        if (share === null) continue
        let group = groupOf[placeIndex]
        if (!group) {
          const [customerId, customerRefId, , resourceRefId = null] = places[placeIndex]!
          const place = { customerId: customerRefId, resourceId: resourceRefId }
          const key = placeKey(place)
          group = groups.get(key) ?? { place, key, customerId, measured: new Map() }
          groups.set(key, group)
          groupOf[placeIndex] = group
        }
        let measured = group.measured.get(version)
        if (!measured) {
          measured = { meter, events: [] }
          group.measured.set(version, measured)
        }
        measured.events.push({ at: times?.[index] ?? time, share })
      }
    }
  }
  return [...groups.values()]
}
