import type { EpochMs } from '../../kernel/clock.js'
import { didYouMean } from '../../kernel/nearest.js'
import { Problem, type ProblemCode, timedOut } from '../../kernel/problem.js'

/** Usage is answered as a double and limits reach this far: beyond it whole units would be lost on the wire. */
export const maxUsage = 2 ** 53 - 1

/** `nearest` is the one that was probably meant; null: none is close. */
export function featureNotFound(featureId: string, nearest: string | null): Problem {
  const advice = didYouMean(nearest, 'check the catalog.')
  return new Problem('NOT_FOUND', 'FEATURE_NOT_FOUND', `Feature "${featureId}" was not found in this environment: ${advice}`, {
    details: { featureId },
  })
}

export function featureIsMeteredByEvents(featureId: string): Problem {
  return refused(
    'CANNOT_REPORT_USAGE_FOR_ENTITLEMENT_WITH_METER',
    `Feature "${featureId}" is metered from raw events: report events instead of usage.`,
    featureId,
  )
}

export function featureIsNotMetered(featureId: string): Problem {
  return refused('METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE', `Feature "${featureId}" has no usage: it has no meter.`, featureId)
}

export function negativeDelta(featureId: string): Problem {
  return refused(
    'USAGE_MEASUREMENT_DIFF_OUT_OF_RANGE',
    `The usage of feature "${featureId}" only grows: a DELTA must not be negative.`,
    featureId,
  )
}

export function usageOutOfRange(featureId: string): Problem {
  return refused('ENTITLEMENT_USAGE_OUT_OF_RANGE', `The usage of feature "${featureId}" would leave the range that can be kept.`, featureId)
}

function refused(reason: string, message: string, featureId: string): Problem {
  return new Problem('FAILED_PRECONDITION', reason, message, { details: { featureId } })
}

export function idempotencyKeyTaken(idempotencyKey: string): Problem {
  return new Problem(
    'ALREADY_EXISTS',
    'DUPLICATED_ENTITY_NOT_ALLOWED',
    `Another report was already sent with the idempotency key "${idempotencyKey}".`,
    {
      details: { idempotencyKey },
    },
  )
}

export function usageEventNotFound(idempotencyKey: string): Problem {
  const message =
    'There is no such event. Name it as it was reported: customer, resource, name, idempotency key and, if one was sent, its timestamp.'
  return new Problem('NOT_FOUND', 'USAGE_EVENT_NOT_FOUND', message, { details: { idempotencyKey } })
}

export function measurementNotFound(): Problem {
  return new Problem('NOT_FOUND', 'USAGE_MEASUREMENT_NOT_FOUND', 'There is no such measurement in this environment.')
}

export function recomputationNotFound(id: string): Problem {
  return new Problem('NOT_FOUND', 'USAGE_RECOMPUTATION_NOT_FOUND', 'There is no such recomputation in this environment.', {
    details: { id },
  })
}

export function tooManyRecomputations(most: number): Problem {
  const message = `An environment has ${most} unfinished recomputations at most: try again when some are finished.`
  return new Problem('RESOURCE_EXHAUSTED', 'TOO_MANY_RECOMPUTATIONS', message)
}

export function eventsDropped(keptSince: EpochMs): Problem {
  const startDate = new Date(keptSince).toISOString()
  const message = `Raw events before ${startDate} have been dropped, so usage of that time stays as it was counted: ask for a range from then on.`
  return new Problem('FAILED_PRECONDITION', 'RAW_EVENTS_DROPPED', message, { details: { startDate } })
}

export function stillBeingCounted(): Problem {
  return new Problem(
    'ABORTED',
    'STILL_BEING_COUNTED',
    'The usage is being counted at this moment. Nothing was changed: try again in a moment.',
  )
}

/**
 * What became of usage that was not acknowledged, as `outcome` in the details of the problem. A problem that refuses it (unknown customer, bad number) needs
 * none: it was not counted. What is stored is answered as a repeat, unless the door refuses it by its date.
 *
 * notCounted  it was not counted and will not be: who says so has seen to it
 * unknown     it may have been, or may still be; to send it again under the same key is safe
 */
export type UsageOutcome = 'notCounted' | 'unknown'

export const outcomeUnknownReason = 'USAGE_OUTCOME_UNKNOWN'

/** Only for who has seen to it: whoever decides by a clock alone does not know what is under way. */
export function notCountedInTime(): Problem {
  return notCounted(timedOut('The usage was not counted in time, and it will not be: it is safe to send it again.'))
}

export function tooMuchWaiting(): Problem {
  return notCounted(
    new Problem(
      'RESOURCE_EXHAUSTED',
      'RATE_LIMIT_EXCEEDED',
      'Too much usage is waiting to be counted. Nothing was counted: send it again in a moment.',
    ),
  )
}

/** Of what was thrown before any usage was handed over. */
export function beforeCounting(thrown: unknown): Problem {
  const problem = Problem.from(thrown)
  return mayBeCounted(problem) ? notCounted(problem) : problem
}

/** The same problem, of usage of which it is certain. */
export const notCounted = (problem: Problem): Problem => withOutcome(problem, { outcome: 'notCounted' })

/**
 * `keys`: those that the items of the call can be sent again under, in their order. `refusal`: what a later attempt was refused with, while one before it
 * may be counted.
 */
export function outcomeUnknown(
  keys: readonly string[],
  code: 'DEADLINE_EXCEEDED' | 'UNKNOWN' = 'DEADLINE_EXCEEDED',
  refusal: Problem | null = null,
): Problem {
  const advice = 'It is not known whether the usage was counted. Send it again with the same idempotency key: that counts it once.'
  const message = refusal ? `${advice} The last attempt was refused: ${refusal.message}` : advice
  const named = keys.length === 1 ? { idempotencyKey: keys[0] } : keys.length > 1 ? { idempotencyKeys: keys } : {}
  return withOutcome(new Problem(code, outcomeUnknownReason, message, { cause: refusal ?? undefined }), { outcome: 'unknown', ...named })
}

function withOutcome(
  problem: Problem,
  outcome: { outcome: UsageOutcome; idempotencyKey?: string; idempotencyKeys?: readonly string[] },
): Problem {
  const { code, reason, message, details, cause } = problem
  return new Problem(code, reason, message, { details: { ...details, ...outcome }, cause })
}

/**
 * Whether it is about what was sent, which was not stored when whoever answers so looked. An attempt before, of which nobody knows what became, may still wait
 * in a queue, and be counted when what this one was refused for has passed.
 */
export const isRefusal = ({ code }: Pick<Problem, 'code'>): boolean => refusals.has(code)

const refusals: ReadonlySet<ProblemCode> = new Set(['ALREADY_EXISTS', 'FAILED_PRECONDITION', 'INVALID_ARGUMENT', 'NOT_FOUND'])

/** Codes that say nothing of what became of it. */
const undecided: ReadonlySet<ProblemCode> = new Set(['ABORTED', 'DEADLINE_EXCEEDED', 'INTERNAL', 'UNAVAILABLE', 'UNKNOWN'])

/** Whether usage that was answered with this may have been counted all the same. */
export function mayBeCounted({ code, details }: Pick<Problem, 'code' | 'details'>): boolean {
  return details.outcome === undefined ? undecided.has(code) : details.outcome === ('unknown' satisfies UsageOutcome)
}

/** A problem as it travels in a reply from the worker to the door. The cause stays where it is: it is logged there. */
export interface PlainProblem {
  code: ProblemCode
  reason: string
  message: string
  details: Readonly<Record<string, unknown>>
}

export const toPlainProblem = ({ code, reason, message, details }: Problem): PlainProblem => ({ code, reason, message, details })

export const fromPlainProblem = ({ code, reason, message, details }: PlainProblem): Problem =>
  new Problem(code, reason, message, { details })

/** One refused item of a call: its position in the call, a stable code and what to do. */
export interface RefusedItem {
  index: number
  /** As `reason` of a Problem. */
  code: string
  message: string
}

/** The problem of a call of which some items are bad, all of them named in `details.items`. */
export function withItems(first: Problem, items: RefusedItem[]): Problem {
  return new Problem(first.code, first.reason, first.message, { details: { ...first.details, items } })
}

export const refusedItem = (index: number, { reason, message }: Problem): RefusedItem => ({ index, code: reason, message })
