import { type Db, Prisma } from '../../platform/postgres.js'

/** Grows with every change of the environment's catalog. */
export async function catalogVersion(db: Db, environmentId: string): Promise<number> {
  const { catalogVersion } = await db.environment.findUniqueOrThrow({ where: { id: environmentId }, select: { catalogVersion: true } })
  return Number(catalogVersion)
}

/**
 * What is kept outside of PostgreSQL and was made from the catalog as it was is outdated by it. Versions go with the time, so that one that a failover has taken
 * back does not come again with another catalog.
 */
export async function countCatalogChange(db: Db, environmentId: string): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    UPDATE environment SET catalog_version = greatest(catalog_version + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    WHERE id = ${environmentId}::uuid`)
}
