import { latestVersion } from '../../updates/external-cache/keys.js'
import type { CachedFeature, CachedUsage } from '../../updates/external-cache/value.js'

/**
 * Whether what stands in the external cache has its shape: others may write there too. What has not fails, and is a miss; past here nothing is looked at again,
 * neither where a check is decided nor where its answer is made.
 */

const isNothing = (value: unknown): value is null | undefined => value === null || value === undefined
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
const isTextOrNothing = (value: unknown) => isNothing(value) || typeof value === 'string'
const isTimeOrNothing = (value: unknown) => isNothing(value) || (Number.isInteger(value) && Math.abs(value as number) <= latestVersion)
const isTexts = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string')

const featureTypes: ReadonlySet<unknown> = new Set<CachedFeature['calculatedEntitlement']['feature']['featureType']>([
  'BOOLEAN',
  'ENUM',
  'NUMBER',
])
const meterTypes: ReadonlySet<unknown> = new Set<CachedFeature['calculatedEntitlement']['feature']['meterType']>([
  'None',
  'Fluctuating',
  'Incremental',
])

function isFeature(value: unknown): value is CachedFeature {
  if (!isObject(value)) return false
  const { calculatedEntitlement: right, featureUsage } = value as Partial<CachedFeature>
  if (!isObject(right) || !isObject(featureUsage) || !isObject(right.feature)) return false
  const { feature, usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, accessDeniedReason, validUntil } = right
  return (
    typeof feature.id === 'string' &&
    featureTypes.has(feature.featureType) &&
    meterTypes.has(feature.meterType) &&
    isTextOrNothing(feature.units) &&
    isTextOrNothing(feature.unitsPlural) &&
    (usageLimit === null || Number.isFinite(usageLimit)) &&
    typeof hasUnlimitedUsage === 'boolean' &&
    typeof hasSoftLimit === 'boolean' &&
    (isNothing(enumValues) || isTexts(enumValues)) &&
    isTextOrNothing(accessDeniedReason) &&
    isTimeOrNothing(validUntil) &&
    isTextOrNothing(featureUsage.resetPeriod) &&
    isTimeOrNothing(featureUsage.usagePeriodAnchor)
  )
}

export function asEntry(value: unknown): Record<string, CachedFeature> {
  if (!isObject(value) || !Object.values(value).every(isFeature)) throw new TypeError('no entry')
  return value as Record<string, CachedFeature>
}

export function asUsage(value: unknown): CachedUsage {
  if (!isObject(value)) throw new TypeError('no usage')
  const { currentUsage, usagePeriodStart, usagePeriodEnd } = value as Partial<CachedUsage>
  if (!Number.isFinite(currentUsage) || !isTimeOrNothing(usagePeriodStart) || !isTimeOrNothing(usagePeriodEnd))
    throw new TypeError('no usage')
  return value as CachedUsage
}
