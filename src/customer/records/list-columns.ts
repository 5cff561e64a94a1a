import { type Columns, column, nothing, nullable } from '../../platform/list/columns.js'
import { Prisma } from '../../platform/postgres.js'

/** What customers, called `customer` in the statement, are filtered and sorted by; also as what belongs to rows of other lists. */
export const customerColumns: Columns = {
  awsMarketplaceCustomerId: nullable('text', 'customer.aws_marketplace_customer_id'),
  billingId: nullable('text', 'customer.billing_id'),
  createdAt: column('time', 'customer.created_at'),
  crmHubspotCompanyId: nothing,
  crmHubspotCompanyUrl: nothing,
  crmId: nullable('text', 'customer.crm_id'),
  customerId: column('text', 'customer.ref_id'),
  deletedAt: nullable('time', 'customer.archived_at'),
  email: nullable('text', 'customer.email'),
  environmentId: column('uuid', 'customer.environment_id'),
  id: column('uuid', 'customer.id'),
  name: nullable('text', 'customer.name'),
  refId: column('text', 'customer.ref_id'),
  salesforceId: nullable('text', 'customer.salesforce_id'),
  searchQuery: column('text', "concat_ws(' ', customer.ref_id, customer.name, customer.email)"),
  updatedAt: column('time', 'customer.updated_at'),
}

/** What coupons, called `coupon` in the statement, are filtered by of those who have them; archived ones left out. */
export const couponHolderColumns: Columns = {
  customers: {
    some: (condition) => Prisma.sql`EXISTS (
      SELECT FROM customer
      WHERE customer.environment_id = coupon.environment_id AND customer.coupon_id = coupon.id AND customer.archived_at IS NULL
        AND ${condition})`,
    columns: customerColumns,
  },
}
