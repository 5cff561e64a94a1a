import type { Problem } from '../../../kernel/problem.js'
import { Binding } from '../../counting/bindings.js'
import type { Route } from '../../counting/counter-batch.js'
import { holderKey } from '../../model/holder.js'
import {
  featureIsMeteredByEvents,
  featureIsNotMetered,
  featureNotFound,
  idempotencyKeyTaken,
  negativeDelta,
  type RefusedItem,
  refusedItem,
  withItems,
} from '../../model/problems.js'
import { measurementOfKey, type ReportItem, reportBody, reportIdentity } from '../../model/report.js'
import type { Call } from '../../wire/call.js'
import type { KnownFacts, ReportedFeature, StoredMeasurement } from './report-repository.js'

export interface PlannedItem {
  item: ReportItem
  route: Route
  feature: ReportedFeature
  /** Of the measurement that counts it: its own, or the first one with its key. */
  measurementId: string
  /** It is counted already, or by an earlier item of the batch. */
  isRepeat: boolean
  key: { hash: Buffer; bodyHash: Buffer } | null
}

export type CallPlan = { items: PlannedItem[] } | { problem: Problem }

/**
 * What becomes of each call, in order: all of its items are counted or none. Deadlines are another matter. `nearest` are features that were probably
 * meant by those that are not there.
 */
export function planCalls(
  environmentId: string,
  calls: readonly Call<ReportItem>[],
  facts: KnownFacts,
  bindings: ReadonlyMap<string, Binding | Problem>,
  nearest: ReadonlyMap<string, string> = new Map(),
): CallPlan[] {
  // The keys of the batch: a call that is refused takes none.
  const claimed = new Map<string, { bodyHash: string | null; measurementId: string }>(facts.keys)
  return calls.map(({ items }) => {
    const planned: PlannedItem[] = []
    const refused: RefusedItem[] = []
    const ofCall = new Map<string, { bodyHash: string | null; measurementId: string }>()
    let first: Problem | undefined
    for (const [index, item] of items.entries()) {
      const route = routeOf(item, facts, bindings, nearest)
      const result = 'route' in route ? planItem(environmentId, item, route, facts, (hash) => ofCall.get(hash) ?? claimed.get(hash)) : route
      if ('problem' in result) {
        first ??= result.problem
        refused.push(refusedItem(index, result.problem))
      } else {
        planned.push(result)
        if (result.key && !result.isRepeat)
          ofCall.set(result.key.hash.toString('hex'), { bodyHash: result.key.bodyHash.toString('hex'), measurementId: item.id })
      }
    }
    if (first) return { problem: withItems(first, refused) }
    for (const [hash, key] of ofCall) claimed.set(hash, key)
    return { items: planned }
  })
}

function routeOf(
  item: ReportItem,
  facts: KnownFacts,
  bindings: ReadonlyMap<string, Binding | Problem>,
  nearest: ReadonlyMap<string, string>,
): { route: Route; feature: ReportedFeature } | { problem: Problem } {
  const customer = bindings.get(holderKey({ customerId: item.customerId, resourceId: null }))!
  const resource = item.resourceId === null ? null : bindings.get(holderKey(item))!
  if (!(customer instanceof Binding)) return { problem: customer }
  if (resource !== null && !(resource instanceof Binding)) return { problem: resource }
  const feature = facts.features.get(item.featureId)
  if (!feature) return { problem: featureNotFound(item.featureId, nearest.get(item.featureId) ?? null) }
  return { route: { customer, resource, feature }, feature }
}

const isOf = (stored: StoredMeasurement, { customer, resource }: Route, feature: ReportedFeature): boolean =>
  stored.customerId === customer.customerId && stored.resourceId === (resource?.resourceId ?? null) && stored.featureId === feature.id

function planItem(
  environmentId: string,
  item: ReportItem,
  { route, feature }: { route: Route; feature: ReportedFeature },
  facts: KnownFacts,
  find: (hash: string) => { bodyHash: string | null; measurementId: string } | undefined,
): PlannedItem | { problem: Problem } {
  if (feature.meterType === 'None') return { problem: featureIsNotMetered(item.featureId) }
  if (feature.isMeteredByEvents) return { problem: featureIsMeteredByEvents(item.featureId) }
  if (feature.meterType === 'Incremental' && item.behavior === 'DELTA' && item.value.startsWith('-'))
    return { problem: negativeDelta(item.featureId) }
  const stored = facts.stored.get(item.id)
  const planned = { item, route, feature, measurementId: item.id, isRepeat: stored !== undefined, key: null }
  if (item.idempotencyKey === null) return planned
  // A key that names a measurement may name one of somebody else.
  if (stored && measurementOfKey(item.idempotencyKey) !== null && !isOf(stored, route, feature))
    return { problem: idempotencyKeyTaken(item.idempotencyKey) }
  const key = { hash: reportIdentity(environmentId, item.idempotencyKey), bodyHash: reportBody(item) }
  const earlier = find(key.hash.toString('hex'))
  if (!earlier) return { ...planned, key }
  if (earlier.bodyHash !== key.bodyHash.toString('hex')) return { problem: idempotencyKeyTaken(item.idempotencyKey) }
  return { ...planned, measurementId: earlier.measurementId, isRepeat: true }
}
