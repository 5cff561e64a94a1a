import { maxNameLength, maxNames, nearestName } from '../../kernel/nearest.js'
import type { Queryable } from '../../platform/sql.js'

/** More names of one call that are not there get no suggestion. */
const maxUnknown = 10

/** By each of the names of features that are not there, the one that was probably meant; left out: none is close. */
export async function findNearestFeatures(db: Queryable, environmentId: string, unknown: readonly string[]): Promise<Map<string, string>> {
  if (unknown.length === 0) return new Map()
  const { rows } = await db.query<{ ref_id: string }>({
    name: 'metering_feature_names',
    text: `
      SELECT ref_id FROM feature
      WHERE environment_id = $1::uuid AND archived_at IS NULL AND length(ref_id) <= ${maxNameLength}
      ORDER BY ref_id LIMIT ${maxNames}`,
    values: [environmentId],
  })
  const names = rows.map(({ ref_id }) => ref_id)
  return new Map(
    unknown.slice(0, maxUnknown).flatMap((refId) => {
      const nearest = nearestName(refId, names)
      return nearest === null ? [] : [[refId, nearest] as const]
    }),
  )
}

/** The same of one; null: none is close. */
export async function findNearestFeature(db: Queryable, environmentId: string, unknown: string): Promise<string | null> {
  return (await findNearestFeatures(db, environmentId, [unknown])).get(unknown) ?? null
}
