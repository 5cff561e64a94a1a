import type { Feature } from '../../catalog/model/feature.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { DueCustomer } from '../../platform/due-sweep.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { type PromotionalEntitlement, promotionalStatusAt } from '../rules/promotional.js'

const date = (at: number | null): Date | null => (at === null ? null : new Date(at))

/** Not revoked, with their status at `now`, the newest first. Features by our id. */
export async function findHeld(
  db: Db,
  environmentId: string,
  customerIds: readonly string[],
  { features, now }: { features: ReadonlyMap<string, Feature>; now: EpochMs },
): Promise<PromotionalEntitlement[]> {
  const rows = await db.promotionalEntitlement.findMany({
    where: { environmentId, customerId: { in: [...customerIds] }, revokedAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })
  return rows.map((row) => fromRow(row, features.get(row.featureId)!, now))
}

function fromRow(row: Prisma.PromotionalEntitlementGetPayload<object>, feature: Feature, now: EpochMs): PromotionalEntitlement {
  const endDate = row.endDate?.getTime() ?? null
  const revokedAt = row.revokedAt?.getTime() ?? null
  return {
    id: row.id,
    environmentId: row.environmentId,
    customerId: row.customerId,
    feature,
    usageLimit: row.usageLimit === null ? null : decimal.fromText(row.usageLimit.toFixed()),
    hasUnlimitedUsage: row.hasUnlimitedUsage,
    hasSoftLimit: row.hasSoftLimit,
    enumValues: row.enumValues,
    resetPeriod: row.resetPeriod,
    resetRule: row.resetRule,
    period: row.period,
    description: row.description,
    isVisible: row.isVisible,
    startDate: row.startDate.getTime(),
    endDate,
    status: promotionalStatusAt({ endDate, revokedAt }, now),
    revokedAt,
    createdAt: row.createdAt.getTime(),
    updatedAt: row.updatedAt.getTime(),
  }
}

export async function insertPromotional(db: Db, granted: readonly PromotionalEntitlement[]): Promise<void> {
  await db.promotionalEntitlement.createMany({
    data: granted.map(({ feature, startDate, endDate, status, revokedAt, createdAt, updatedAt, ...columns }) => ({
      ...columns,
      featureId: feature.id,
      startDate: new Date(startDate),
      endDate: date(endDate),
      dueAt: date(endDate),
      createdAt: new Date(createdAt),
      updatedAt: new Date(updatedAt),
    })),
  })
}

/** Ends those that are not revoked yet: of these features (our ids), or all of the customer. */
export async function revokeHeld(
  db: Db,
  environmentId: string,
  customerId: string,
  featureIds: readonly string[] | null,
  at: number,
): Promise<void> {
  await db.promotionalEntitlement.updateMany({
    where: { environmentId, customerId, revokedAt: null, ...(featureIds && { featureId: { in: [...featureIds] } }) },
    data: { revokedAt: new Date(at), dueAt: null },
  })
}

/** Whether an end is to be told, by the database's clock. */
export async function hasDue(db: Db, environmentId: string, customerId: string): Promise<boolean> {
  const rows = await db.$queryRaw<{ is_due: boolean }[]>(Prisma.sql`
    SELECT EXISTS (
      SELECT FROM promotional_entitlement
      WHERE environment_id = ${environmentId}::uuid AND customer_id = ${customerId}::uuid
        AND extract(epoch FROM due_at) * 1000 <= environment_clock(environment_id)
    ) AS is_due`)
  return rows[0]!.is_due
}

/** Takes note that ends up to `now` are being told; answers how many there were. */
export async function settleDue(db: Db, environmentId: string, customerId: string, now: number): Promise<number> {
  const { count } = await db.promotionalEntitlement.updateMany({
    where: { environmentId, customerId, dueAt: { lte: new Date(now) } },
    data: { dueAt: null },
  })
  return count
}

/** Seconds since the oldest end that was not told, by the real time; 0: all were. */
export async function dueLagSeconds(db: Db): Promise<number> {
  const [row] = await db.$queryRaw<{ seconds: number | null }[]>(Prisma.sql`
    SELECT greatest(0, extract(epoch FROM clock_timestamp() - min(due_at)))::float8 AS seconds FROM promotional_entitlement`)
  return row!.seconds ?? 0
}

/** Customers (our ids) with an end that was not told, the longest overdue first; by the test clock where there is one. */
export async function findDueCustomers(db: Db, limit: number): Promise<DueCustomer[]> {
  const rows = await db.$queryRaw<{ environment_id: string; customer_id: string }[]>(Prisma.sql`
    SELECT environment_id, customer_id FROM (
      SELECT environment_id, customer_id, due_at FROM promotional_entitlement WHERE due_at <= clock_timestamp()
      UNION ALL
      SELECT p.environment_id, p.customer_id, p.due_at FROM environment
      JOIN promotional_entitlement AS p ON p.environment_id = environment.id AND p.due_at <= environment.test_clock
      WHERE environment.test_clock IS NOT NULL
    ) AS due
    GROUP BY 1, 2 ORDER BY min(due_at) LIMIT ${limit}`)
  return rows.map((row) => ({ environmentId: row.environment_id, customerId: row.customer_id }))
}
