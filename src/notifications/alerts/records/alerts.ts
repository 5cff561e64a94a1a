import { recordAudit } from '../../../audit/record/record.js'
import { type Db, Prisma } from '../../../platform/postgres.js'
import { type Alert, knownThresholds } from '../rules/alert.js'
import { auditedAlert } from '../rules/audited.js'

const related = { feature: { select: { id: true, refId: true } }, customer: { select: { id: true, refId: true } } } as const

type Row = Prisma.AlertGetPayload<{ include: typeof related }>

const fromRow = ({ featureId: _, customerId: __, deletedAt: ___, thresholds, createdAt, updatedAt, ...row }: Row): Alert => ({
  ...row,
  thresholds: knownThresholds(thresholds),
  createdAt: createdAt.getTime(),
  updatedAt: updatedAt.getTime(),
})

/** Oldest first. None of this file answers those that are deleted. */
export async function findAlerts(db: Db, environmentId: string): Promise<Alert[]> {
  const rows = await db.alert.findMany({
    where: { environmentId, deletedAt: null },
    include: related,
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return rows.map(fromRow)
}

export async function findAlertsById(db: Db, environmentId: string, ids: readonly string[]): Promise<Alert[]> {
  return (await db.alert.findMany({ where: { environmentId, id: { in: [...ids] }, deletedAt: null }, include: related })).map(fromRow)
}

export const countAlerts = (db: Db, environmentId: string): Promise<number> => db.alert.count({ where: { environmentId, deletedAt: null } })

export type NewAlert = Pick<
  Alert,
  'environmentId' | 'id' | 'description' | 'feature' | 'planId' | 'customer' | 'thresholds' | 'hysteresisPercent'
>

export async function insertAlert(db: Db, { feature, customer, thresholds, ...alert }: NewAlert): Promise<Alert> {
  const data = {
    ...alert,
    featureId: feature?.id ?? null,
    customerId: customer?.id ?? null,
    thresholds: thresholds as unknown as Prisma.InputJsonArray,
  }
  const made = fromRow(await db.alert.create({ data, include: related }))
  recordAudit(db, auditedAlert(null, made))
  return made
}

/** To change it: nobody else does until the transaction ends. Null: there is none. */
export async function takeAlert(db: Db, environmentId: string, id: string): Promise<Alert | null> {
  const count = await db.$executeRaw(Prisma.sql`
    UPDATE alert SET updated_at = clock_timestamp() WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL`)
  return count === 1 ? (await findAlertsById(db, environmentId, [id]))[0]! : null
}

export async function updateAlert(
  db: Db,
  before: Alert,
  { thresholds, ...change }: Partial<Pick<Alert, 'description' | 'thresholds' | 'hysteresisPercent'>>,
): Promise<Alert> {
  const { environmentId, id } = before
  const data = { ...change, ...(thresholds && { thresholds: thresholds as unknown as Prisma.InputJsonArray }) }
  const after = fromRow(await db.alert.update({ where: { environmentId_id: { environmentId, id } }, data, include: related }))
  recordAudit(db, auditedAlert(before, after))
  return after
}

/** Its row and its crossings go later (`retention.ts`): they may be many. */
export async function deleteAlert(db: Db, alert: Alert): Promise<void> {
  const { environmentId, id } = alert
  await db.$executeRaw(
    Prisma.sql`UPDATE alert SET deleted_at = clock_timestamp() WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid`,
  )
  recordAudit(db, auditedAlert(alert, null))
}
