/**
 * customer   whom the host application provisions; `refId` is the host application's identifier
 * resource   a thing of the customer that holds its own subscription
 * archived   has no access and no name or email; its identifier stays taken
 */
import type { EpochMs } from '../kernel/clock.js'

export interface Customer {
  id: string
  refId: string
  environmentId: string
  name: string | null
  email: string | null
  /** IANA name; null: UTC. */
  timeZone: string | null
  billingCurrency: string | null
  billingId: string | null
  crmId: string | null
  salesforceId: string | null
  awsMarketplaceCustomerId: string | null
  additionalMetaData: Record<string, unknown> | null
  archivedAt: EpochMs | null
  createdAt: EpochMs
  updatedAt: EpochMs
}
