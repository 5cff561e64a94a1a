import type { DenialReason } from '../../entitlement/rules/denial.js'
import { checkRequestedUsage, decide, type EntitlementType, entitlementTypeOf } from '../../entitlement/rules/evaluate.js'
import type { EpochMs } from '../../kernel/clock.js'
import type * as decimal from '../../kernel/decimal.js'
import { checkRefId } from '../../kernel/id.js'
import { invalidInput } from '../../kernel/problem.js'
import type { CachedState, CacheEntry } from '../../reader/states/entry.js'
import { chooseFallback, type GlobalFallbacks } from '../../reader/states/fallback.js'
import { type HeldEntitlement, heldAt } from '../../reader/states/rights.js'
import { type EncodedField, encodeCheckAnswer, encodeFields } from './encoding.js'
import { encodeFallback, encodeHeld, fromFallback, reasonNumber } from './mapping.js'
import type { CheckRequest } from './messages.js'

/** The five Get…Entitlement calls: one question, five shapes of answer. Pure. */
export interface CheckKind {
  /** Undefined: whatever type the feature has. */
  expectedType: EntitlementType | undefined
  /** The number of the entitlement's field in the answer, by the entitlement's type. */
  entitlementField: Readonly<Record<EntitlementType, number>>
  echoesRequestedUsage: boolean
  echoesRequestedValues: boolean
}

const everywhere = (field: number) => ({ boolean: field, numeric: field, metered: field, enum: field })

export const checkKinds = {
  GetBooleanEntitlement: {
    expectedType: 'boolean',
    entitlementField: everywhere(4),
    echoesRequestedUsage: false,
    echoesRequestedValues: false,
  },
  GetNumericEntitlement: {
    expectedType: 'numeric',
    entitlementField: everywhere(4),
    echoesRequestedUsage: false,
    echoesRequestedValues: false,
  },
  GetMeteredEntitlement: {
    expectedType: 'metered',
    entitlementField: everywhere(5),
    echoesRequestedUsage: true,
    echoesRequestedValues: false,
  },
  GetEnumEntitlement: { expectedType: 'enum', entitlementField: everywhere(5), echoesRequestedUsage: false, echoesRequestedValues: true },
  GetEntitlement: {
    expectedType: undefined,
    entitlementField: { boolean: 4, numeric: 5, metered: 6, enum: 7 },
    echoesRequestedUsage: false,
    echoesRequestedValues: false,
  },
} as const satisfies Record<string, CheckKind>

/** A check with what was asked, ready to be answered. */
export interface Check {
  kind: CheckKind
  request: CheckRequest
  requestedUsage: decimal.Decimal
}

/** Of an enum feature; they are repeated in the answer. */
const maxRequestedValues = 1_000

/** Reads a request. Fails with INVALID_ARGUMENT on a requested usage that is no amount and on a list that is too long, whether or not the customer is known. */
export function toCheck(kind: CheckKind, request: CheckRequest): Check {
  const values = request.options?.requested_values
  if (values && values.length > maxRequestedValues)
    throw invalidInput(`requested_values has more than ${maxRequestedValues} items`, { path: 'options.requested_values' })
  return { kind, request, requestedUsage: checkRequestedUsage(request.options?.requested_usage) }
}

/**
 * The answer from what the customer holds. Null: the feature is of another type, so a fallback has to answer.
 * Fails with INVALID_ARGUMENT when the feature identifier is none.
 */
export function answerFromEntry({ kind, request, requestedUsage }: Check, { state }: CacheEntry, now: EpochMs): Buffer | null {
  const held = heldEntitlement(state, request.feature_id)
  if (held === undefined) {
    checkRefId(request.feature_id, 'feature_id')
    return encode(kind, request, {
      hasAccess: false,
      reason: state.deniedReason ?? 'NoFeatureEntitlementInSubscription',
      entitlement: null,
    })
  }
  const decision = decide(held, {
    requestedUsage,
    requestedValues: request.options?.requested_values,
    expectedType: kind.expectedType,
    now,
  })
  if (!decision.granted && decision.reason === 'FeatureTypeMismatch') return null
  return encode(kind, request, {
    hasAccess: decision.granted,
    reason: decision.granted ? null : decision.reason,
    entitlement: { field: kind.entitlementField[entitlementTypeOf(held.feature)], bytes: encodeHeld(decision.entitlement ?? held) },
  })
}

/** Why a fallback answers: the question could not be answered at all, or it did not fit the feature. */
type FallbackReason = 'Unknown' | 'FeatureTypeMismatch'

/** The answer of the request's fallback, else of the global one, else a denial. */
export function answerFromFallback({ kind, request }: Check, fallbacks: GlobalFallbacks, why: FallbackReason): Buffer {
  const ofRequest = request.options?.fallback
  const fallback = chooseFallback(ofRequest ? fromFallback(ofRequest) : null, fallbacks, request.feature_id)
  const hasAccess = fallback?.hasAccess ?? false
  // What type of feature a fallback of GetEntitlement stands for is not known, so it has no entitlement to show.
  const type = kind.expectedType
  return encode(kind, request, {
    hasAccess,
    isFallback: true,
    reason: hasAccess && why === 'Unknown' ? null : why,
    entitlement: fallback && type ? { field: kind.entitlementField[type], bytes: encodeFallback(type, fallback) } : null,
  })
}

interface Answer {
  hasAccess: boolean
  isFallback?: boolean
  reason: DenialReason | null
  entitlement: EncodedField | null
}

function encode(kind: CheckKind, { options }: CheckRequest, { hasAccess, isFallback = false, reason, entitlement }: Answer): Buffer {
  const answer = encodeCheckAnswer({
    hasAccess,
    isFallback,
    reason: reason === null ? 0 : reasonNumber[reason],
    requestedUsage: kind.echoesRequestedUsage ? (options?.requested_usage ?? 0) : 0,
    entitlement,
  })
  if (!kind.echoesRequestedValues || !options?.requested_values?.length) return answer
  return Buffer.concat([answer, encodeFields(options.requested_values.map((value) => ({ field: 4, bytes: Buffer.from(value) })))])
}

/** Field numbers of the Entitlement message's types. */
const listedField: Readonly<Record<EntitlementType, number>> = { boolean: 1, numeric: 2, metered: 3, enum: 4 }

/** GetEntitlementsResponse: the entitlements that give access, or why there are none. */
export function answerAll({ state }: CacheEntry, now: EpochMs): Buffer {
  if (state.deniedReason !== null) return Buffer.from([(2 << 3) | 0, reasonNumber[state.deniedReason]])
  const fields: EncodedField[] = []
  for (const position of state.rights.list.keys()) {
    const held = heldAt(state, position)
    // Revoked and used-up ones would look like access: the list has no room for a reason.
    if (held.deniedReason === null) fields.push({ field: 1, bytes: encodeFields([listedEntitlement(held, now)]) })
  }
  return encodeFields(fields)
}

function listedEntitlement(held: HeldEntitlement, now: EpochMs): EncodedField {
  return { field: listedField[entitlementTypeOf(held.feature)], bytes: encodeHeld(decide(held, { now }).entitlement ?? held) }
}

function heldEntitlement(state: CachedState, featureId: string): HeldEntitlement | undefined {
  if (state.deniedReason !== null) return undefined
  const position = state.rights.positions.get(featureId)
  return position === undefined ? undefined : heldAt(state, position)
}
