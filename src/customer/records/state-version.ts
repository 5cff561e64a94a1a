import { noteChange } from '../../changes/held-change.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { oncePerGroup } from '../../platform/transaction-group.js'
import type { Customer } from '../model/customer.js'
import { customerArchived, customerNotFound } from '../model/problems.js'
import { findCustomer } from './customers.js'

/**
 * Takes the customer's state row and gives its next version, as a change of access. Until the transaction ends, every other change of this
 * customer waits; so versions grow in commit order. By the clock of the environment, never below the last version.
 */
export async function nextAccessVersion(db: Db, environmentId: string, customerId: string): Promise<EpochMs> {
  const rows = await db.$queryRaw<{ version: bigint }[]>(Prisma.sql`
    INSERT INTO customer_state AS state (environment_id, customer_id, version, access_version)
    SELECT ${environmentId}::uuid, ${customerId}::uuid, clock, clock FROM environment_clock(${environmentId}::uuid) AS clock
    ON CONFLICT (environment_id, customer_id) DO UPDATE
      SET version = greatest(excluded.version, state.version + 1), access_version = greatest(excluded.version, state.version + 1)
    RETURNING version`)
  return Number(rows[0]!.version)
}

/**
 * A new version of the customer's state and its message, in the transaction that changes what the customer may use: `nextAccessVersion` and
 * `recordChange` in one statement. Answers the version, and that of the catalog that the transaction sees.
 */
export async function recordAccessChange(
  db: Db,
  { environmentId, id, refId }: Pick<Customer, 'environmentId' | 'id' | 'refId'>,
): Promise<{ version: EpochMs; catalogVersion: number }> {
  const recorded = await recordAccessChanges(db, { environmentId, id, refId })
  noteChange({ environmentId, customerId: refId, version: recorded.version })
  return recorded
}

const recordAccessChanges = oncePerGroup(async (db, all: Pick<Customer, 'environmentId' | 'id' | 'refId'>[]) => {
  const rows = await db.$queryRaw<{ customer_id: string; version: bigint; catalog_version: bigint }[]>(Prisma.sql`
    WITH asked AS (
      SELECT * FROM unnest(${all.map(({ environmentId }) => environmentId)}::uuid[], ${all.map(({ id }) => id)}::uuid[],
        ${all.map(({ refId }) => refId)}::text[], ${all.map(() => newId())}::uuid[]) AS asked (environment_id, customer_id, ref_id, message_id)
    ), changed AS (
      INSERT INTO customer_state AS state (environment_id, customer_id, version, access_version)
      SELECT environment_id, customer_id, clock, clock FROM asked, environment_clock(asked.environment_id) AS clock
      ON CONFLICT (environment_id, customer_id) DO UPDATE
        SET version = greatest(excluded.version, state.version + 1), access_version = greatest(excluded.version, state.version + 1)
      RETURNING environment_id, customer_id, version
    ), told AS (
      INSERT INTO outbox_message (environment_id, id, kind, customer_id, version)
      SELECT environment_id, message_id, 'entitlements', ref_id, version FROM changed JOIN asked USING (environment_id, customer_id)
    )
    SELECT customer_id, version, catalog_version FROM changed JOIN environment ON environment.id = changed.environment_id`)
  const versions = new Map(
    rows.map((row) => [row.customer_id, { version: Number(row.version), catalogVersion: Number(row.catalog_version) }]),
  )
  return all.map(({ id }) => versions.get(id)!)
})

/**
 * Takes the customer's state row without changing it, so that what is read next is what the change is made of. Answers the time in the environment, which
 * rules every instant that the change writes; null when `ifFree` and another transaction holds the row.
 */
export async function lockCustomerState(
  db: Db,
  environmentId: string,
  customerId: string,
  { ifFree = false } = {},
): Promise<EpochMs | null> {
  const rows = await db.$queryRaw<{ now: number }[]>(Prisma.sql`
    SELECT environment_clock(environment_id)::float8 AS now FROM customer_state
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid
    FOR UPDATE ${ifFree ? Prisma.raw('SKIP LOCKED') : Prisma.empty}`)
  return rows[0]?.now ?? null
}

/** The same, with the version of the catalog that the transaction sees: what was read at it before need not be read again. Null: there is no state row. */
export async function lockCustomerForChange(
  db: Db,
  environmentId: string,
  customerId: string,
): Promise<{ now: EpochMs; catalogVersion: number } | null> {
  const [row] = await db.$queryRaw<{ now: number; catalog_version: bigint }[]>(Prisma.sql`
    SELECT environment_clock(environment_id)::float8 AS now,
      (SELECT catalog_version FROM environment WHERE environment.id = ${environmentId}::uuid) AS catalog_version
    FROM customer_state WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid FOR UPDATE`)
  return row ? { now: row.now, catalogVersion: Number(row.catalog_version) } : null
}

/** A customer whose state row the transaction holds, and the database's time then: it rules every instant that the change writes. */
export type HeldCustomer = Customer & { now: EpochMs }

/**
 * Finds the customer and takes its state row, so that what the answer says stays true until the transaction ends.
 * @throws Problem CUSTOMER_NOT_FOUND; ENTITY_IS_ARCHIVED unless `evenArchived`
 */
export async function holdCustomer(db: Db, environmentId: string, refId: string, { evenArchived = false } = {}): Promise<HeldCustomer> {
  const found = await findCustomer(db, environmentId, { refId })
  if (!found) throw customerNotFound(refId)
  const now = await lockCustomerState(db, environmentId, found.id)
  if (now === null) throw new Error(`customer ${found.id} has no state row`)
  // Read again: it may have been changed, or archived, while we waited.
  const customer = (await findCustomer(db, environmentId, { id: found.id }))!
  if (customer.archivedAt !== null && !evenArchived) throw customerArchived(refId)
  return { ...customer, now }
}
