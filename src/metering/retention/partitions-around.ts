import type { EpochMs } from '../../kernel/clock.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { dayMs, monthsAheadDays, reachedMs } from '../model/windows.js'

/** Makes sure that events which happen around an instant, perhaps one of a test clock, can be stored. */
export async function ensurePartitionsAround(db: Db, at: EpochMs): Promise<void> {
  const [from, to] = [new Date(at - reachedMs), new Date(at + monthsAheadDays * dayMs)]
  await db.$executeRaw(Prisma.sql`SELECT ensure_raw_event_partitions(${from}::timestamptz, ${to}::timestamptz)`)
}
