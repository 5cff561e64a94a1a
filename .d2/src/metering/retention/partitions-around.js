import { Prisma } from '../../platform/postgres.js';
/** Makes sure that events which happen around an instant, perhaps one of a test clock, can be stored. */
export async function ensurePartitionsAround(db, at) {
    await db.$executeRaw(Prisma.sql `SELECT ensure_raw_event_partitions(${new Date(at)}::timestamptz - interval '36 days', ${new Date(at)}::timestamptz + interval '62 days')`);
}
//# sourceMappingURL=partitions-around.js.map