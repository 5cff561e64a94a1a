/**
 * Promotional entitlements: rights that the host application gives to one customer, beside its subscriptions and for a while. Pure.
 *
 * period    how long it is held, counted from the grant on the customer's calendar
 * end date  exclusive; null: for life
 * held      granted, and neither revoked nor replaced by a newer one of the same feature; an expired one is still held, and gives nothing
 */

import { Temporal } from 'temporal-polyfill'
import type { Feature } from '../../catalog/model/feature.js'
import { maxLimit, maxNumericValue } from '../../catalog/model/package.js'
import type { EpochMs } from '../../kernel/clock.js'
import { type Decimal, fromNumber, toNumber } from '../../kernel/decimal.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { featureNotFound } from '../../metering/model/problems.js'
import { type ResetPeriod, type ResetRule, resetRules } from '../../metering/model/usage-period.js'

const promotionalPeriods = ['CUSTOM', 'LIFETIME', 'ONE_MONTH', 'ONE_WEEK', 'ONE_YEAR', 'SIX_MONTH'] as const
export type PromotionalPeriod = (typeof promotionalPeriods)[number]

/** Paused is of the contract; nothing here pauses a promotional entitlement. */
const promotionalStatuses = ['Active', 'Expired', 'Paused'] as const
type PromotionalStatus = (typeof promotionalStatuses)[number]

export interface PromotionalEntitlement {
  id: string
  environmentId: string
  /** Ours. */
  customerId: string
  feature: Feature
  /** Null: no limit was set (BOOLEAN, ENUM, unlimited). */
  usageLimit: Decimal | null
  hasUnlimitedUsage: boolean
  hasSoftLimit: boolean
  enumValues: string[]
  resetPeriod: ResetPeriod | null
  /** Null exactly when `resetPeriod` is. */
  resetRule: ResetRule | null
  period: PromotionalPeriod
  description: string | null
  /** Whether the host application shows it to the customer. */
  isVisible: boolean
  startDate: EpochMs
  endDate: EpochMs | null
  /** When it was read. */
  status: PromotionalStatus
  revokedAt: EpochMs | null
  createdAt: EpochMs
  updatedAt: EpochMs
}

/** What somebody wants to grant; absent and null mean the same. */
export interface PromotionalGrant {
  featureRefId: string
  period: PromotionalPeriod
  customEndDate?: EpochMs | null
  usageLimit?: number | null
  hasUnlimitedUsage?: boolean | null
  hasSoftLimit?: boolean | null
  enumValues?: string[] | null
  isVisible?: boolean | null
  resetPeriod?: ResetPeriod | null
  /** By the period that it is for. */
  resetRules?: Partial<Record<ResetPeriod, ResetRule | null>>
}

/** A feature as a grant is checked against it. */
export type GrantableFeature = Feature & { enumValues: readonly string[]; isArchived: boolean }

/** A revoked one is answered as expired: the contract has no word for it. */
export function promotionalStatusAt(
  { endDate, revokedAt }: Pick<PromotionalEntitlement, 'endDate' | 'revokedAt'>,
  now: EpochMs,
): PromotionalStatus {
  const isOver = revokedAt !== null || (endDate !== null && endDate <= now)
  return isOver ? 'Expired' : 'Active'
}

/** The same local time a week, month, half year or year later; the last day of a shorter month. Null: for life. */
export function promotionalEnd({
  period,
  customEndDate,
  startDate,
  timeZone,
}: Pick<PromotionalGrant, 'period' | 'customEndDate'> & { startDate: EpochMs; timeZone: string }): EpochMs | null {
  const isGiven = customEndDate !== null && customEndDate !== undefined
  if (isGiven !== (period === 'CUSTOM'))
    throw invalidInput(isGiven ? 'customEndDate goes with period CUSTOM only.' : 'Give customEndDate with period CUSTOM.', {
      path: 'customEndDate',
    })
  if (isGiven) {
    if (customEndDate <= startDate) throw invalidInput('customEndDate must be in the future.', { path: 'customEndDate' })
    return customEndDate
  }
  const duration = durations[period as Exclude<PromotionalPeriod, 'CUSTOM'>]
  if (duration === null) return null
  return Temporal.Instant.fromEpochMilliseconds(startDate).toZonedDateTimeISO(timeZone).add(duration).epochMilliseconds
}

const durations: Readonly<Record<Exclude<PromotionalPeriod, 'CUSTOM'>, Temporal.DurationLike | null>> = {
  LIFETIME: null,
  ONE_WEEK: { weeks: 1 },
  ONE_MONTH: { months: 1 },
  SIX_MONTH: { months: 6 },
  ONE_YEAR: { years: 1 },
}

/** What a grant gives, once it is known to fit the feature. @throws Problem BAD_USER_INPUT or FEATURE_NOT_FOUND */
export function decideGrant(
  grant: PromotionalGrant,
  feature: GrantableFeature | null,
  /** The feature that was probably meant where there is none of that name. */
  nearestFeature: string | null,
): Pick<PromotionalEntitlement, 'usageLimit' | 'hasUnlimitedUsage' | 'hasSoftLimit' | 'enumValues' | 'resetPeriod' | 'resetRule'> {
  if (!feature || feature.isArchived) throw featureNotFound(grant.featureRefId, nearestFeature)
  const { usageLimit = null, hasUnlimitedUsage, hasSoftLimit } = grant
  const isUnlimited = hasUnlimitedUsage ?? false
  const isSoft = hasSoftLimit ?? false
  const refuse = (field: keyof PromotionalGrant, why: string) =>
    invalidInput(`${field} ${why} (feature "${feature.refId}").`, { path: field, featureId: feature.refId })
  if (feature.featureType === 'NUMBER') {
    if (usageLimit === null && !isUnlimited) throw refuse('usageLimit', 'or hasUnlimitedUsage is required, as the feature is a NUMBER')
    if (usageLimit !== null && isUnlimited) throw refuse('usageLimit', 'contradicts hasUnlimitedUsage')
    if (isSoft && isUnlimited) throw refuse('hasSoftLimit', 'contradicts hasUnlimitedUsage')
    if (isSoft && feature.meterType === 'None') throw refuse('hasSoftLimit', 'needs a metered feature: nothing else can exceed its limit')
    if (usageLimit !== null) checkLimit(usageLimit, feature, refuse)
  } else {
    if (usageLimit !== null) throw refuse('usageLimit', `does not go with a ${feature.featureType}, which has no limit`)
    if (isUnlimited) throw refuse('hasUnlimitedUsage', `does not go with a ${feature.featureType}, which has no limit`)
    if (isSoft) throw refuse('hasSoftLimit', `does not go with a ${feature.featureType}, which has no limit`)
  }
  return {
    usageLimit: usageLimit === null ? null : fromNumber(usageLimit),
    hasUnlimitedUsage: isUnlimited,
    hasSoftLimit: isSoft,
    enumValues: checkEnumValues(grant.enumValues ?? [], feature, refuse),
    ...decideReset(grant, feature, refuse),
  }
}

type Refuse = (field: keyof PromotionalGrant, why: string) => Problem

function checkLimit(usageLimit: number, feature: GrantableFeature, refuse: Refuse): void {
  if (!Number.isFinite(usageLimit) || usageLimit < 0) throw refuse('usageLimit', 'must be a number from 0 on')
  if (feature.meterType === 'None') {
    if (!Number.isInteger(usageLimit) || usageLimit > maxNumericValue)
      throw refuse('usageLimit', `must be a whole number up to ${maxNumericValue}, as the feature has no meter`)
  } else if (usageLimit > maxLimit || toNumber(fromNumber(usageLimit)) !== usageLimit)
    throw refuse('usageLimit', `must be at most ${maxLimit} and have at most 9 decimals`)
}

function checkEnumValues(values: readonly string[], feature: GrantableFeature, refuse: Refuse): string[] {
  if (feature.featureType !== 'ENUM') {
    if (values.length > 0) throw refuse('enumValues', `does not go with a ${feature.featureType}, which has no values`)
    return []
  }
  if (values.length === 0) throw refuse('enumValues', `is required: some of ${feature.enumValues.join(', ')}`)
  const unknown = values.find((value) => !feature.enumValues.includes(value))
  if (unknown !== undefined) throw refuse('enumValues', `has "${unknown}", which is none of ${feature.enumValues.join(', ')}`)
  return [...new Set(values)]
}

function decideReset(
  grant: PromotionalGrant,
  feature: GrantableFeature,
  refuse: Refuse,
): Pick<PromotionalEntitlement, 'resetPeriod' | 'resetRule'> {
  const resetPeriod = grant.resetPeriod ?? null
  const stray = Object.entries(grant.resetRules ?? {}).find(([period, rule]) => rule && period !== resetPeriod)
  if (stray) throw refuse('resetPeriod', `must be ${stray[0]}, as a reset of that period is configured`)
  if (resetPeriod === null) return { resetPeriod: null, resetRule: null }
  if (feature.meterType === 'None') throw refuse('resetPeriod', 'needs a metered feature: there is no usage to reset')
  if (feature.meterType === 'Fluctuating') throw refuse('resetPeriod', 'does not go with Fluctuating usage, which is never reset')
  return { resetPeriod, resetRule: grant.resetRules?.[resetPeriod] ?? resetRules[resetPeriod][0]! }
}

export function promotionalNotFound(customerId: string, featureId: string): Problem {
  return new Problem(
    'NOT_FOUND',
    'PROMOTIONAL_ENTITLEMENT_NOT_FOUND',
    `Customer "${customerId}" has no promotional entitlement of feature "${featureId}".`,
    { details: { customerId, featureId } },
  )
}
