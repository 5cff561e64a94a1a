import type { HeldPromotional } from '../../../src/entitlement/rules/grants.js'
import type { Holdings } from '../../../src/entitlement/rules/holdings.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { day, feature, t0 } from '../subscription/support.js'

export const now = t0 + 5 * day
export const version = now - 1
export const calls = feature('calls', { meterType: 'Incremental' })
export const seats = feature('seats', { meterType: 'Fluctuating' })
export const sso = feature('sso', { featureType: 'BOOLEAN' })
export const monthly = { resetPeriod: 'MONTH', resetRule: 'SubscriptionStart' } as const

/** A customer that holds nothing. */
export function holding(fields: Partial<Holdings> = {}): Holdings {
  return {
    environmentId: 'environment',
    customerRefId: 'acme',
    resourceRefId: null,
    customer: { id: 'customer', timeZone: 'UTC', isArchived: false },
    resource: null,
    version,
    accessVersion: version,
    subscriptions: [],
    promotional: [],
    features: new Map(),
    basePlans: new Map(),
    ...fields,
  }
}

/** Fifty calls for life, never reset. */
export const promotional = (fields: Partial<HeldPromotional> = {}): HeldPromotional => ({
  id: 'promotional',
  feature: calls,
  usageLimit: decimal.fromNumber(50),
  hasUnlimitedUsage: false,
  hasSoftLimit: false,
  enumValues: [],
  resetPeriod: null,
  resetRule: null,
  startDate: t0,
  endDate: null,
  ...fields,
})
