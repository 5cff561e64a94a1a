import type { EpochMs } from '../../kernel/clock.js'
import { type Share, Tally } from '../model/aggregate.js'
import { bucketOf } from '../model/bucket.js'
import type { MeterVersion } from '../model/meter.js'
import type { RollupChange } from './rollup-repository.js'
import type { Route } from './series-tracker.js'

/** What is added to a bucket. */
interface RolledUp {
  tally: Tally
  meterVersion: number | null
}

/** What the events of a batch add to buckets. */
export class EventRollups {
  readonly #rollups = new Map<Route, Map<EpochMs, RolledUp>>()

  /** History does not ask who was entitled, so what is before the anchor of a series is in it too. */
  add(route: Route, { aggregation, version }: MeterVersion, share: Share, at: EpochMs): void {
    let buckets = this.#rollups.get(route)
    if (!buckets) {
      buckets = new Map()
      this.#rollups.set(route, buckets)
    }
    const bucket = bucketOf(at)
    let rolledUp = buckets.get(bucket)
    if (!rolledUp) {
      rolledUp = { tally: new Tally(aggregation), meterVersion: version }
      buckets.set(bucket, rolledUp)
    }
    if (rolledUp.meterVersion !== version) rolledUp.meterVersion = null
    rolledUp.tally.add(share)
  }

  changes(): RollupChange[] {
    return [...this.#rollups].flatMap(([{ customer, resource, feature }, buckets]) => {
      const scope = { customerId: customer.customerId, featureId: feature.id, resourceId: resource?.resourceId ?? null }
      return [...buckets].map(([bucket, { tally, meterVersion }]) => {
        const { aggregation, value, events } = tally
        return { ...scope, bucket, aggregation, value, events, meterVersion }
      })
    })
  }
}
