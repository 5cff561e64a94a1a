import type pg from 'pg'
import { type LockedCustomer, lockCustomers, recordCounted } from '../../changes/counting.js'
import type { EpochMs } from '../../kernel/clock.js'
import { Binding, type Bindings } from '../counting/bindings.js'
import { type ComputedRange, computeUsage } from '../counting/compute-usage.js'
import { CounterBatch, type Route } from '../counting/counter-batch.js'
import { writeCounters } from '../counting/counter-repository.js'
import { loadMeters } from '../counting/meter-repository.js'
import { onBuckets, rollUpEvents } from '../counting/rollup.js'
import { type Holder, holderKey } from '../model/holder.js'
import type { FeatureMeter } from '../model/meter.js'
import { startOfRange } from '../model/series.js'
import { findKeptSince } from '../retention/kept-since.js'
import { findCountersOf } from './correction-repository.js'
import { type ClaimedRecomputation, type EventSpan, findEventSpans, findResourcesOf } from './recomputation-repository.js'

/** Our id and the caller's. */
interface Customer {
  id: string
  refId: string
}

/** What is counted anew, of whom, in the transaction that holds their locks. */
interface Step {
  db: pg.PoolClient
  environmentId: string
  meter: FeatureMeter
  /** That it is counted with. */
  meterVersion: number
  from: EpochMs | null
  to: EpochMs | null
  /** Events before it have been dropped, so periods that began before it stay as they are; null: all events are there. */
  keptSince: EpochMs | null
  /** Those that have a state, by our id. */
  locked: ReadonlyMap<string, LockedCustomer>
}

/** What a part of a step has done. */
interface Done {
  /** What was counted anew, of whose events rollups follow. Ids are ours. */
  ranges: { customerId: string; from: EpochMs | null; to: EpochMs | null }[]
  /** Counters that stay as they are, because events that they count have been dropped. */
  left: number
}

/**
 * Counts the customers' usage of a feature anew from the events that are stored, in the usage periods that touch [from, to): of the series that win now
 * also where there is no counter yet, of others where there is one. Rollups follow. Answers how many counters stay as they are because events that
 * they count have been dropped. Costs as much as the customers have events there, and holds their locks meanwhile.
 */
export async function recomputeCustomers(
  db: pg.PoolClient,
  bindings: Bindings,
  { environmentId, featureId, meterVersion, from, to }: ClaimedRecomputation,
  customers: Customer[],
): Promise<number> {
  const { customers: locked } = await lockCustomers(
    db,
    environmentId,
    customers.map(({ id }) => id),
  )
  const meter = (await loadMeters(db, environmentId)).find((known) => known.featureId === featureId)
  if (!meter) return 0
  const keptSince = await findKeptSince(db, environmentId)
  const step: Step = { db, environmentId, meter, meterVersion, from, to, keptSince, locked }
  const those = customers.filter(({ id }) => locked.has(id))
  const ids = those.map(({ id }) => id)
  const spans = await findEventSpans(db, environmentId, { customerIds: ids, from: latest(from, keptSince), to })
  const counted = await findCountersOf(db, environmentId, { featureId, customerIds: ids, from: null, to: null })
  const withUsage = new Set([...spans, ...counted].map(({ customerId }) => customerId))
  const winning = await countWinning(step, bindings, those, { spans, withUsage })
  const others = await countOthers(step, ids)
  const changed = new Set([...winning.ranges, ...others.ranges, ...spans].map(({ customerId }) => customerId))
  const ranges = [...changed].map((customerId) => {
    const own = [...winning.ranges, ...others.ranges].filter((range) => range.customerId === customerId)
    const start = [...own.map((range) => range.from), latest(from, keptSince)]
    const end = [...own.map((range) => range.to), to]
    const whole = {
      from: start.includes(null) ? null : Math.min(...(start as EpochMs[])),
      to: end.includes(null) ? null : Math.max(...(end as EpochMs[])),
    }
    return { customerId, featureId, meterVersion, ...onBuckets(whole) }
  })
  await rollUpEvents(db, environmentId, ranges, new Map([[featureId, meter]]))
  // A change of access: workers remember the version of the meter with the binding.
  const told = those.filter(({ id }) => changed.has(id)).map(({ id, refId }) => ({ id, refId, version: locked.get(id)!.version }))
  await recordCounted(db, environmentId, {
    versions: told.map(({ id, version }) => ({ customerId: id, version, isAccess: true })),
    access: told.map(({ refId, version }) => ({ customerId: refId, version })),
    usages: [],
  })
  return winning.left + others.left
}

/**
 * The periods of winning series in which there are events, and the one that runs now: it is counted with the new version although nothing came yet. Who has
 * no usage gets a counter that says so, and is not told.
 */
async function countWinning(
  step: Step,
  bindings: Bindings,
  customers: Customer[],
  { spans, withUsage }: { spans: EventSpan[]; withUsage: ReadonlySet<string> },
): Promise<Done> {
  const { db, environmentId, meter, meterVersion, locked, from, to } = step
  const refIds = new Map(customers.map(({ id, refId }) => [id, refId]))
  const resources = await findResourcesOf(db, environmentId, { featureId: meter.featureId, customerIds: [...refIds.keys()] })
  const times = new Map<string, { holder: Holder; at: EpochMs[] }>()
  const timesOf = (customerId: string, resourceId: string | null) => {
    const holder = { customerId: refIds.get(customerId)!, resourceId }
    const entry = times.get(holderKey(holder)) ?? { holder, at: [locked.get(customerId)!.version] }
    times.set(holderKey(holder), entry)
    return entry.at
  }
  for (const { id } of customers) timesOf(id, null)
  for (const { customerId, resourceRefId } of resources) timesOf(customerId, resourceRefId)
  for (const { customerId, resourceRefId, first, last } of spans) timesOf(customerId, resourceRefId).push(first, last)

  const holders = [...times.values()].map(({ holder }) => holder)
  // Under the locks what is read now is true, and what was remembered may not be.
  const forget = () => holders.forEach((holder) => void bindings.forget(environmentId, holder))
  forget()
  const loaded = await bindings.load(environmentId, holders)
  const feature = { id: meter.featureId, refId: meter.featureRefId }
  const wanted: { route: Route; at: EpochMs }[] = []
  const done: Done = { ranges: [], left: 0 }
  for (const { holder, at: all } of times.values()) {
    const customer = loaded.get(holderKey({ ...holder, resourceId: null }))
    const resource = holder.resourceId === null ? null : loaded.get(holderKey(holder))
    if (!(customer instanceof Binding)) continue
    const route = { customer, resource: resource instanceof Binding ? resource : null, feature }
    const periodsAt = periodsOf(route, locked.get(customer.customerId)!.version)
    const seen = new Set<string>()
    for (const at of all) {
      const periods = periodsAt(at).filter(
        (period) =>
          (from === null || period.to === null || period.to > from) && (to === null || period.start === null || period.start < to),
      )
      const key = periods.map(({ start }) => start).join('|')
      if (periods.length === 0 || seen.has(key)) continue
      seen.add(key)
      if (periods.some((period) => isCutOff(step, period.from))) done.left += 1
      else {
        wanted.push({ route, at })
        if (withUsage.has(customer.customerId))
          done.ranges.push(...periods.map((period) => ({ customerId: customer.customerId, from: period.from, to: period.to })))
      }
    }
  }
  const batch = new CounterBatch(db, environmentId, locked)
  await batch.prepare(wanted)
  for (const { route, at } of wanted) {
    if (withUsage.has(route.customer.customerId)) batch.recompute(route, at)
    else batch.current(route)
  }
  await batch.write((ranges) =>
    computeUsage(
      db,
      environmentId,
      ranges.map((range) => ({ ...range, meterVersion })),
      new Map([[meter.featureId, meter]]),
      { anew: true },
    ),
  )
  // What they remember of counters is of before.
  forget()
  return done
}

interface CountedPeriod {
  start: EpochMs | null
  /** Where its usage begins: its start, or the anchor within it. */
  from: EpochMs | null
  to: EpochMs | null
}

/** Answers the periods, of the customer's series and of the resource's own, in which an instant counts for somebody who is entitled now. */
function periodsOf(route: Route, now: EpochMs): (at: EpochMs) => CountedPeriod[] {
  const sources = (route.resource ? [route.customer, route.resource] : [route.customer]).flatMap((binding) => {
    const entitled = binding.seriesOf(binding.decisionAt(now), route.feature.id)?.entitled
    return entitled ? [{ entitled, known: [] as CountedPeriod[] }] : []
  })
  return (at) =>
    sources.flatMap(({ entitled, known }) => {
      const { series } = entitled
      if (series.anchor !== null && at < series.anchor) return []
      let period = known.find(({ start, to }) => (start === null || start <= at) && (to === null || at < to))
      if (!period) {
        // Finding a period in a time zone costs over 100 µs.
        const { start, end } = entitled.periodAt(at)
        period = { start, from: startOfRange(series, { start, end }), to: end }
        known.unshift(period)
      }
      return [period]
    })
}

/** The counters that there are and that were not counted anew as those of winning series. */
async function countOthers(step: Step, customerIds: string[]): Promise<Done> {
  const { db, environmentId, meter, meterVersion, from, to, locked } = step
  const { featureId } = meter
  const found = await findCountersOf(db, environmentId, { featureId, customerIds, from, to })
  const missed = found.filter(({ customerId, version }) => version !== locked.get(customerId)!.version)
  const counters = missed.filter((counter) => !isCutOff(step, startOfRange(counter, counter)))
  const ranges = counters.map((counter): ComputedRange => {
    const { customerId, resourceId, start, end } = counter
    return { customerId, resourceId, featureId, from: startOfRange(counter, counter), to: end, periodStart: start, meterVersion }
  })
  const computed = await computeUsage(db, environmentId, ranges, new Map([[featureId, meter]]), { anew: true })
  await writeCounters(db, environmentId, {
    counters: counters.map((counter, index) => {
      const { value, events, meter: counted } = computed[index]!
      return { ...counter, how: 'replace', value, events, version: locked.get(counter.customerId)!.version, meter: counted }
    }),
    members: computed.flatMap(({ members }, counter) => members.map((member) => ({ ...member, counter }))),
  })
  return { ranges, left: missed.length - counters.length }
}

/** Whether events that count from there on have been dropped. */
function isCutOff({ keptSince }: Step, start: EpochMs | null): boolean {
  return keptSince !== null && (start === null || start < keptSince)
}

/** Null: without bound. */
function latest(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b)
}
