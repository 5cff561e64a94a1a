/**
 * Usage by the values of dimensions.
 *
 * group   a combination of values; what has no such dimension has ""
 * bucket  a quarter of an hour of one part: what each group had in it
 */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { memberHash, type Share, Tally } from './aggregate.js'
import type { HistoryPlan, HistoryPoint } from './history.js'
import type { Aggregation, DimensionValue } from './meter.js'

/** What a group had in a bucket. Kept as JSON. */
export interface GroupShare {
  /** In the order of the dimensions. */
  values: string[]
  /** COUNT, SUM, AVG: their sum; MAX, MIN: the largest, the smallest; UNIQUE: 0. */
  usage: decimal.Decimal
  events: number
  /** UNIQUE: those that came, as base64 of their hash. */
  members: string[]
}

export interface GroupBucket {
  part: string
  bucket: EpochMs
  /** Usage was set in it, and what the part had before counts no more. */
  isLevel: boolean
  groups: GroupShare[]
}

export interface GroupLine {
  tags: { key: string; value: string }[]
  points: HistoryPoint[]
}

export const groupValues = (dimensions: Readonly<Record<string, DimensionValue | null>>, groupBy: readonly string[]): string[] =>
  groupBy.map((key) => (Object.hasOwn(dimensions, key) ? String(dimensions[key] ?? '') : ''))

/** Adds up what the groups have in one bucket of one part. Of reports, in their order. */
export class BucketGroups {
  isLevel = false
  readonly #groups = new Map<string, { values: string[]; tally: Tally }>()

  constructor(private readonly aggregation: Aggregation) {}

  get size(): number {
    return this.#groups.size
  }

  add(values: string[], share: Share): void {
    const name = JSON.stringify(values)
    let group = this.#groups.get(name)
    if (!group) {
      group = { values, tally: new Tally(this.aggregation) }
      this.#groups.set(name, group)
    }
    group.tally.add(share)
  }

  /** A SET replaces what all groups of the part had. */
  set(values: string[], share: Share): void {
    this.#groups.clear()
    this.isLevel = true
    this.add(values, share)
  }

  toShares(): GroupShare[] {
    return [...this.#groups.values()].map(({ values, tally: { value, events, members } }) => ({
      values,
      usage: value,
      events,
      members: [...members].map((member) => memberHash(member).toString('base64')),
    }))
  }
}

/** What one group has had since usage last started again. */
class Group {
  readonly points = new Map<number, decimal.Decimal>()
  #parts = new Map<string, { usage: decimal.Decimal; events: number; members: Set<string> }>()

  constructor(
    readonly values: string[],
    private readonly aggregation: Aggregation,
  ) {}

  add(part: string, { usage, events, members }: GroupShare): void {
    const held = this.#parts.get(part)
    if (!held) {
      this.#parts.set(part, { usage, events, members: new Set(members) })
      return
    }
    held.usage = combine(this.aggregation, held.usage, usage)
    held.events += events
    for (const member of members) held.members.add(member)
  }

  forgetPart(part: string): void {
    this.#parts.delete(part)
  }

  forget(): void {
    this.#parts = new Map()
  }

  usage(): decimal.Decimal {
    const parts = [...this.#parts.values()]
    if (this.aggregation === 'UNIQUE') return decimal.fromNumber(new Set(parts.flatMap(({ members }) => [...members])).size)
    if (parts.length === 0) return decimal.zero
    const usage = parts.map((part) => part.usage).reduce((a, b) => combine(this.aggregation, a, b))
    if (this.aggregation !== 'AVG') return usage
    return decimal.divide(usage, decimal.fromNumber(parts.reduce((sum, { events }) => sum + events, 0)))
  }
}

function combine(aggregation: Aggregation, a: decimal.Decimal, b: decimal.Decimal): decimal.Decimal {
  if (aggregation === 'MAX') return decimal.max(a, b)
  if (aggregation === 'MIN') return decimal.compare(a, b) < 0 ? a : b
  return decimal.add(a, b)
}

/** Lines of groups, drawn from buckets in the order of time: where each stood at the end of each slice since usage last started again. */
export class GroupLines {
  readonly #groups = new Map<string, Group>()
  #slice = -1
  #period: number

  /** `cuts`: the buckets that the slices of the plan begin with. */
  constructor(
    private readonly plan: HistoryPlan,
    private readonly cuts: readonly EpochMs[],
    private readonly aggregation: Aggregation,
  ) {
    this.#period = plan.slices[0]!.period
  }

  get size(): number {
    return this.#groups.size
  }

  add({ part, bucket, isLevel, groups }: GroupBucket): void {
    const { slices } = this.plan
    while (this.#slice + 1 < slices.length && this.cuts[this.#slice + 1]! <= bucket) {
      this.#close()
      this.#slice += 1
      const { period } = slices[this.#slice]!
      if (period !== this.#period) for (const group of this.#groups.values()) group.forget()
      this.#period = period
    }
    if (isLevel) for (const group of this.#groups.values()) group.forgetPart(part)
    for (const share of groups) {
      const name = JSON.stringify(share.values)
      let group = this.#groups.get(name)
      if (!group) {
        group = new Group(share.values, this.aggregation)
        this.#groups.set(name, group)
      }
      group.add(part, share)
    }
  }

  /** `dimensions` are those of the shares. */
  lines(dimensions: readonly string[]): GroupLine[] {
    this.#close()
    return [...this.#groups.values()].map(({ values, points }) => ({
      tags: dimensions.map((key, index) => ({ key, value: values[index]! })),
      points: this.#lineOf(points),
    }))
  }

  #close(): void {
    for (const group of this.#groups.values()) group.points.set(this.#slice, group.usage())
  }

  /** A slice without usage of the group has what the one before had, unless usage has started again. */
  #lineOf(points: ReadonlyMap<number, decimal.Decimal>): HistoryPoint[] {
    let held = points.get(-1) ?? decimal.zero
    let period = this.plan.slices[0]!.period
    return this.plan.slices.map(({ start, isReset, period: current }, index) => {
      if (current !== period) held = decimal.zero
      period = current
      held = points.get(index) ?? held
      return { at: start, value: held, isReset }
    })
  }
}
