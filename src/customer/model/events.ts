import type { EventPayload } from '../../notifications/model/catalog.js'
import type { Customer } from './customer.js'

/** What events say of a customer. */
export const toldCustomer = ({ refId, timeZone, billingCurrency, archivedAt, createdAt }: Customer): EventPayload<'customer.created'> => ({
  customer: {
    customerId: refId,
    timezone: timeZone,
    billingCurrency,
    isArchived: archivedAt !== null,
    createdAt: new Date(createdAt).toISOString(),
  },
})
