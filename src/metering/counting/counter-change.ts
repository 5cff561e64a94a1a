import type { EpochMs } from '../../kernel/clock.js'
import type * as decimal from '../../kernel/decimal.js'
import { memberHash, type Share, type Tally } from '../model/aggregate.js'
import { type FeatureMeter, type MeterVersion, versionAt } from '../model/meter.js'
import { startOfRange } from '../model/series.js'
import type { TrackedPeriod, TrackedSeries } from './bindings.js'
import type { ComputedRange, ComputedUsage } from './compute-usage.js'
import type { CounterWrite } from './counter-repository.js'

/** What is done to one counter, collected over a batch. */
export interface CounterChange {
  tracked: TrackedSeries
  period: TrackedPeriod
  version: EpochMs
  /** read: nothing yet · add, set: `value` · tally, members: events · compute: add up what is stored */
  how: 'read' | 'add' | 'set' | 'tally' | 'members' | 'compute'
  value: decimal.Decimal
  /** Of 'tally'. */
  tally: Tally | null
  /** Of 'members', the way of UNIQUE: those that may be new, with the time of their first event. */
  firstAt: Map<Share, EpochMs> | null
}

/** What has to be added up for it. */
export function rangeOf({ tracked: { series }, period }: CounterChange): ComputedRange {
  const { customerId, resourceId, featureId } = series
  const { start: periodStart, end: to, meterVersion } = period
  return { customerId, resourceId, featureId, from: startOfRange(series, period), to, periodStart, meterVersion }
}

/** What counts the events of a period: the version that its counter began with. */
export function versionOf(meter: FeatureMeter, { meterVersion, start }: TrackedPeriod): MeterVersion {
  const { versions } = meter
  const latest = versions[versions.length - 1]!
  if (latest.version === meterVersion) return latest
  return versions.find(({ version }) => version === meterVersion) ?? versionAt(meter, start)
}

const tallied = { COUNT: 'add', SUM: 'add', MAX: 'max', MIN: 'min', AVG: 'avg', UNIQUE: 'unique' } as const

/** `computed`: what was added up, where that is how. */
export function toWrite(change: CounterChange, computed: ComputedUsage | undefined): CounterWrite {
  const { tracked, period, version, tally } = change
  const meter = computed?.meter ?? null
  const { value, events } = computed ?? tally ?? { value: change.value, events: 0 }
  // Written out: a batch has tens of thousands, and copying from object to object takes several times as long.
  return { seriesId: tracked.id, start: period.start, end: period.end, how: howOf(change), value, events, version, meter }
}

function howOf({ how, tally }: CounterChange): CounterWrite['how'] {
  if (how === 'tally') return tallied[tally!.aggregation]
  if (how === 'members') return 'unique'
  return how === 'set' || how === 'compute' ? 'replace' : how
}

export function membersOf({ firstAt }: CounterChange, computed: ComputedUsage | undefined): { hash: Buffer; firstAt: EpochMs }[] {
  if (computed) return computed.members
  return firstAt ? [...firstAt].map(([member, at]) => ({ hash: memberHash(member), firstAt: at })) : []
}
