import type { EpochMs } from '../../kernel/clock.js'
import { type Db, Prisma } from '../../platform/postgres.js'

/** Makes sure that events which happen around an instant, perhaps one of a test clock, can be stored. Null: around the database's now. */
export async function ensurePartitionsAround(db: Db, at: EpochMs | null): Promise<void> {
  const instant = at === null ? Prisma.sql`now()` : Prisma.sql`${new Date(at)}::timestamptz`
  await db.$executeRaw(Prisma.sql`SELECT ensure_raw_event_partitions(${instant} - interval '36 days', ${instant} + interval '62 days')`)
}
