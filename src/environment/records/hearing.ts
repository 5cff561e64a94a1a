import { type Db, Prisma } from '../../platform/postgres.js'

/** Whether events of the environment are recorded. Whoever says so at the same time waits: the row is held until the transaction ends. */
export async function setHearing(db: Db, environmentId: string, hearsEvents: boolean): Promise<void> {
  await db.$executeRaw(Prisma.sql`UPDATE environment SET hears_events = ${hearsEvents} WHERE id = ${environmentId}::uuid`)
}

/** Whether customers are evaluated when their usage changes. Whoever says so at the same time waits: the row is held until the transaction ends. */
export async function setWatching(db: Db, environmentId: string, watchesUsage: boolean): Promise<void> {
  await db.$executeRaw(Prisma.sql`UPDATE environment SET watches_usage = ${watchesUsage} WHERE id = ${environmentId}::uuid`)
}
