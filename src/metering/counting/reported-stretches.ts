/**
 * What reports do to what is added up, without adding it up again.
 *
 * stretch  a part (a resource, or the customer's own) in a usage period or in a bucket
 */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { Queryable } from '../../platform/sql.js'
import { bucketMs, bucketOf, type TimeRange } from '../model/bucket.js'
import { settle, type TimedReport } from '../model/settle.js'
import { findLastSets, type PartRange, sumParts } from './measurement-repository.js'

export interface Stretch extends PartRange {
  /** What is kept of it is a sum with other parts. */
  isShared: boolean
  /** Something stored may come after one of the reports. */
  mayBeLate: boolean
  /** In the order of their arrival. */
  reports: TimedReport[]
}

/** What becomes of what is kept of a stretch: it is set to the value, or the value is added. A shared one is only added to. */
export interface Settled {
  isSet: boolean
  value: decimal.Decimal
}

/** Adds reports, which come after those before them, to what is known of their stretch by its key. */
export function addToStretch<S extends Stretch>(stretches: Map<string, S>, key: string, more: S): void {
  const known = stretches.get(key)
  if (!known) return void stretches.set(key, { ...more, reports: [...more.reports] })
  known.reports.push(...more.reports)
  known.mayBeLate ||= more.mayBeLate
}

/**
 * What the reports do to each stretch. None of them may be stored yet, and what is stored has to be rolled up. A DELTA costs at most a look for a later
 * SET. A SET reads what follows it: measurements of its own bucket, and the buckets after it; in a shared stretch, where it replaces one part of several, the
 * buckets since the SET that it comes after (without one: all of the stretch, once).
 */
export async function settleStretches<S extends Stretch>(
  db: Queryable,
  environmentId: string,
  stretches: readonly S[],
): Promise<[S, Settled][]> {
  const ordered = await findOrders(db, environmentId, stretches)
  const ranges = new Map<string, { index: number; range: PartRange }>()
  const indexOf = (range: PartRange): number => {
    const key = `${range.customerId}|${range.featureId}|${range.resourceId}|${range.from}|${range.to}`
    const index = ranges.get(key)?.index ?? ranges.size
    ranges.set(key, { index, range })
    return index
  }
  const settled = stretches.map((stretch, position) => {
    const order = ordered[position]!
    const { set, added } = settle(stretch.reports, order.lastSetAt)
    const { customerId, featureId, resourceId } = stretch
    const stored = set ? storedBeside(stretch, set.at, order) : { added: [], taken: [] }
    const indexesOf = (parts: TimeRange[]) => parts.map((part) => indexOf({ customerId, featureId, resourceId, ...part }))
    return { set, added, storedAdded: indexesOf(stored.added), storedTaken: indexesOf(stored.taken) }
  })
  const asked = [...ranges.values()].map(({ range }) => range)
  const sums = asked.length === 0 ? [] : await sumParts(db, environmentId, asked)
  return settled.map(({ set, added, storedAdded, storedTaken }, position) => {
    let value = decimal.add(set?.value ?? decimal.zero, added)
    for (const index of storedAdded) value = decimal.add(value, sums[index]!)
    for (const index of storedTaken) value = decimal.subtract(value, sums[index]!)
    const stretch = stretches[position]!
    return [stretch, { isSet: set !== null && !stretch.isShared, value }]
  })
}

/** What is stored that a stretch's reports have to be ordered with. */
interface Order {
  /** Null: there is none, or no report comes before it. */
  lastSetAt: EpochMs | null
  /** In the bucket that the end of the stretch cuts, something was set after that end. */
  isSetBeyond: boolean
}

async function findOrders(db: Queryable, environmentId: string, stretches: readonly Stretch[]): Promise<Order[]> {
  const isReplacing = ({ isShared, reports }: Stretch) => isShared && reports.some(({ behavior }) => behavior === 'SET')
  const asked = stretches.filter((stretch) => stretch.mayBeLate || isReplacing(stretch))
  const beyond = asked.filter((stretch) => stretch.mayBeLate && isReplacing(stretch) && stretch.to !== null && stretch.to % bucketMs !== 0)
  const found =
    asked.length === 0
      ? []
      : await findLastSets(db, environmentId, [
          ...asked,
          ...beyond.map((one) => ({ ...one, from: one.to, to: bucketOf(one.to!) + bucketMs })),
        ])
  const lastSets = new Map(asked.map((stretch, index) => [stretch, found[index]!]))
  const lastBeyond = new Map(beyond.map((stretch, index) => [stretch, found[asked.length + index]!]))
  return stretches.map((stretch) => ({
    lastSetAt: lastSets.get(stretch) ?? null,
    isSetBeyond: (lastBeyond.get(stretch) ?? null) !== null,
  }))
}

/** Stored usage that has to be added to a SET, or taken from it, so that a stretch says what is to be kept of it. */
function storedBeside(
  { from, to, isShared, mayBeLate }: Stretch,
  at: EpochMs,
  { lastSetAt, isSetBeyond }: Order,
): { added: TimeRange[]; taken: TimeRange[] } {
  const after = at + 1
  const endOfBucket = bucketOf(at) + bucketMs
  if (!isShared) {
    if (!mayBeLate) return { added: [], taken: [] }
    if (to !== null && to <= endOfBucket) return { added: [{ from: after, to }], taken: [] }
    return {
      added: [
        { from: after, to: endOfBucket },
        { from: endOfBucket, to },
      ],
      taken: [],
    }
  }
  // A bucket in which something was set says what the part had at its end, whatever came before; so nothing in it has to be read.
  const since = lastSetAt === null ? from : bucketOf(lastSetAt)
  const isCut = (isSetBeyond && to! < endOfBucket) || (since !== null && since > bucketOf(at))
  if (isCut) return { added: [], taken: [{ from: since, to: after }] }
  return { added: mayBeLate ? [{ from: after, to: endOfBucket }] : [], taken: [{ from: since, to: endOfBucket }] }
}
