import type { PublishedVersion } from '../../catalog/service.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { busyEnvironments } from '../../platform/sql.js'

/** Existing subscriptions are to move to the versions. Older ones that they were still moving to are left for these. */
export async function startMigrations(db: Db, environmentId: string, published: readonly PublishedVersion[]): Promise<void> {
  const packageIds = published.map(({ packageId }) => packageId)
  await db.$executeRaw(Prisma.sql`
    UPDATE package_migration SET finished_at = clock_timestamp()
    WHERE environment_id = ${environmentId}::uuid AND package_id = ANY(${packageIds}::uuid[]) AND finished_at IS NULL`)
  await db.packageMigration.createMany({
    data: published.map(({ packageId, versionId }) => ({ environmentId, id: newId(), packageId, packageVersionId: versionId, total: 0 })),
  })
}

export interface OpenMigration {
  environmentId: string
  id: string
  packageId: string
  versionNumber: number
  /** Whether it knows how many subscriptions it has to move. */
  isCounted: boolean
}

/** Of each environment at most `limit` of those that are unfinished and not in `except` (their ids), the longest unfinished first. */
export async function openMigrations(db: Db, { except, limit }: { except: readonly string[]; limit: number }): Promise<OpenMigration[]> {
  const rows = await db.$queryRaw<
    { environment_id: string; id: string; package_id: string; version_number: number; is_counted: boolean }[]
  >(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('package_migration', 'finished_at IS NULL')}
    SELECT busy.environment_id, open.id, open.package_id, version.version_number, open.is_counted
    FROM busy CROSS JOIN LATERAL (
      SELECT id, package_id, package_version_id, created_at, total > 0 OR migrated > 0 AS is_counted FROM package_migration AS migration
      WHERE migration.environment_id = busy.environment_id AND finished_at IS NULL AND NOT id = ANY(${[...except]}::uuid[])
      ORDER BY created_at, id LIMIT ${limit}
    ) AS open
    JOIN package_version AS version ON version.environment_id = busy.environment_id AND version.id = open.package_version_id
    ORDER BY busy.environment_id, open.created_at, open.id`)
  return rows.map((row) => ({
    environmentId: row.environment_id,
    id: row.id,
    packageId: row.package_id,
    versionNumber: row.version_number,
    isCounted: row.is_counted,
  }))
}

/** Notes how many subscriptions there are to move, unless some have been moved already. */
export async function countToMove(db: Db, { environmentId, id }: OpenMigration): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    UPDATE package_migration AS migration
    SET total = (SELECT count(*) FROM subscription s
      WHERE s.environment_id = migration.environment_id AND s.status NOT IN ('CANCELED', 'EXPIRED') AND (
        EXISTS (SELECT FROM package_version v WHERE v.environment_id = s.environment_id AND v.id = s.plan_version_id
          AND v.package_id = migration.package_id AND v.id <> migration.package_version_id)
        OR EXISTS (SELECT FROM subscription_addon a JOIN package_version v ON v.environment_id = a.environment_id AND v.id = a.addon_version_id
          WHERE a.environment_id = s.environment_id AND a.subscription_id = s.id
            AND v.package_id = migration.package_id AND v.id <> migration.package_version_id)))
    WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid AND finished_at IS NULL AND total = 0 AND migrated = 0`)
}

/** Customers (our ids) of subscriptions in force, or to come, that hold an older version: at most `limit`, and some when there are any but `except`. */
export async function customersOnOlderVersions(
  db: Db,
  { environmentId, packageId, versionNumber }: OpenMigration,
  except: readonly string[],
  limit: number,
): Promise<string[]> {
  // Each way stops at the limit: told apart at once, all that are left would be looked at for each few.
  const rows = await db.$queryRaw<{ customer_id: string }[]>(Prisma.sql`
    WITH older AS MATERIALIZED (
      SELECT id FROM package_version
      WHERE environment_id = ${environmentId}::uuid AND package_id = ${packageId}::uuid AND version_number < ${versionNumber}
    )
    SELECT DISTINCT customer_id FROM (
      (SELECT s.customer_id FROM older JOIN subscription s ON s.environment_id = ${environmentId}::uuid AND s.plan_version_id = older.id
       WHERE s.status NOT IN ('CANCELED', 'EXPIRED') AND NOT s.customer_id = ANY(${[...except]}::uuid[]) LIMIT ${limit})
      UNION ALL
      (SELECT s.customer_id FROM older JOIN subscription_addon a ON a.environment_id = ${environmentId}::uuid AND a.addon_version_id = older.id
       JOIN subscription s ON s.environment_id = ${environmentId}::uuid AND s.id = a.subscription_id
       WHERE s.status NOT IN ('CANCELED', 'EXPIRED') AND NOT s.customer_id = ANY(${[...except]}::uuid[]) LIMIT ${limit})
    ) AS either LIMIT ${limit}`)
  return rows.map(({ customer_id }) => customer_id)
}

export async function countMigrated(db: Db, { environmentId, id }: OpenMigration, count: number): Promise<void> {
  await db.packageMigration.update({ where: { environmentId_id: { environmentId, id } }, data: { migrated: { increment: count } } })
}

export async function finishMigration(db: Db, { environmentId, id }: OpenMigration): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    UPDATE package_migration SET finished_at = clock_timestamp() WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid AND finished_at IS NULL`)
}

export async function listMigrations(db: Db, environmentId: string) {
  const rows = await db.packageMigration.findMany({
    where: { environmentId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: 100,
    include: { packageVersion: { select: { versionNumber: true } }, package: { select: { refId: true } } },
  })
  return rows.map(({ id, total, migrated, createdAt, finishedAt, packageVersion, package: { refId } }) => ({
    id,
    packageRefId: refId,
    versionNumber: packageVersion.versionNumber,
    total,
    migrated,
    startedAt: createdAt.getTime(),
    finishedAt: finishedAt?.getTime() ?? null,
  }))
}
