/** The one statement of the short way; `count-reports.sql` is its other half. */
import { packTold } from '../../../../changes/wire/told-reports.js'
import type { EpochMs } from '../../../../kernel/clock.js'
import * as decimal from '../../../../kernel/decimal.js'
import { newId } from '../../../../kernel/id.js'
import { plainArray, type Queryable, startTime } from '../../../../platform/sql.js'
import type { CounterValue } from '../../../counting/counter-repository.js'
import { maxUsage } from '../../../model/problems.js'
import { eachOnce, orNone } from '../../../wire/columns.js'
import type { FastPlan } from './fast-plan.js'

/** Says itself that it is outdated, or a unique key does: something was stored before. */
const outdatedCodes: unknown[] = ['TG001', '23505']

/** Something that the batch was planned with is not so (any more). Nothing was written. */
export const isOutdated = (error: unknown): boolean => outdatedCodes.includes((error as { code?: unknown }).code)

/** One transaction, one statement. Answers the counters in their order. */
export async function countFast(
  db: Queryable,
  environmentId: string,
  { from, until, items, customers, counters, told }: FastPlan,
  { catalogVersion, deadline }: { catalogVersion: number; deadline: EpochMs },
): Promise<CounterValue[]> {
  // In the order of their hashes, so that two batches never wait for each other.
  const keyed = items.flatMap(({ planned: { item, key } }) => (key ? [{ id: item.id, ...key }] : [])).sort((a, b) => a.hash.compare(b.hash))
  const features = eachOnce(items.map(({ planned }) => planned.route.feature.id))
  const periods = eachOnce(counters.map((c) => c.period.start))
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
      plainArray(items.map(({ planned }) => planned.item.id)),
      plainArray(items.map(({ owner }) => owner + 1)),
      orNone(items.map(({ planned }) => planned.route.resource?.resourceId ?? null)),
      plainArray(features.positions.map(fromOne)),
      plainArray(items.map(({ planned }) => planned.item.value)),
      orNone(items.map(({ planned: { item } }) => (item.dimensions === null ? null : JSON.stringify(item.dimensions)))),
      keyed.map(({ hash }) => hash),
      keyed.map(({ bodyHash }) => bodyHash),
      keyed.map(({ id }) => id),
      plainArray(counters.map((c) => c.tracked.id)),
      plainArray(periods.positions.map(fromOne)),
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

/** Where lists begin in PostgreSQL. */
const fromOne = (position: number): number => position + 1
