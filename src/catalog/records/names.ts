import { maxNameLength, maxNames, nearestName } from '../../kernel/nearest.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import type { PackageKind } from '../model/package.js'

/** The plan or add-on that is sold now and was probably meant by a name that is none; null: none is close. */
export async function findNearestPackage(db: Db, environmentId: string, kind: PackageKind, refId: string): Promise<string | null> {
  const rows = await db.$queryRaw<{ ref_id: string }[]>(Prisma.sql`
    SELECT ref_id FROM package
    WHERE environment_id = ${environmentId}::uuid AND kind = ${kind}::package_kind AND archived_at IS NULL AND length(ref_id) <= ${maxNameLength}
    ORDER BY ref_id LIMIT ${maxNames}`)
  return nearestName(
    refId,
    rows.map(({ ref_id }) => ref_id),
  )
}
