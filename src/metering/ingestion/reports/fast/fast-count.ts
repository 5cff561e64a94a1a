/**
 * The short way of counting reports: one round trip instead of six, for batches that only add, now, to counters that this process knows to be there.
 * What it knows is checked in the database under the customers' locks; when any of it is not so, nothing is written and the long way looks again.
 */

import { packTold, type ToldReport } from '../../../../changes/wire/told-reports.js'
import type { EpochMs } from '../../../../kernel/clock.js'
import * as decimal from '../../../../kernel/decimal.js'
import { newId } from '../../../../kernel/id.js'
import type { Binding, TrackedPeriod, TrackedSeries } from '../../../counting/bindings.js'
import { type Connection, plainArray, startTime } from '../../../counting/counter-repository.js'
import { type CounterValue } from '../../../counting/counter-write-repository.js'
import { maxUsage } from '../../../model/problems.js'
import { orNone } from '../../../wire/packed-events.js'
import type { PlannedItem } from '../report-plan.js'

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

export interface FastPlan {
  /** Half-open: the versions of customers for which all counters are the right ones. */
  from: EpochMs
  until: EpochMs
  items: { item: PlannedItem; owner: number; counter: number }[]
  customers: CountedCustomer[]
  counters: AddedCounter[]
  told: ToldReport[]
}

/** Null when a batch has to go the long way. `now` is about the database's time. */
export function planFast(planned: readonly PlannedItem[], now: EpochMs): FastPlan | null {
  const customerIds = [...new Set(planned.map(({ route }) => route.customer.customerId))].sort()
  const owners = new Map(customerIds.map((id, index) => [id, index]))
  const customers: CountedCustomer[] = customerIds.map((id) => ({ id, accessVersion: 0 }))
  const counters = new Map<TrackedPeriod, AddedCounter & { index: number }>()
  /** By counter; those of resources by whom and what they are about, because they may have the customer's counter. */
  const told = new Map<AddedCounter | string, ToldReport>()
  const items: FastPlan['items'] = []
  let from = 0
  let until = Number.MAX_SAFE_INTEGER
  /** Undefined: not known to this process yet. Null: the resource has no series of its own. */
  const trackedOf = (binding: Binding, featureId: string): TrackedSeries | null | undefined => {
    const decision = binding.decisionAt(now)
    until = Math.min(until, decision.until)
    return decision.tracked.get(featureId)
  }
  for (const item of planned) {
    const { route, feature } = item
    // More is counted then than what the winners ask for, and what it comes to may change what is held.
    if (route.customer.hasBudget || route.resource?.hasBudget) return null
    if (item.isRepeat || item.item.behavior !== 'DELTA' || item.item.timestamp !== null) return null
    const owner = owners.get(route.customer.customerId)!
    const customer = customers[owner]!
    customer.accessVersion = route.customer.accessVersion
    if (route.resource && route.resource.accessVersion !== customer.accessVersion) return null
    const add = (tracked: TrackedSeries) => {
      const period = tracked.periods.find(({ start, end }) => (start === null || start <= now) && (end === null || now < end))
      if (!period?.isComplete || tracked.datedAheadUntil >= now) return null
      const known = counters.get(period)
      if (known) known.value = decimal.add(known.value, item.item.value)
      else counters.set(period, { tracked, period, owner, value: item.item.value, index: counters.size })
      from = Math.max(from, period.start ?? 0, tracked.series.anchor ?? 0)
      until = Math.min(until, period.end ?? Number.MAX_SAFE_INTEGER)
      return counters.get(period)!
    }
    const total = trackedOf(route.customer, feature.id)
    const own = route.resource ? trackedOf(route.resource, feature.id) : null
    if (!total || own === undefined) return null
    const added = add(total)
    const addedOwn = own && add(own)
    if (!added || (own && !addedOwn)) return null
    const answering = addedOwn || added
    for (const place of route.resource ? [null, route.resource] : [null]) {
      const counter = place ? answering : added
      if (!counter.tracked.winner) continue
      told.set(place ? `${counter.owner}|${place.resourceId}|${feature.id}` : counter, {
        counter: counter.index,
        customerId: route.customer.holdings.customerRefId,
        resourceId: place?.holdings.resourceRefId ?? null,
        featureId: feature.refId,
        periodStart: counter.period.start,
        periodEnd: counter.period.end,
      })
    }
    items.push({ item, owner, counter: answering.index })
  }
  return { from, until, items, customers, counters: [...counters.values()], told: [...told.values()] }
}

/** Says itself that it is outdated, or a unique key does: something was stored before. */
const outdatedCodes: unknown[] = ['TG001', '23505']

/** Something that the batch was planned with is not so (any more). Nothing was written. */
export const isOutdated = (error: unknown): boolean => outdatedCodes.includes((error as { code?: unknown }).code)

/** One transaction, one statement. Answers the counters in their order. */
export async function countFast(
  db: Connection,
  environmentId: string,
  { from, until, items, customers, counters, told }: FastPlan,
  { catalogVersion, deadline }: { catalogVersion: number; deadline: EpochMs },
): Promise<CounterValue[]> {
  // In the order of their hashes, so that two batches never wait for each other.
  const keyed = items.filter(({ item }) => item.key !== null).sort((a, b) => a.item.key!.hash.compare(b.item.key!.hash))
  const features = placed(items.map(({ item }) => item.feature.id))
  const periods = placed(counters.map((c) => c.period.start))
  const { rows } = await db.query<{ usages: string; versions: string }>({
    name: 'metering_count_reports',
    text: `
      SELECT o_usages AS usages, o_versions AS versions FROM count_reports($1::uuid, $2::bigint, $3::bigint, $4::numeric,
        $5::bigint, $6::bigint, $7::uuid[], $8::bigint[],
        $9::uuid[], $10::timestamptz[],
        $11::uuid[], $12::int[], $13::uuid[], $14::int[], $15::numeric[], $16::jsonb[],
        $17::bytea[], $18::bytea[], $19::uuid[],
        $20::uuid[], $21::int[], $22::numeric[], $23::int[],
        $24::uuid, $25::text, $26::int)`,
    values: [
      environmentId,
      catalogVersion,
      deadline,
      maxUsage,
      from,
      until,
      plainArray(customers.map((c) => c.id)),
      plainArray(customers.map((c) => c.accessVersion)),
      plainArray(features.values),
      plainArray(periods.values.map(startTime)),
      plainArray(items.map(({ item }) => item.item.id)),
      plainArray(items.map(({ owner }) => owner + 1)),
      orNone(items.map(({ item }) => item.route.resource?.resourceId ?? null)),
      plainArray(features.places),
      plainArray(items.map(({ item }) => item.item.value)),
      orNone(items.map(({ item }) => (item.item.dimensions === null ? null : JSON.stringify(item.item.dimensions)))),
      keyed.map(({ item }) => item.key!.hash),
      keyed.map(({ item }) => item.key!.bodyHash),
      keyed.map(({ item }) => item.item.id),
      plainArray(counters.map((c) => c.tracked.id)),
      plainArray(periods.places),
      plainArray(counters.map((c) => c.value)),
      plainArray(counters.map((c) => c.owner + 1)),
      newId(),
      packTold(told),
      told.length,
    ],
  })
  const usages = rows[0]!.usages.split(',')
  const versions = rows[0]!.versions.split(',')
  return usages.map((usage, index) => ({ usage: decimal.fromText(usage), version: Number(versions[index]) }))
}

/** Each value once, and of each where it stands among these, from 1 on. */
function placed<T>(all: readonly T[]): { values: T[]; places: number[] } {
  const places = new Map<T, number>()
  for (const value of all) if (!places.has(value)) places.set(value, places.size + 1)
  return { values: [...places.keys()], places: all.map((value) => places.get(value)!) }
}
