/** The check: may this customer use this feature, now? Pure; every door that holds a state asks here. */
import type { Feature } from '../../catalog/model/feature.js'
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { invalidInput } from '../../kernel/problem.js'
import type { Usage } from '../../metering/model/usage.js'
import { usagePeriodAt } from '../../metering/model/usage-period.js'
import type { DenialReason } from './denial.js'
import type { Entitlement, EntitlementState } from './state.js'

/** What a caller asks about: each type has its own question (none, none, requested usage, requested values). */
export type EntitlementType = 'boolean' | 'numeric' | 'metered' | 'enum'

export type Decision<E extends Entitlement = Entitlement> = (
  | { granted: true; entitlement: E }
  /** The entitlement is null when the customer does not hold the feature. */
  | { granted: false; reason: DenialReason; entitlement: E | null }
) & {
  /** The usage period is over, so the usage was taken as 0: right unless there was usage since. Refresh at once. */
  isStale: boolean
}

/** An exact amount, or a double that stands for the shortest decimal that reads back as it. */
export type Amount = decimal.Decimal | number

interface Question {
  /** What the caller wants to consume of a metered feature; default 0. See `checkRequestedUsage`. */
  requestedUsage?: Amount
  /** What the caller wants of an ENUM; default none. */
  requestedValues?: readonly string[]
  /** Denied with FeatureTypeMismatch when the feature is of another type; default: any type will do. */
  expectedType?: EntitlementType
  now: EpochMs
}

/**
 * Requested usage as it arrives at a door; absent is 0. Fails with INVALID_ARGUMENT when it is negative, NaN, infinite, or so
 * small that it would be kept as 0 and granted at the limit.
 */
export function checkRequestedUsage(requested: number | null | undefined): decimal.Decimal {
  if (requested === null || requested === undefined) return decimal.zero
  if (!(requested >= 0) || requested === Number.POSITIVE_INFINITY)
    throw invalidInput('requestedUsage must be 0 or a positive number', { path: 'requestedUsage' })
  const kept = decimal.fromNumber(requested)
  if (kept === decimal.zero && requested !== 0)
    throw invalidInput('requestedUsage is too small: usage is kept to 9 decimals', { path: 'requestedUsage' })
  return kept
}

/**
 * Decides about a feature (the caller's identifier) of a state. FeatureNotFound is for doors that know the catalog: a state
 * only knows that the customer does not hold the feature. A state or entitlement past `validUntil` is not told apart here: the
 * reader refetches first. Fails with INVALID_ARGUMENT when the requested usage is negative.
 */
export function evaluate<E extends Entitlement>({
  state,
  featureId,
  ...question
}: Question & { state: Pick<EntitlementState, 'deniedReason'> & { entitlements: readonly E[] }; featureId: string }): Decision<E> {
  checkNotNegative(question.requestedUsage)
  const entitlement = state.deniedReason === null ? state.entitlements.find(({ feature }) => feature.refId === featureId) : undefined
  if (entitlement !== undefined) return decide(entitlement, question)
  return { granted: false, reason: state.deniedReason ?? 'NoFeatureEntitlementInSubscription', entitlement: null, isStale: false }
}

/** The same for readers that have found the entitlement themselves. The entitlement answered is as of `now` (see `entitlementAt`). */
export function decide<E extends Entitlement>(held: E, question: Question): Decision<E> {
  checkNotNegative(question.requestedUsage)
  const entitlement = entitlementAt(held, question.now)
  const isStale = isPeriodOver(held, question.now)
  const reason = denialOf(entitlement, entitlement.usage?.currentUsage ?? 0, question)
  return reason === null ? { granted: true, entitlement, isStale } : { granted: false, reason, entitlement, isStale }
}

/**
 * The entitlement as it is answered at `now`: usage below zero is 0, and after the end of its usage period it is 0 in the period
 * that contains `now`. Where the state does not tell how usage is reset, the past period stays as it is.
 * The same object when nothing changes, else a copy with all its other fields.
 */
export function entitlementAt<E extends Entitlement>(entitlement: E, now: EpochMs): E {
  const { usage } = entitlement
  if (usage === null) return entitlement
  if (isPeriodOver(entitlement, now)) return inNewPeriod(entitlement, usage, now)
  return usage.currentUsage.startsWith('-') ? { ...entitlement, usage: { ...usage, currentUsage: decimal.zero } } : entitlement
}

/**
 * Whether `max(0, currentUsage) + requestedUsage <= usageLimit`, exactly. A null limit counts as 0.
 * Doubles settle it unless the two sides are too close for them: tens of nanoseconds instead of hundreds, on every warm check.
 */
export function fitsLimit({
  currentUsage,
  requestedUsage,
  usageLimit,
}: {
  currentUsage: Amount
  requestedUsage: Amount
  usageLimit: Amount | null
}): boolean {
  const [used, requested, limit] = [Math.max(0, Number(currentUsage)), Number(requestedUsage), Number(usageLimit ?? 0)]
  const room = limit - used - requested
  // Each of the five roundings is off by at most 2^-53 of a number no larger than this sum.
  if (Math.abs(room) > (used + requested + Math.abs(limit)) * 2 ** -50) return room > 0
  if (isWhole(currentUsage) && isWhole(requestedUsage) && isWhole(usageLimit ?? 0) && Number.isSafeInteger(used + requested))
    return room >= 0
  const usedExactly = decimal.max(exact(currentUsage), decimal.zero)
  return decimal.compare(decimal.add(usedExactly, exact(requestedUsage)), exact(usageLimit ?? 0)) <= 0
}

/** Whether it is a whole number, and as a double too: nothing is rounded then. */
const isWhole = (amount: Amount): boolean => (typeof amount === 'number' || amount.length <= 15) && Number.isSafeInteger(Number(amount))

const exact = (amount: Amount): decimal.Decimal => (typeof amount === 'number' ? decimal.fromNumber(amount) : amount)

function inNewPeriod<E extends Entitlement>(entitlement: E, usage: Usage, now: EpochMs): E {
  const { reset, usageRestartsAt } = entitlement
  if (reset === null) return { ...entitlement, usage: { ...usage, currentUsage: decimal.zero } }
  const hasRestarted = usageRestartsAt !== null && now >= usageRestartsAt
  const anchor = hasRestarted ? usageRestartsAt : reset.anchor
  const { start, end } = usagePeriodAt({ ...reset, anchor, at: now })
  const periodEnd = usageRestartsAt !== null && !hasRestarted ? Math.min(end, usageRestartsAt) : end
  return {
    ...entitlement,
    reset: { ...reset, anchor },
    usage: { ...usage, currentUsage: decimal.zero, periodStart: start, periodEnd },
    usageRestartsAt: hasRestarted ? null : usageRestartsAt,
  }
}

/** What of an entitlement decides, besides its usage. */
export interface Right extends Pick<Entitlement, 'feature' | 'hasUnlimitedUsage' | 'hasSoftLimit' | 'enumValues' | 'deniedReason'> {
  usageLimit: Amount | null
}

/**
 * The decision itself, for readers that keep usage apart: why not; null: granted. `currentUsage` is that of the period that contains the instant that is asked
 * about (see `isOver`); 0 of a feature without a meter.
 */
export function denialOf(
  right: Right,
  currentUsage: Amount,
  { requestedUsage = 0, requestedValues, expectedType }: Omit<Question, 'now'>,
): DenialReason | null {
  const type = entitlementTypeOf(right.feature)
  // The question does not fit, whatever is held: this comes before any reason to deny it.
  if (expectedType !== undefined && expectedType !== type) return 'FeatureTypeMismatch'
  if (right.deniedReason !== null) return right.deniedReason
  if (type === 'enum')
    return requestedValues?.every((value) => right.enumValues.includes(value)) === false ? 'RequestedValuesMismatch' : null
  if (type !== 'metered' || right.hasUnlimitedUsage || right.hasSoftLimit) return null
  return fitsLimit({ currentUsage, requestedUsage, usageLimit: right.usageLimit }) ? null : 'RequestedUsageExceedingLimit'
}

/** Which of the four questions a feature takes. */
export function entitlementTypeOf({ featureType, meterType }: Feature): EntitlementType {
  if (featureType === 'BOOLEAN') return 'boolean'
  if (featureType === 'ENUM') return 'enum'
  return meterType === 'None' ? 'numeric' : 'metered'
}

function isPeriodOver({ feature, usage }: Entitlement, now: EpochMs): boolean {
  return usage !== null && usage.periodEnd !== null && isOver(feature, usage.periodEnd, now)
}

/** Whether usage has started again at the end of its period. Seats are never reset by time, whatever period an entry carries. NaN: there is no end. */
export const isOver = ({ meterType }: Pick<Feature, 'meterType'>, periodEnd: EpochMs, now: EpochMs): boolean =>
  meterType === 'Incremental' && now >= periodEnd

function checkNotNegative(requestedUsage: Amount = 0): void {
  if (typeof requestedUsage === 'number' ? requestedUsage < 0 : requestedUsage.startsWith('-'))
    throw invalidInput('requestedUsage must be 0 or a positive number', { path: 'requestedUsage' })
}
