import { recordAudit } from '../../audit/record/record.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { busyEnvironments } from '../../platform/sql.js'

export type ImportKind = 'CUSTOMERS' | 'SUBSCRIPTIONS'
export type ImportItemStatus = 'PENDING' | 'DONE' | 'FAILED'

export interface ImportJob {
  id: string
  environmentId: string
  kind: ImportKind
  /** Records in the request. */
  total: number
  done: number
  failed: number
  createdAt: number
  /** Null: some are still to be imported. */
  finishedAt: number | null
}

export interface ImportItem {
  /** In the request, from 0. */
  position: number
  status: ImportItemStatus
  /** The caller's identifier; null while PENDING, and where none could be given. */
  refId: string | null
  /** FAILED: as a mutation would have answered. */
  errorReason: string | null
  errorMessage: string | null
}

export async function insertImport(db: Db, environmentId: string, kind: ImportKind, inputs: readonly object[]): Promise<string> {
  const importId = newId()
  await db.importJob.create({ data: { environmentId, id: importId, kind, total: inputs.length } })
  await db.$executeRaw(Prisma.sql`
    INSERT INTO import_item (environment_id, import_id, position, input)
    SELECT ${environmentId}::uuid, ${importId}::uuid, ordinality - 1, value
    FROM jsonb_array_elements(${JSON.stringify(inputs)}::jsonb) WITH ORDINALITY`)
  recordAudit(db, { environmentId, kind: 'IMPORT', id: importId, before: null, after: { kind, total: inputs.length } })
  return importId
}

/** Null: unknown. */
export async function findImport(db: Db, environmentId: string, importId: string): Promise<ImportJob | null> {
  const job = await db.importJob.findUnique({ where: { environmentId_id: { environmentId, id: importId } } })
  if (!job) return null
  const counts = await db.importItem.groupBy({ by: ['status'], where: { environmentId, importId }, _count: true })
  const count = (status: ImportItemStatus) => counts.find((row) => row.status === status)?._count ?? 0
  return {
    id: job.id,
    environmentId,
    kind: job.kind,
    total: job.total,
    done: count('DONE'),
    failed: count('FAILED'),
    createdAt: job.createdAt.getTime(),
    finishedAt: job.finishedAt?.getTime() ?? null,
  }
}

export async function findItems(
  db: Db,
  environmentId: string,
  importId: string,
  { status, after, limit }: { status: ImportItemStatus | null; after: number; limit: number },
): Promise<ImportItem[]> {
  return db.importItem.findMany({
    where: { environmentId, importId, position: { gt: after }, ...(status && { status }) },
    select: { position: true, status: true, refId: true, errorReason: true, errorMessage: true },
    orderBy: { position: 'asc' },
    take: limit,
  })
}

/** An import that was taken; by its end it is told from what another one takes later. */
export interface Lease {
  kind: ImportKind
  until: Date
}

/** Takes an unfinished import for so long. Null: finished, unknown, or somebody else has it. */
export async function leaseImport(db: Db, environmentId: string, importId: string, leaseMs: number): Promise<Lease | null> {
  const rows = await db.$queryRaw<Lease[]>(Prisma.sql`
    UPDATE import_job SET leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    WHERE environment_id = ${environmentId}::uuid AND id = ${importId}::uuid AND finished_at IS NULL
      AND (leased_until IS NULL OR leased_until <= clock_timestamp())
    RETURNING kind::text AS kind, leased_until AS until`)
  return rows[0] ?? null
}

/**
 * Gives the lease back, or has the import left alone for so long (null: not at all), and notes the end when nothing is left. True: it has ended now. Does
 * nothing when somebody else has it by now.
 */
export async function releaseImport(
  db: Db,
  environmentId: string,
  importId: string,
  { until }: Lease,
  pauseMs: number | null,
): Promise<boolean> {
  const rows = await db.$queryRaw<{ is_finished: boolean }[]>(Prisma.sql`
    UPDATE import_job SET leased_until = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond', finished_at = CASE
        WHEN EXISTS (
          SELECT FROM import_item AS item
          WHERE item.environment_id = import_job.environment_id AND item.import_id = import_job.id AND item.status = 'PENDING'
        ) THEN NULL
        ELSE clock_timestamp() END
    WHERE environment_id = ${environmentId}::uuid AND id = ${importId}::uuid AND finished_at IS NULL AND leased_until = ${until}::timestamptz
    RETURNING finished_at IS NOT NULL AS is_finished`)
  return rows[0]?.is_finished ?? false
}

/** The unfinished import of the environment that nobody has, and whose turn it is after another: they take turns by their age. Null: none. */
export async function findNext(db: Db, environmentId: string, afterId: string): Promise<string | null> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    (SELECT id, 1 AS place FROM import_job
     WHERE environment_id = ${environmentId}::uuid AND finished_at IS NULL AND id > ${afterId}::uuid
       AND (leased_until IS NULL OR leased_until <= clock_timestamp())
     ORDER BY id LIMIT 1)
    UNION ALL
    (SELECT id, 2 FROM import_job
     WHERE environment_id = ${environmentId}::uuid AND finished_at IS NULL AND id <= ${afterId}::uuid
       AND (leased_until IS NULL OR leased_until <= clock_timestamp())
     ORDER BY id LIMIT 1)
    ORDER BY place LIMIT 1`)
  return rows[0]?.id ?? null
}

export interface PendingItem {
  position: number
  /** What is of one customer is imported in its order. */
  customer: string
  /** How often it could not be imported for a reason that was expected to pass. */
  attempts: number
}

/** The records that are still to be imported, in their order. */
export async function findPending(db: Db, environmentId: string, importId: string, limit: number): Promise<PendingItem[]> {
  return db.$queryRaw(Prisma.sql`
    SELECT position, coalesce(input->>'customerRefId', input->>'refId', position::text) AS customer, attempts FROM import_item
    WHERE environment_id = ${environmentId}::uuid AND import_id = ${importId}::uuid AND status = 'PENDING'
    ORDER BY position LIMIT ${limit}`)
}

/** Takes one record for this transaction, when whoever is at it has ended. Null: it was imported meanwhile. */
export async function takeItem(db: Db, environmentId: string, importId: string, position: number): Promise<unknown> {
  const rows = await db.$queryRaw<{ input: unknown }[]>(Prisma.sql`
    SELECT input FROM import_item
    WHERE environment_id = ${environmentId}::uuid AND import_id = ${importId}::uuid AND position = ${position} AND status = 'PENDING'
    FOR UPDATE`)
  return rows[0]?.input ?? null
}

export async function countAttempt(db: Db, environmentId: string, importId: string, position: number): Promise<void> {
  await db.importItem.updateMany({ where: { environmentId, importId, position }, data: { attempts: { increment: 1 } } })
}

export async function settleItem(
  db: Db,
  environmentId: string,
  importId: string,
  position: number,
  outcome: { refId: string } | { errorReason: string; errorMessage: string },
): Promise<void> {
  await db.importItem.updateMany({
    where: { environmentId, importId, position, status: 'PENDING' },
    data: { ...outcome, status: 'refId' in outcome ? 'DONE' : 'FAILED', input: Prisma.DbNull },
  })
}

/** Of each environment the oldest unfinished one that nobody has worked on for a while; the oldest of them first. */
export async function findAbandoned(db: Db, limit: number): Promise<{ environmentId: string; importId: string }[]> {
  const rows = await db.$queryRaw<{ environment_id: string; id: string }[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('import_job', 'finished_at IS NULL')}
    SELECT busy.environment_id, abandoned.id FROM busy CROSS JOIN LATERAL (
      SELECT id FROM import_job AS job
      WHERE job.environment_id = busy.environment_id AND finished_at IS NULL
        AND created_at < now() - interval '10 seconds' AND (leased_until IS NULL OR leased_until < now())
      ORDER BY id LIMIT 1
    ) AS abandoned
    ORDER BY abandoned.id LIMIT ${limit}`)
  return rows.map((row) => ({ environmentId: row.environment_id, importId: row.id }))
}

export async function deleteFinished(db: Db, olderThanDays: number): Promise<number> {
  return db.$executeRaw(Prisma.sql`DELETE FROM import_job WHERE finished_at < now() - ${olderThanDays} * interval '1 day'`)
}
