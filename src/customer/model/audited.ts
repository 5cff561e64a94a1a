import { hidden } from '../../audit/model/difference.js'
import type { AuditedChange, Fields } from '../../audit/model/entry.js'
import { isoOrNull } from '../../kernel/iso-time.js'
import type { Customer } from './customer.js'

/** A change of a customer for the audit log. Who it is, is not in there: archiving has to leave nothing of it behind. */
export const auditedCustomer = (before: Customer | null, after: Customer): AuditedChange => ({
  environmentId: after.environmentId,
  kind: 'CUSTOMER',
  id: after.refId,
  before: before && fieldsOf(before),
  after: fieldsOf(after),
})

const fieldsOf = (customer: Customer): Fields => ({
  customerId: customer.refId,
  name: hidden(customer.name),
  email: hidden(customer.email),
  billingCurrency: customer.billingCurrency,
  timezone: customer.timeZone,
  billingId: customer.billingId,
  crmId: customer.crmId,
  salesforceId: customer.salesforceId,
  awsMarketplaceCustomerId: customer.awsMarketplaceCustomerId,
  coupon: customer.couponId && { id: customer.couponId },
  additionalMetaData: customer.additionalMetaData,
  deletedAt: isoOrNull(customer.archivedAt),
})
