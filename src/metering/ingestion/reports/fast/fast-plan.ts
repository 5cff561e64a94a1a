/**
 * The short way of counting reports: one round trip instead of six, for batches that only add, now, to counters that this process knows to be there.
 * What it knows is checked in the database under the customers' locks; when any of it is not so, nothing is written and the long way looks again.
 */
import type { ToldReport } from '../../../../changes/wire/told-reports.js'
import type { EpochMs } from '../../../../kernel/clock.js'
import * as decimal from '../../../../kernel/decimal.js'
import type { BindingDecision, TrackedPeriod, TrackedSeries } from '../../../counting/bindings.js'
import type { Route } from '../../../counting/series-tracker.js'
import type { ReportItem } from '../../../model/report.js'

/** A report that may be counted, and where it belongs. */
export interface FastItem {
  item: ReportItem
  route: Route
  /** It is counted already, or by an earlier one of the batch. */
  isRepeat: boolean
  key: { hash: Buffer; bodyHash: Buffer } | null
}

/** What the database is told of one counter. */
interface AddedCounter {
  tracked: TrackedSeries
  period: TrackedPeriod
  /** Position of the customer. */
  owner: number
  value: decimal.Decimal
}

interface CountedCustomer {
  id: string
  accessVersion: EpochMs
}

export interface FastPlan<Item extends FastItem = FastItem> {
  /** Half-open: the versions of customers for which all counters are the right ones. */
  from: EpochMs
  until: EpochMs
  /** With the positions of their customers and of the counters that answer them. */
  items: { planned: Item; owner: number; counter: number }[]
  customers: CountedCustomer[]
  counters: AddedCounter[]
  told: ToldReport[]
}

/** Null when a batch has to go the long way. `time` is about the database's; a test clock may be ahead of it. */
export function planFast<Item extends FastItem>(items: readonly Item[], time: EpochMs): FastPlan<Item> | null {
  const customerIds = [...new Set(items.map(({ route }) => route.customer.customerId))].sort()
  const owners = new Map(customerIds.map((id, index) => [id, index]))
  const customers: CountedCustomer[] = customerIds.map((id) => ({ id, accessVersion: 0 }))
  const counters = new Map<TrackedPeriod, AddedCounter & { index: number }>()
  /** By counter; those of resources by whom and what they are about, because they may have the customer's counter. */
  const told = new Map<AddedCounter | string, ToldReport>()
  const counted: FastPlan<Item>['items'] = []
  let from = 0
  let until = Number.MAX_SAFE_INTEGER
  /** Undefined: not known to this process yet. Null: the resource has no series of its own. */
  const trackedOf = (decision: BindingDecision, featureId: string): TrackedSeries | null | undefined => {
    from = Math.max(from, decision.from)
    until = Math.min(until, decision.until)
    return decision.tracked.get(featureId)
  }
  for (const planned of items) {
    const { route, item, isRepeat } = planned
    const { feature } = route
    // More is counted then than what holders are entitled to asks for, and what it comes to may change what is held.
    if (route.customer.budgets || route.resource?.budgets) return null
    if (isRepeat || item.behavior !== 'DELTA' || item.timestamp !== null) return null
    const owner = owners.get(route.customer.customerId)!
    const customer = customers[owner]!
    customer.accessVersion = route.customer.accessVersion
    if (route.resource && route.resource.accessVersion !== customer.accessVersion) return null
    const decision = route.customer.decisionFrom(time)
    const now = Math.max(time, decision.from)
    const add = (tracked: TrackedSeries) => {
      const period = tracked.periods.find(({ start, end }) => (start === null || start <= now) && (end === null || now < end))
      if (!period?.isComplete || tracked.datedAheadUntil >= now) return null
      const known = counters.get(period)
      if (known) known.value = decimal.add(known.value, item.value)
      else counters.set(period, { tracked, period, owner, value: item.value, index: counters.size })
      from = Math.max(from, period.start ?? 0, tracked.series.anchor ?? 0)
      until = Math.min(until, period.end ?? Number.MAX_SAFE_INTEGER)
      return counters.get(period)!
    }
    const total = trackedOf(decision, feature.id)
    const own = route.resource ? trackedOf(route.resource.decisionFrom(now), feature.id) : null
    if (!total || own === undefined) return null
    const added = add(total)
    const addedOwn = own && add(own)
    if (!added || (own && !addedOwn)) return null
    const answering = addedOwn || added
    for (const resource of route.resource ? [null, route.resource] : [null]) {
      const counter = resource ? answering : added
      if (!counter.tracked.entitled) continue
      told.set(resource ? `${counter.owner}|${resource.resourceId}|${feature.id}` : counter, {
        counter: counter.index,
        customerId: route.customer.holder.customerId,
        resourceId: resource?.holder.resourceId ?? null,
        featureId: feature.refId,
        periodStart: counter.period.start,
        periodEnd: counter.period.end,
      })
    }
    counted.push({ planned, owner, counter: answering.index })
  }
  return { from, until, items: counted, customers, counters: [...counters.values()], told: [...told.values()] }
}
