/** What is forgotten, in lots, so that no statement takes long or holds much. Deleted is what was found, by its key: how a search is planned does not matter then. */
import { type Db, Prisma } from '../../../platform/postgres.js'

/** Crossings that have ended, so many days after they began, the oldest first; answers how many were found. */
export async function deleteOldCrossings(db: Db, { days, limit }: { days: number; limit: number }): Promise<number> {
  const old = await db.$queryRaw<{ environmentId: string; id: string }[]>(Prisma.sql`
    SELECT environment_id AS "environmentId", id FROM alert_crossing
    WHERE ended_at IS NOT NULL AND created_at < clock_timestamp() - make_interval(days => ${days}) ORDER BY created_at LIMIT ${limit}`)
  await db.$executeRaw(Prisma.sql`
    DELETE FROM alert_crossing AS crossing
    USING unnest(${old.map(({ environmentId }) => environmentId)}::uuid[], ${old.map(({ id }) => id)}::uuid[]) AS old (environment_id, id)
    WHERE crossing.environment_id = old.environment_id AND crossing.id = old.id`)
  return old.length
}

/** Alerts that were deleted and still have a row. */
export function findDeletedAlerts(db: Db, limit: number): Promise<{ environmentId: string; id: string }[]> {
  return db.$queryRaw(Prisma.sql`
    SELECT environment_id AS "environmentId", id FROM alert WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT ${limit}`)
}

/** Crossings of an alert; answers how many were found. */
export async function deleteCrossingsOf(db: Db, environmentId: string, alertId: string, limit: number): Promise<number> {
  const found = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id FROM alert_crossing WHERE environment_id = ${environmentId}::uuid AND alert_id = ${alertId}::uuid ORDER BY reached_at, id LIMIT ${limit}`)
  await db.$executeRaw(Prisma.sql`
    DELETE FROM alert_crossing WHERE environment_id = ${environmentId}::uuid AND id = ANY(${found.map(({ id }) => id)}::uuid[])`)
  return found.length
}

/** The row of an alert that was deleted; crossings that came in its last moment go with it. */
export async function forgetAlert(db: Db, environmentId: string, id: string): Promise<void> {
  await db.alert.deleteMany({ where: { environmentId, id, deletedAt: { not: null } } })
}
