import { recordAudit } from '../../audit/record/record.js'
import { knownRefId } from '../../changes/events.js'
import { readTime } from '../../environment/records/environments.js'
import type { EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { type Db, Prisma } from '../../platform/postgres.js'
import { auditedCustomer } from '../model/audited.js'
import type { Customer, CustomerFields } from '../model/customer.js'

type Row = Prisma.CustomerGetPayload<object>

function fromRow(row: Row): Customer {
  return {
    id: row.id,
    refId: row.refId,
    environmentId: row.environmentId,
    name: row.name,
    email: row.email,
    timeZone: row.timezone,
    billingCurrency: row.billingCurrency,
    billingId: row.billingId,
    crmId: row.crmId,
    salesforceId: row.salesforceId,
    awsMarketplaceCustomerId: row.awsMarketplaceCustomerId,
    couponId: row.couponId,
    additionalMetaData: row.additionalMetaData as Customer['additionalMetaData'],
    archivedAt: row.archivedAt?.getTime() ?? null,
    createdAt: row.createdAt.getTime(),
    updatedAt: row.updatedAt.getTime(),
  }
}

function columns({ timeZone, additionalMetaData, ...fields }: CustomerFields) {
  return {
    ...fields,
    ...(timeZone === undefined ? {} : { timezone: timeZone }),
    ...(additionalMetaData === undefined
      ? {}
      : { additionalMetaData: additionalMetaData === null ? Prisma.DbNull : (additionalMetaData as Prisma.InputJsonObject) }),
  }
}

export async function findCustomer(db: Db, environmentId: string, by: { refId: string } | { id: string }): Promise<Customer | null> {
  const row = await db.customer.findUnique({
    where: 'id' in by ? { environmentId_id: { environmentId, id: by.id } } : { environmentId_refId: { environmentId, refId: by.refId } },
  })
  return row && fromRow(row)
}

/** Archived ones too: what belonged to them still names them. */
export async function findCustomersById(db: Db, environmentId: string, ids: readonly string[]): Promise<Customer[]> {
  const rows = await db.customer.findMany({ where: { environmentId, id: { in: [...ids] } } })
  return rows.map(fromRow)
}

/** What the host application calls customers, by our id. */
export async function refIdsOfCustomers(db: Db, environmentId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const refIds = new Map<string, string>()
  const unknown: string[] = []
  for (const id of ids) {
    const refId = knownRefId(db, id)
    if (refId === undefined) unknown.push(id)
    else refIds.set(id, refId)
  }
  if (unknown.length === 0) return refIds
  const rows = await db.customer.findMany({ where: { environmentId, id: { in: unknown } }, select: { id: true, refId: true } })
  for (const row of rows) refIds.set(row.id, row.refId)
  return refIds
}

/** Those of an environment that are not archived, in the order of their ids. */
export async function listCustomers(db: Db, environmentId: string): Promise<Pick<Customer, 'environmentId' | 'id' | 'refId'>[]> {
  return db.customer.findMany({
    where: { environmentId, archivedAt: null },
    select: { environmentId: true, id: true, refId: true },
    orderBy: { id: 'asc' },
  })
}

/** Creates the customer unless its refId is taken: then null. A concurrent twin waits for the first to commit. */
export async function insertCustomerIfNew(
  db: Db,
  environmentId: string,
  refId: string,
  fields: CustomerFields,
  createdAt: Date | undefined,
): Promise<Customer | null> {
  const couponGrantedAt = fields.couponId ? new Date(await readTime(db, environmentId)) : null
  const id = newId()
  const { name = null, email = null, timeZone = null, billingCurrency = null, billingId = null } = fields
  const { crmId = null, salesforceId = null, awsMarketplaceCustomerId = null, couponId = null, additionalMetaData = null } = fields
  // Not by Prisma, which takes as long to make the statement as the database does to execute it.
  const [row] = await db.$queryRaw<Pick<Row, 'additionalMetaData' | 'createdAt' | 'updatedAt'>[]>(Prisma.sql`
    INSERT INTO customer (environment_id, id, ref_id, name, email, timezone, billing_currency, billing_id, crm_id, salesforce_id,
      aws_marketplace_customer_id, coupon_id, coupon_granted_at, additional_meta_data, created_at, updated_at)
    VALUES (${environmentId}::uuid, ${id}::uuid, ${refId}, ${name}, ${email}, ${timeZone}, ${billingCurrency}, ${billingId}, ${crmId}, ${salesforceId},
      ${awsMarketplaceCustomerId}, ${couponId}::uuid, ${couponGrantedAt}, ${additionalMetaData && JSON.stringify(additionalMetaData)}::jsonb,
      coalesce(${createdAt ?? null}::timestamptz(3), now()), now())
    ON CONFLICT DO NOTHING
    RETURNING additional_meta_data AS "additionalMetaData", created_at AS "createdAt", updated_at AS "updatedAt"`)
  if (!row) return null
  const created: Customer = {
    id,
    refId,
    environmentId,
    name,
    email,
    timeZone,
    billingCurrency,
    billingId,
    crmId,
    salesforceId,
    awsMarketplaceCustomerId,
    couponId,
    additionalMetaData: row.additionalMetaData as Customer['additionalMetaData'],
    archivedAt: null,
    createdAt: row.createdAt.getTime(),
    updatedAt: row.updatedAt.getTime(),
  }
  recordAudit(db, auditedCustomer(null, created))
  return created
}

export async function updateCustomer(db: Db, before: Customer, fields: CustomerFields): Promise<Customer> {
  const { environmentId, id } = before
  if (fields.timeZone !== undefined) await rememberTimeZone(db, environmentId, id, fields.timeZone)
  if (fields.couponId !== undefined) await giveCoupon(db, environmentId, id, fields.couponId)
  const after = fromRow(await db.customer.update({ where: { environmentId_id: { environmentId, id } }, data: columns(fields) }))
  recordAudit(db, auditedCustomer(before, after))
  return after
}

/** One that it has already keeps the time at which it was given. */
async function giveCoupon(db: Db, environmentId: string, id: string, couponId: string | null): Promise<void> {
  const couponGrantedAt = couponId && new Date(await readTime(db, environmentId))
  await db.customer.updateMany({
    where: { environmentId, id, ...(couponId && { OR: [{ couponId: null }, { couponId: { not: couponId } }] }) },
    data: { couponId, couponGrantedAt },
  })
}

/** Remembers the zone that is about to be replaced: usage periods that were begun in it end in it. After two years none of them is left. */
async function rememberTimeZone(db: Db, environmentId: string, id: string, timeZone: string | null): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    UPDATE customer SET former_timezones = (
      SELECT jsonb_agg(former ORDER BY (former->>'until')::bigint)
      FROM jsonb_array_elements(coalesce(former_timezones, '[]') || jsonb_build_array(jsonb_build_object(
        'timeZone', coalesce(timezone, 'UTC'), 'until', environment_clock(environment_id)))) AS former
      WHERE (former->>'until')::bigint > environment_clock(environment_id) - 2 * 366 * 86400000::bigint)
    WHERE environment_id = ${environmentId}::uuid AND id = ${id}::uuid AND coalesce(timezone, 'UTC') <> ${timeZone ?? 'UTC'}`)
}

/** Name and email go with the archiving; unarchiving (null) does not bring them back. */
export async function setArchived(db: Db, before: Customer, archivedAt: EpochMs | null): Promise<Customer> {
  const where = { environmentId_id: { environmentId: before.environmentId, id: before.id } }
  const data = archivedAt === null ? { archivedAt: null } : { archivedAt: new Date(archivedAt), name: null, email: null }
  const after = fromRow(await db.customer.update({ where, data }))
  recordAudit(db, auditedCustomer(before, after))
  return after
}

/**
 * Remembers when the source of an import last changed the customer. False: an import that is newer was here already, so this one is to change
 * nothing.
 */
export async function claimSourceUpdate(db: Db, environmentId: string, id: string, updatedAt: EpochMs): Promise<boolean> {
  const sourceUpdatedAt = new Date(updatedAt)
  const { count } = await db.customer.updateMany({
    where: { environmentId, id, OR: [{ sourceUpdatedAt: null }, { sourceUpdatedAt: { lte: sourceUpdatedAt } }] },
    data: { sourceUpdatedAt },
  })
  return count === 1
}
