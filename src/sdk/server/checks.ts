import type { EntitlementType } from '../../entitlement/rules/evaluate.js'
import type { Clock, EpochMs } from '../../kernel/clock.js'
import { checkRefId } from '../../kernel/id.js'
import { Problem } from '../../kernel/problem.js'
import { offlineReason } from '../../reader/source/offline.js'
import type { EntitlementSource } from '../../reader/source/source.js'
import { isWhole } from '../../reader/states/cached-state.js'
import type { CacheEntry } from '../../reader/states/entry.js'
import { chooseFallback, type Fallback, type GlobalFallbacks } from '../../reader/states/fallback.js'
import type { FallbackCause } from '../../reader/states/figures.js'
import { toTollgateError } from '../error.js'
import { checkFreshness } from '../freshness.js'
import type * as sdk from '../types.js'
import { answerHeld, entitlementOfFallback, HeldMeter, heldType, listHeld, type Question, toReason } from './answers.js'
import { type ClientMetrics, tell } from './figures.js'
import type { Hooks } from './options.js'
import type { PendingUsage } from './pending-usage.js'

interface Parts {
  source: EntitlementSource
  fallbacks: GlobalFallbacks
  clock: Clock
  metrics: ClientMetrics
  timeoutMs: number
  pending: PendingUsage
  hooks: Hooks
}

/** A question about an entitlement of a type that the caller expects, or of any. */
type AnyQuestion = sdk.CheckQuestion & Question

/** Answers checks. One that the cache answers makes no promise but the one that is returned. */
export class Checks {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  ask(type: EntitlementType | undefined, question: AnyQuestion): Promise<sdk.Check<object>> {
    try {
      const { source, clock } = this.#parts
      checkFreshness(question)
      const now = clock.now()
      const entry =
        question.consistency === 'strong'
          ? undefined
          : source.peek(question.customerId, question.resourceId ?? null, now, question.maxStalenessMs)
      if (entry === undefined || isUnknown(entry, question.featureId)) return this.#askLater(type, question)
      return Promise.resolve(this.#answer(type, question, entry, now))
    } catch (error) {
      return Promise.reject(toTollgateError(error))
    }
  }

  async list({ timeoutMs = this.#parts.timeoutMs, maxStalenessMs, consistency, ...asked }: sdk.Owner & sdk.CallOptions & sdk.Freshness) {
    const { source, pending, clock } = this.#parts
    try {
      checkFreshness({ maxStalenessMs, consistency })
      const owner = toOwner(asked)
      const entry =
        consistency === 'strong'
          ? await source.reload(owner, timeoutMs, true)
          : (source.peek(owner.customerId, owner.resourceId, clock.now(), maxStalenessMs) ??
            (await source.resolve(owner, timeoutMs, maxStalenessMs)))
      if (entry === null) return { entitlements: [], accessDeniedReason: null }
      const { state } = entry
      const entitlements = listHeld(state, (featureId) => pending.of(asked, featureId), clock.now())
      return { entitlements, accessDeniedReason: state.deniedReason === null ? null : toReason(state.deniedReason) }
    } catch (error) {
      if (isOffline(error)) return { entitlements: [], accessDeniedReason: null }
      throw toTollgateError(error)
    }
  }

  async #askLater(type: EntitlementType | undefined, question: AnyQuestion): Promise<sdk.Check<object>> {
    const { source, timeoutMs, clock } = this.#parts
    const waitMs = question.timeoutMs ?? timeoutMs
    try {
      const owner = toOwner(question)
      checkRefId(question.featureId, 'featureId')
      let entry: CacheEntry | null
      try {
        entry = await (question.consistency === 'strong'
          ? source.reload(owner, waitMs, true)
          : source.resolve(owner, waitMs, question.maxStalenessMs, question.featureId))
      } catch (error) {
        return this.#fallBack(type, question, causeOf(error))
      }
      if (entry === null) return this.#fallBack(type, question, 'offline')
      if (isUnknown(entry, question.featureId)) return this.#fallBack(type, question, 'unavailable')
      return this.#answer(type, question, entry, clock.now())
    } catch (error) {
      throw toTollgateError(error)
    }
  }

  #answer(expected: EntitlementType | undefined, question: AnyQuestion, { state }: CacheEntry, now: EpochMs): sdk.Check<object> {
    const { pending } = this.#parts
    const pendingUsage = pending.isEmpty ? 0 : pending.of(question, question.featureId)
    const type = expected ?? heldType(state, question.featureId) ?? 'boolean'
    const answer = answerHeld(type, question, state, pendingUsage, now)
    if (answer === null) return this.#fallBack(expected, question, 'type_mismatch')
    const { entitlement } = answer
    if (expected !== undefined || entitlement === null) return answer
    return { ...answer, entitlement: { type, ...(entitlement instanceof HeldMeter ? entitlement.toJSON() : entitlement) } }
  }

  #fallBack(type: EntitlementType | undefined, question: AnyQuestion, cause: FallbackCause): sdk.Check<object> {
    const { metrics, fallbacks, hooks } = this.#parts
    metrics.fallbacks[cause]++
    const { customerId, featureId } = question
    if (hooks.fallback) tell(() => hooks.fallback?.({ customerId, featureId, cause }))
    const fallback = chooseFallback(question.fallback ? toFallback(question.fallback) : null, fallbacks, featureId)
    const hasAccess = fallback?.hasAccess ?? false
    const reason = cause === 'type_mismatch' ? 'FEATURE_TYPE_MISMATCH' : hasAccess ? null : 'UNKNOWN'
    // What type of feature a fallback of getEntitlement stands for is not known, so it has no entitlement to show.
    const entitlement = fallback && type ? entitlementOfFallback(type, fallback) : null
    return { hasAccess, isFallback: true, accessDeniedReason: reason, entitlement }
  }
}

export const toFallback = ({ hasAccess, usageLimit, isUnlimited = false, enumValues = [] }: sdk.Fallback): Fallback => ({
  hasAccess,
  usageLimit: usageLimit ?? null,
  isUnlimited,
  enumValues,
})

/**
 * `path`: what the names of the fields go on from, as in `events[3].`.
 * @throws INVALID_ARGUMENT when an identifier is none
 */
export const toOwner = ({ customerId, resourceId }: sdk.Owner, path = '') => ({
  customerId: checkRefId(customerId, `${path}customerId`),
  resourceId: resourceId === undefined ? null : checkRefId(resourceId, `${path}resourceId`),
})

/** Whether the feature is held with a usage that is not known here. */
const isUnknown = (entry: CacheEntry, featureId: string): boolean => !isWhole(entry) && entry.state.unknownFeatureIds!.has(featureId)

const isOffline = (error: unknown) => error instanceof Problem && error.reason === offlineReason

function causeOf(error: unknown): FallbackCause {
  if (isOffline(error)) return 'offline'
  const { code } = Problem.from(error)
  if (code === 'UNAVAILABLE') return 'unavailable'
  return code === 'DEADLINE_EXCEEDED' ? 'timeout' : 'error'
}
