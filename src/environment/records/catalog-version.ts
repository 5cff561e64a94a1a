import { type Db, Prisma } from '../../platform/postgres.js'

/** Grows with every change of the environment's catalog. */
export async function catalogVersion(db: Db, environmentId: string): Promise<number> {
  const { catalogVersion } = await db.environment.findUniqueOrThrow({ where: { id: environmentId }, select: { catalogVersion: true } })
  return Number(catalogVersion)
}

/** What is kept outside of PostgreSQL and was made from the catalog as it was is outdated by it. */
export async function countCatalogChange(db: Db, environmentId: string): Promise<void> {
  await db.$executeRaw(Prisma.sql`UPDATE environment SET catalog_version = catalog_version + 1 WHERE id = ${environmentId}::uuid`)
}
