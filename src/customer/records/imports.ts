import { recordAudit } from '../../audit/record/record.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'

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

/** Takes an unfinished import for so long. Null: finished, unknown, or somebody else has it. */
export async function leaseImport(db: Db, environmentId: string, importId: string, leaseMs: number): Promise<ImportKind | null> {
  const rows = await db.$queryRaw<{ kind: ImportKind }[]>(Prisma.sql`
    UPDATE import_job SET leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    WHERE environment_id = ${environmentId}::uuid AND id = ${importId}::uuid AND finished_at IS NULL
      AND (leased_until IS NULL OR leased_until <= clock_timestamp())
    RETURNING kind::text AS kind`)
  return rows[0]?.kind ?? null
}

/** False: it was lost, because the last one took too long. */
export async function extendLease(db: Db, environmentId: string, importId: string, leaseMs: number): Promise<boolean> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE import_job SET leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    WHERE environment_id = ${environmentId}::uuid AND id = ${importId}::uuid AND leased_until > clock_timestamp()`)
  return count === 1
}

/** Gives the lease back, and notes the end when nothing is left. Null: it was finished before. */
export async function releaseImport(db: Db, environmentId: string, importId: string): Promise<'more' | 'nothing' | null> {
  const rows = await db.$queryRaw<{ is_open: boolean }[]>(Prisma.sql`
    UPDATE import_job SET leased_until = NULL, finished_at = CASE
        WHEN EXISTS (
          SELECT FROM import_item AS item
          WHERE item.environment_id = import_job.environment_id AND item.import_id = import_job.id AND item.status = 'PENDING'
        ) THEN NULL
        ELSE clock_timestamp() END
    WHERE environment_id = ${environmentId}::uuid AND id = ${importId}::uuid AND finished_at IS NULL
    RETURNING finished_at IS NULL AS is_open`)
  return rows[0] ? (rows[0].is_open ? 'more' : 'nothing') : null
}

/** The next records, and whose they are: what is of one customer is imported in its order. */
export async function findPending(
  db: Db,
  environmentId: string,
  importId: string,
  limit: number,
): Promise<{ position: number; customer: string }[]> {
  return db.$queryRaw(Prisma.sql`
    SELECT position, coalesce(input->>'customerRefId', input->>'refId', position::text) AS customer FROM import_item
    WHERE environment_id = ${environmentId}::uuid AND import_id = ${importId}::uuid AND status = 'PENDING'
    ORDER BY position LIMIT ${limit}`)
}

/** Takes one record for this transaction. Null: it was imported meanwhile, or somebody is at it. */
export async function takeItem(db: Db, environmentId: string, importId: string, position: number): Promise<unknown> {
  const rows = await db.$queryRaw<{ input: unknown }[]>(Prisma.sql`
    SELECT input FROM import_item
    WHERE environment_id = ${environmentId}::uuid AND import_id = ${importId}::uuid AND position = ${position} AND status = 'PENDING'
    FOR UPDATE SKIP LOCKED`)
  return rows[0]?.input ?? null
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

/** Unfinished ones that nobody has worked on for a while, the oldest first. */
export async function findAbandoned(db: Db, limit: number): Promise<{ environmentId: string; importId: string }[]> {
  const rows = await db.$queryRaw<{ environment_id: string; id: string }[]>(Prisma.sql`
    SELECT environment_id, id FROM import_job
    WHERE finished_at IS NULL AND created_at < now() - interval '10 seconds' AND (leased_until IS NULL OR leased_until < now())
    ORDER BY created_at LIMIT ${limit}`)
  return rows.map((row) => ({ environmentId: row.environment_id, importId: row.id }))
}

export async function deleteFinished(db: Db, olderThanDays: number): Promise<number> {
  return db.$executeRaw(Prisma.sql`DELETE FROM import_job WHERE finished_at < now() - ${olderThanDays} * interval '1 day'`)
}
