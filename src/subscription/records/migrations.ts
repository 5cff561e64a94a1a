import type { PublishedVersion } from '../../catalog/service.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'

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
}

/** The longest unfinished first. Those that have begun know how many subscriptions they have to move. */
export async function openMigrations(db: Db): Promise<OpenMigration[]> {
  await db.$executeRaw(Prisma.sql`
    UPDATE package_migration AS migration
    SET total = (SELECT count(*) FROM subscription s
      WHERE s.environment_id = migration.environment_id AND s.status NOT IN ('CANCELED', 'EXPIRED') AND (
        EXISTS (SELECT FROM package_version v WHERE v.environment_id = s.environment_id AND v.id = s.plan_version_id
          AND v.package_id = migration.package_id AND v.id <> migration.package_version_id)
        OR EXISTS (SELECT FROM subscription_addon a JOIN package_version v ON v.environment_id = a.environment_id AND v.id = a.addon_version_id
          WHERE a.environment_id = s.environment_id AND a.subscription_id = s.id
            AND v.package_id = migration.package_id AND v.id <> migration.package_version_id)))
    WHERE finished_at IS NULL AND total = 0 AND migrated = 0`)
  const rows = await db.packageMigration.findMany({
    where: { finishedAt: null },
    orderBy: { createdAt: 'asc' },
    include: { packageVersion: { select: { versionNumber: true } } },
  })
  return rows.map(({ environmentId, id, packageId, packageVersion }) => ({ environmentId, id, packageId, ...packageVersion }))
}

/** Customers (our ids) of subscriptions in force, or to come, that hold an older version. */
export async function customersOnOlderVersions(
  db: Db,
  { environmentId, packageId, versionNumber }: OpenMigration,
  except: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await db.$queryRaw<{ customer_id: string }[]>(Prisma.sql`
    WITH older AS MATERIALIZED (
      SELECT id FROM package_version
      WHERE environment_id = ${environmentId}::uuid AND package_id = ${packageId}::uuid AND version_number < ${versionNumber}
    )
    SELECT DISTINCT s.customer_id FROM subscription s
    WHERE s.environment_id = ${environmentId}::uuid AND s.status NOT IN ('CANCELED', 'EXPIRED') AND NOT s.customer_id = ANY(${[...except]}::uuid[])
      AND (s.plan_version_id IN (SELECT id FROM older) OR s.id IN (
        SELECT a.subscription_id FROM subscription_addon a
        WHERE a.environment_id = ${environmentId}::uuid AND a.addon_version_id IN (SELECT id FROM older)))
    LIMIT ${limit}`)
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
