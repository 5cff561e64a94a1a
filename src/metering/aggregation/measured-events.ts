import type { MeasuredEvent } from '../counting/counter-batch.js'
import { measure } from '../model/aggregate.js'
import { type Holder, holderKey } from '../model/holder.js'
import type { FeatureMeter, MeterVersion } from '../model/meter.js'
import { type StoredEvents, storedHolder, visitStored } from '../wire/stored-events.js'

/** Events of one customer or of one of its resources, as meters see them. */
export interface HolderEvents {
  holder: Holder
  key: string
  /** Ours. */
  customerId: string
  /** Of each version of a meter that wants some of them. */
  measured: Map<MeterVersion, { meter: FeatureMeter; events: MeasuredEvent[] }>
}

/** The events of the batches that some version of a meter makes something of, by whose they are. */
export function measureEvents(batches: readonly StoredEvents[], meters: readonly FeatureMeter[]): HolderEvents[] {
  const versions = meters.flatMap((meter) => meter.versions.map((version) => ({ meter, version })))
  const groups = new Map<string, HolderEvents>()
  for (const batch of batches) {
    /** By the position of the holder. */
    const groupOf: HolderEvents[] = []
    visitStored(batch, (event, at, position) => {
      for (const { meter, version } of versions) {
        const share = measure(version, event)
        if (share === null) continue
        let group = groupOf[position]
        if (!group) {
          const { customerId, holder } = storedHolder(batch, position)
          const key = holderKey(holder)
          group = groups.get(key) ?? { holder, key, customerId, measured: new Map() }
          groups.set(key, group)
          groupOf[position] = group
        }
        let measured = group.measured.get(version)
        if (!measured) {
          measured = { meter, events: [] }
          group.measured.set(version, measured)
        }
        measured.events.push({ at, share })
      }
    })
  }
  return [...groups.values()]
}
