/** Changes of what a customer may use, and of the catalog: in Prisma's transactions. */
import type { EpochMs } from '../kernel/clock.js'
import { newId } from '../kernel/id.js'
import { type Db, Prisma } from '../platform/postgres.js'
import { oncePerGroup } from '../platform/transaction-group.js'
import { knowCustomer, knowHearing } from './events.js'
import type { PublishedPackage } from './model/change.js'
import { noteChange } from './note.js'

/** Whose state it is. */
export interface ChangedCustomer {
  environmentId: string
  /** Ours. */
  id: string
  /** The caller's. */
  refId: string
}

/** Its customer's state row is held until the transaction ends, so versions grow in commit order. */
export interface RecordedAccess {
  /** The time in the environment, above the last version of the customer. */
  version: EpochMs
  /** That of the catalog that the transaction sees. */
  catalogVersion: number
}

/**
 * A new version of the customer's state with its message, in the transaction that changes what the customer may use. A customer that has no state
 * yet gets its first one.
 */
export async function recordAccessChange(db: Db, { environmentId, id, refId }: ChangedCustomer): Promise<RecordedAccess> {
  const recorded = await recordAll(db, { environmentId, id, refId })
  knowCustomer(db, id, refId)
  noteChange({ environmentId, customerId: refId, version: recorded.version })
  return recorded
}

const recordAll = oncePerGroup(async (db, all: ChangedCustomer[]) => {
  const rows = await db.$queryRaw<{ customer_id: string; version: bigint; catalog_version: bigint; hears_events: boolean }[]>(Prisma.sql`
    WITH asked AS (
      SELECT * FROM unnest(${all.map(({ environmentId }) => environmentId)}::uuid[], ${all.map(({ id }) => id)}::uuid[],
        ${all.map(({ refId }) => refId)}::text[], ${all.map(() => newId())}::uuid[])
        AS asked (environment_id, customer_id, ref_id, message_id)
    ), changed AS (
      INSERT INTO customer_state AS state (environment_id, customer_id, version, access_version)
      SELECT environment_id, customer_id, clock, clock FROM asked, environment_clock(asked.environment_id) AS clock
      ON CONFLICT (environment_id, customer_id) DO UPDATE
        SET version = greatest(excluded.version, state.version + 1), access_version = greatest(excluded.version, state.version + 1)
      RETURNING environment_id, customer_id, version
    ), told AS (
      INSERT INTO outbox_message (environment_id, id, kind, customer_id, version)
      SELECT environment_id, message_id, 'entitlements', ref_id, version FROM changed JOIN asked USING (environment_id, customer_id)
    ), evaluated AS (
      INSERT INTO customer_evaluation AS evaluation (environment_id, customer_id, version)
      SELECT environment_id, customer_id, version FROM changed JOIN environment ON environment.id = changed.environment_id
      WHERE hears_events OR watches_usage ORDER BY environment_id, customer_id
      ON CONFLICT (environment_id, customer_id) DO UPDATE SET version = greatest(excluded.version, evaluation.version + 1)
    )
    SELECT customer_id, version, catalog_version, hears_events FROM changed JOIN environment ON environment.id = changed.environment_id`)
  const [first] = rows
  if (first && all.every(({ environmentId }) => environmentId === all[0]!.environmentId))
    knowHearing(db, all[0]!.environmentId, first.hears_events)
  const versions = new Map(
    rows.map((row) => [row.customer_id, { version: Number(row.version), catalogVersion: Number(row.catalog_version) }]),
  )
  return all.map(({ id }) => versions.get(id)!)
})

/** What every customer of the environment may use may be something else now; `packages`: the versions that were published. */
export async function recordCatalogChange(
  db: Db,
  { environmentId, version, packages }: { environmentId: string; version: EpochMs; packages: PublishedPackage[] },
): Promise<void> {
  noteChange({ environmentId, customerId: null, version })
  const payload = { packages } as unknown as Prisma.InputJsonObject
  await db.outboxMessage.create({ data: { environmentId, id: newId(), kind: 'package', version: BigInt(version), payload } })
}

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
  const rows = await db.$queryRaw<{ now: number; hears_events: boolean }[]>(Prisma.sql`
    SELECT environment_clock(environment_id)::float8 AS now, (SELECT hears_events FROM environment WHERE id = ${environmentId}::uuid)
    FROM customer_state
    WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid
    FOR UPDATE ${ifFree ? Prisma.raw('SKIP LOCKED') : Prisma.empty}`)
  if (rows[0]) knowHearing(db, environmentId, rows[0].hears_events)
  return rows[0]?.now ?? null
}

/**
 * Where, in time, a change at `at` stands in the order of the customer's state row, which the transaction holds: what was recorded before it has an earlier
 * time, what is recorded after it a later one. `at` itself, unless so much was recorded in the same instant that versions are ahead of it.
 */
export async function placeInTime(db: Db, environmentId: string, customerId: string, at: EpochMs): Promise<EpochMs> {
  const [row] = await db.$queryRaw<{ next: number }[]>(Prisma.sql`
    SELECT (version + 1)::float8 AS next FROM customer_state WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid`)
  return Math.max(at, row?.next ?? at)
}

/** What a transaction that holds a customer's state row goes by. */
export interface HeldState {
  /** The time in the environment. */
  now: EpochMs
  /** That of the catalog that the transaction sees. */
  catalogVersion: number
}

/**
 * Takes the state rows of those of the customers (our ids) that no other transaction holds. It waits for nobody, so it does not matter in which order.
 */
export async function lockFreeCustomers(db: Db, environmentId: string, customerIds: readonly string[]): Promise<Map<string, HeldState>> {
  const rows = await db.$queryRaw<{ customer_id: string; now: number; catalog_version: bigint; hears_events: boolean }[]>(Prisma.sql`
    SELECT state.customer_id, environment_clock(environment.id)::float8 AS now, environment.catalog_version, environment.hears_events
    FROM customer_state AS state JOIN environment ON environment.id = state.environment_id
    WHERE state.environment_id = ${environmentId}::uuid AND state.customer_id = ANY(${[...customerIds]}::uuid[])
    FOR UPDATE OF state SKIP LOCKED`)
  if (rows[0]) knowHearing(db, environmentId, rows[0].hears_events)
  return new Map(rows.map((row) => [row.customer_id, { now: row.now, catalogVersion: Number(row.catalog_version) }]))
}

/** The same, with the version of the catalog that the transaction sees: what was read at it before need not be read again. */
export async function lockCustomerForChange(db: Db, environmentId: string, customerId: string): Promise<HeldState> {
  const [row] = await db.$queryRaw<{ now: number; catalog_version: bigint; hears_events: boolean }[]>(Prisma.sql`
    SELECT environment_clock(environment_id)::float8 AS now,
      (SELECT catalog_version FROM environment WHERE environment.id = ${environmentId}::uuid) AS catalog_version,
      (SELECT hears_events FROM environment WHERE environment.id = ${environmentId}::uuid) AS hears_events
    FROM customer_state WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid FOR UPDATE`)
  if (!row) throw new Error(`customer ${customerId} has no state row`)
  knowHearing(db, environmentId, row.hears_events)
  return { now: row.now, catalogVersion: Number(row.catalog_version) }
}
