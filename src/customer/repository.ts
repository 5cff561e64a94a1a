import { newId } from '../kernel/id.js'
import { type Db, Prisma } from '../platform/postgres.js'
import type { Customer } from './model.js'

/** What a caller may set; absent: unchanged, null: cleared. */
export type CustomerFields = Partial<
  Pick<
    Customer,
    | 'name'
    | 'email'
    | 'timeZone'
    | 'billingCurrency'
    | 'billingId'
    | 'crmId'
    | 'salesforceId'
    | 'awsMarketplaceCustomerId'
    | 'additionalMetaData'
  >
>

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

/** Creates the customer unless its refId is taken; says whether it did. A concurrent twin waits for the first to commit. */
export async function insertCustomerIfNew(
  db: Db,
  environmentId: string,
  refId: string,
  fields: CustomerFields,
  createdAt: Date | undefined,
): Promise<boolean> {
  const { count } = await db.customer.createMany({
    data: [{ environmentId, id: newId(), refId, ...columns(fields), createdAt }],
    skipDuplicates: true,
  })
  return count === 1
}

export async function updateCustomer(db: Db, environmentId: string, id: string, fields: CustomerFields): Promise<Customer> {
  return fromRow(await db.customer.update({ where: { environmentId_id: { environmentId, id } }, data: columns(fields) }))
}
