import type { EpochMs } from '../kernel/clock.js'
import { type Db, Prisma } from '../platform/postgres.js'

/**
 * Takes the customer's state row and gives its next version, as a change of access. Until the transaction ends, every other change of this
 * customer waits; so versions grow in commit order. By the database's clock, never below the last version.
 */
export async function nextAccessVersion(db: Db, environmentId: string, customerId: string): Promise<EpochMs> {
  const rows = await db.$queryRaw<{ version: bigint }[]>(Prisma.sql`
    INSERT INTO customer_state AS state (environment_id, customer_id, version, access_version)
    SELECT ${environmentId}::uuid, ${customerId}::uuid, clock, clock FROM (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock) AS now
    ON CONFLICT (environment_id, customer_id) DO UPDATE
      SET version = greatest(excluded.version, state.version + 1), access_version = greatest(excluded.version, state.version + 1)
    RETURNING version`)
  return Number(rows[0]!.version)
}

/**
 * Takes the customer's state row without changing it, so that what is read next is what the change is made of. Answers the database's time, which
 * rules every instant that the change writes; null when `ifFree` and another transaction holds the row.
 */
export async function lockCustomerState(
  db: Db,
  environmentId: string,
  customerId: string,
  { ifFree = false } = {},
): Promise<EpochMs | null> {
  const rows = await db.$queryRaw<{ now: number }[]>(Prisma.sql`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now FROM customer_state
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid
    FOR UPDATE ${ifFree ? Prisma.raw('SKIP LOCKED') : Prisma.empty}`)
  return rows[0]?.now ?? null
}
