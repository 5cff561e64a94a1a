import { byRule } from '../../audit/record/origin.js'
import { recordAudit } from '../../audit/record/record.js'
import type { Feature } from '../../catalog/model/feature.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { DueCustomer } from '../../platform/due-sweep.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { busyEnvironments } from '../../platform/sql.js'
import { auditedPromotional, type PromotionalFacts } from '../rules/audited.js'
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
  return rows.map((row) => ({ ...fromRow(row, now), feature: features.get(row.featureId)! }))
}

function fromRow(row: Prisma.PromotionalEntitlementGetPayload<object>, now: EpochMs): Omit<PromotionalEntitlement, 'feature'> {
  const endDate = row.endDate?.getTime() ?? null
  const revokedAt = row.revokedAt?.getTime() ?? null
  return {
    id: row.id,
    environmentId: row.environmentId,
    customerId: row.customerId,
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
  for (const one of granted) recordAudit(db, auditedPromotional(null, factsOf(one, one.feature.refId)))
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

const factsOf = (
  {
    environmentId,
    id,
    customerId,
    usageLimit,
    hasUnlimitedUsage,
    hasSoftLimit,
    enumValues,
    ...rest
  }: Omit<PromotionalEntitlement, 'feature'>,
  featureRefId: string,
): PromotionalFacts => {
  const { resetPeriod, period, description, isVisible, startDate, endDate, status } = rest
  const limits = { usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, resetPeriod }
  return { environmentId, id, customerId, featureRefId, ...limits, period, description, isVisible, startDate, endDate, status }
}

/** Ends those that are not revoked yet: of these features (our ids), or all of the customer. */
export async function revokeHeld(
  db: Db,
  environmentId: string,
  customerId: string,
  featureIds: readonly string[] | null,
  at: number,
): Promise<void> {
  const where = { environmentId, customerId, revokedAt: null, ...(featureIds && { featureId: { in: [...featureIds] } }) }
  const held = await db.promotionalEntitlement.findMany({
    where,
    include: { feature: { select: { refId: true } } },
    orderBy: { id: 'asc' },
  })
  if (held.length === 0) return
  await db.promotionalEntitlement.updateMany({ where, data: { revokedAt: new Date(at), dueAt: null } })
  for (const { feature, ...row } of held) recordAudit(db, auditedPromotional(factsOf(fromRow(row, at), feature.refId), null))
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
  const ended = await db.promotionalEntitlement.updateManyAndReturn({
    where: { environmentId, customerId, dueAt: { lte: new Date(now) } },
    data: { dueAt: null },
    select: { id: true },
  })
  for (const { id } of ended) {
    const [before, after] = [{ status: 'Active' }, { status: 'Expired' }]
    byRule('promotionEnds', () => recordAudit(db, { environmentId, kind: 'PROMOTIONAL_ENTITLEMENT', id, before, after }))
  }
  return ended.length
}

/** Seconds since the oldest end that was not told, by the real time; 0: all were. */
export async function dueLagSeconds(db: Db): Promise<number> {
  const [row] = await db.$queryRaw<{ seconds: number | null }[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('promotional_entitlement', 'due_at IS NOT NULL')}
    SELECT greatest(0, extract(epoch FROM clock_timestamp() - min(oldest.due_at)))::float8 AS seconds
    FROM busy CROSS JOIN LATERAL (
      SELECT due_at FROM promotional_entitlement AS promotion
      WHERE promotion.environment_id = busy.environment_id AND promotion.due_at IS NOT NULL ORDER BY due_at LIMIT 1
    ) AS oldest`)
  return row!.seconds ?? 0
}

/**
 * Customers (our ids) with an end that was not told, by the test clock where there is one: of each environment in turn those that are overdue for longest.
 * The time of each environment is found out first: asked in the condition no index could be gone by.
 */
export async function findDueCustomers(db: Db, limit: number, leftAlone: readonly string[]): Promise<DueCustomer[]> {
  const rows = await db.$queryRaw<{ environment_id: string; customer_id: string }[]>(Prisma.sql`
    WITH RECURSIVE ${busyEnvironments('promotional_entitlement', 'due_at IS NOT NULL')}
    SELECT environment.id AS environment_id, due.customer_id
    FROM (
      SELECT environment_id AS id, to_timestamp(environment_clock(environment_id) / 1000.0) AS now FROM busy WHERE environment_id IS NOT NULL OFFSET 0
    ) AS environment CROSS JOIN LATERAL (
      SELECT customer_id, min(due_at) AS due_at, row_number() OVER (ORDER BY min(due_at)) AS place FROM (
        SELECT customer_id, due_at FROM promotional_entitlement AS promotion
        WHERE promotion.environment_id = environment.id AND promotion.due_at <= environment.now AND customer_id <> ALL(${[...leftAlone]}::uuid[])
        ORDER BY promotion.due_at LIMIT ${limit}
      ) AS oldest
      GROUP BY customer_id
    ) AS due
    ORDER BY due.place, due.due_at LIMIT ${limit}`)
  return rows.map((row) => ({ environmentId: row.environment_id, customerId: row.customer_id }))
}
