import type { Problem } from '../../../kernel/problem.js'
import { Binding } from '../../counting/bindings.js'
import type { Route } from '../../counting/counter-batch.js'
import type { FoundHolder } from '../../counting/holder-repository.js'
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

/** A repeat for a customer that has been archived since: it is answered, and there is nothing that it could be counted to. */
export interface ArchivedItem extends Pick<PlannedItem, 'item' | 'feature' | 'measurementId'> {
  route: null
  /** Ours. */
  customerId: string
  isRepeat: true
}

export type CallPlan = { items: (PlannedItem | ArchivedItem)[] } | { problem: Problem }

interface Whereabouts {
  bindings: ReadonlyMap<string, Binding | Problem>
  /** By `holderKey`: who those are that have no binding, as far as something of theirs is stored. */
  found?: ReadonlyMap<string, FoundHolder>
  /** Features that were probably meant by those that are not there. */
  nearest?: ReadonlyMap<string, string>
}

/**
 * What becomes of each call, in order: all of its items are counted or none. Deadlines are another matter. What is stored is a repeat, whatever has become of
 * its customer or feature since: so keys and ids are looked at before anything is refused.
 */
export function planCalls(
  environmentId: string,
  calls: readonly Call<ReportItem>[],
  facts: KnownFacts,
  whereabouts: Whereabouts,
): CallPlan[] {
  // The keys of the batch: a call that is refused takes none.
  const claimed = new Map<string, { bodyHash: string | null; measurementId: string }>(facts.keys)
  return calls.map(({ items }) => {
    const planned: (PlannedItem | ArchivedItem)[] = []
    const refused: RefusedItem[] = []
    const ofCall = new Map<string, { bodyHash: string | null; measurementId: string }>()
    let first: Problem | undefined
    for (const [index, item] of items.entries()) {
      const result = planItem(environmentId, item, facts, whereabouts, (hash) => ofCall.get(hash) ?? claimed.get(hash))
      if ('problem' in result) {
        first ??= result.problem
        refused.push(refusedItem(index, result.problem))
      } else {
        planned.push(result)
        if (!result.isRepeat && result.key)
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
  { bindings, nearest }: Whereabouts,
): { route: Route; feature: ReportedFeature } | { problem: Problem } {
  const customer = bindings.get(holderKey({ customerId: item.customerId, resourceId: null }))!
  const resource = item.resourceId === null ? null : bindings.get(holderKey(item))!
  if (!(customer instanceof Binding)) return { problem: customer }
  if (resource !== null && !(resource instanceof Binding)) return { problem: resource }
  const feature = facts.features.get(item.featureId)
  if (!feature) return { problem: featureNotFound(item.featureId, nearest?.get(item.featureId) ?? null) }
  return { route: { customer, resource, feature }, feature }
}

function planItem(
  environmentId: string,
  item: ReportItem,
  facts: KnownFacts,
  whereabouts: Whereabouts,
  find: (hash: string) => { bodyHash: string | null; measurementId: string } | undefined,
): PlannedItem | ArchivedItem | { problem: Problem } {
  const { idempotencyKey } = item
  const key = idempotencyKey === null ? null : { hash: reportIdentity(environmentId, idempotencyKey), bodyHash: reportBody(item) }
  const earlier = key && find(key.hash.toString('hex'))
  if (earlier && earlier.bodyHash !== key.bodyHash.toString('hex')) return { problem: idempotencyKeyTaken(idempotencyKey!) }
  const stored = facts.stored.get(item.id)
  const isRepeat = Boolean(earlier ?? stored)
  const measurementId = earlier?.measurementId ?? item.id
  // A key that names a measurement may name one of somebody else.
  const isOfOther = (holder: Pick<FoundHolder, 'customerId' | 'resourceId'>, feature: ReportedFeature) =>
    stored !== undefined && measurementOfKey(idempotencyKey) !== null && !isOf(stored, holder, feature)

  const routed = routeOf(item, facts, whereabouts)
  if ('problem' in routed) {
    const holder = isRepeat ? whereabouts.found?.get(holderKey(item)) : undefined
    const feature = facts.features.get(item.featureId)
    if (!holder || !feature) return routed
    if (isOfOther(holder, feature)) return { problem: idempotencyKeyTaken(idempotencyKey!) }
    return { item, route: null, customerId: holder.customerId, feature, measurementId, isRepeat: true }
  }
  const { route, feature } = routed
  const { customerId } = route.customer
  if (isOfOther({ customerId, resourceId: route.resource?.resourceId ?? null }, feature))
    return { problem: idempotencyKeyTaken(idempotencyKey!) }
  const problem = isRepeat ? null : refusalOf(item, feature)
  if (problem) return { problem }
  return { item, route, feature, measurementId, isRepeat, key: earlier ? null : key }
}

const isOf = (
  stored: StoredMeasurement,
  { customerId, resourceId }: Pick<FoundHolder, 'customerId' | 'resourceId'>,
  { id }: ReportedFeature,
) => stored.customerId === customerId && stored.resourceId === resourceId && stored.featureId === id

function refusalOf({ featureId, behavior, value }: ReportItem, { meterType, isMeteredByEvents }: ReportedFeature): Problem | null {
  if (meterType === 'None') return featureIsNotMetered(featureId)
  if (isMeteredByEvents) return featureIsMeteredByEvents(featureId)
  if (meterType === 'Incremental' && behavior === 'DELTA' && value.startsWith('-')) return negativeDelta(featureId)
  return null
}
