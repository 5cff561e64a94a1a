/** What a host application asks of the two doors, as far as the tests need it. */
import { randomUUID } from 'node:crypto'
import type { TestPlatform } from '../support/platform.js'

/** Numbers of AccessDeniedReason on the wire. */
export const exceedingLimit = 8

export interface Metered {
  has_access: boolean
  is_fallback: boolean
  access_denied_reason?: number
  entitlement?: { usage_limit?: number; is_unlimited: boolean; current_usage: number }
}

export interface Entitlement {
  isGranted: boolean
  accessDeniedReason: string | null
  currentUsage: number | null
  usageLimit: number | null
  hasUnlimitedUsage: boolean
}

export interface Report {
  customerId: string
  featureId: string
  value: number
  idempotencyKey?: string
}

export class Doors {
  constructor(private readonly platform: () => TestPlatform) {}

  /** A new customer on the plan, without a trial. */
  async provision(planId: string): Promise<string> {
    const customerId = `${planId}-${randomUUID().slice(0, 8)}`
    await this.platform().api.call(
      `mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { customerId } subscription { status } } }`,
      { input: { customerId, subscriptionParams: { planId, trialOverrideConfiguration: { isTrial: false } } } },
    )
    return customerId
  }

  /** GraphQL's answer. Nothing is requested unless said. */
  async entitlement(customerId: string, featureId: string, requestedUsage?: number): Promise<Entitlement> {
    const options = requestedUsage === undefined ? {} : { options: { requestedUsage } }
    const { entitlement } = await this.platform().api.call<{ entitlement: Entitlement }>(
      `query ($query: FetchEntitlementQuery!) {
        entitlement(query: $query) { isGranted accessDeniedReason currentUsage usageLimit hasUnlimitedUsage }
      }`,
      { query: { customerId, featureId, ...options } },
    )
    return entitlement
  }

  /** The sidecar's answer. */
  metered(
    customerId: string,
    featureId: string,
    { requestedUsage, fallback, deadlineMs }: { requestedUsage?: number; fallback?: object; deadlineMs?: number } = {},
  ): Promise<Metered> {
    const options = {
      ...(requestedUsage === undefined ? {} : { requested_usage: requestedUsage }),
      ...(fallback === undefined ? {} : { fallback }),
    }
    const request = { customer_id: customerId, feature_id: featureId, options }
    return this.platform().sidecar.call<Metered>('GetMeteredEntitlement', request, deadlineMs)
  }

  /** Reports through GraphQL; answers the new current usage. */
  async report(input: Report): Promise<number> {
    const { reportUsage } = await this.platform().api.call<{ reportUsage: { currentUsage: number } }>(
      `mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id currentUsage } }`,
      { input },
    )
    return reportUsage.currentUsage
  }

  /** Reports through the sidecar; answers the new current usage. */
  async reportToSidecar({ customerId, featureId, value, idempotencyKey }: Report): Promise<number> {
    const request = { customer_id: customerId, feature_id: featureId, value, idempotency_key: idempotencyKey }
    return (await this.platform().sidecar.call<{ current_usage: number }>('ReportUsage', request)).current_usage
  }

  /** Usage as GraphQL and as the sidecar tell it now. */
  async usages(customerId: string, featureId: string): Promise<{ graphql: number | null; sidecar: number | undefined }> {
    const [{ currentUsage }, { entitlement }] = await Promise.all([
      this.entitlement(customerId, featureId),
      this.metered(customerId, featureId),
    ])
    return { graphql: currentUsage, sidecar: entitlement?.current_usage }
  }
}

/** Does the work for each item, by so many callers at once; each takes the next item when it is done with one. */
export async function byCallers<T>(callers: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}
