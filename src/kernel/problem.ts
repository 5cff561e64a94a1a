/**
 * The one error type. A denial is not a problem: a problem means that the question could not be answered or the change not made.
 * `reason` is stable and is what programs read (the GraphQL code is derived from it); `message` is public and says what to do;
 * `cause` is private and is only logged.
 */
import { isTransient, storeErrorOf } from './store-errors.js'

/** The closed set of codes, as in gRPC. */
export type ProblemCode =
  | 'INVALID_ARGUMENT'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'FAILED_PRECONDITION'
  | 'RESOURCE_EXHAUSTED'
  | 'ABORTED'
  | 'CANCELLED'
  | 'DEADLINE_EXCEEDED'
  | 'UNAVAILABLE'
  | 'UNIMPLEMENTED'
  | 'UNKNOWN'
  | 'INTERNAL'

export interface ProblemOptions {
  /** Public facts for programs: identifiers, limits, item indexes. Never secrets. */
  details?: Record<string, unknown>
  cause?: unknown
}

export class Problem extends Error {
  override readonly name = 'Problem'
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    readonly code: ProblemCode,
    /** Upper snake case, for example `CUSTOMER_NOT_FOUND`. */
    readonly reason: string,
    message: string,
    options: ProblemOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.details = options.details ?? {}
  }

  /** Whether the same call may succeed later without being changed. */
  get isRetryable(): boolean {
    return retryable.has(this.code)
  }

  /** Anything thrown as a Problem; a store that is away, or cannot do it now, becomes UNAVAILABLE, all else INTERNAL, and the text stays private. */
  static from(thrown: unknown): Problem {
    if (thrown instanceof Problem) return thrown
    if (storeErrorOf(thrown) === 'away')
      return unavailable('The platform cannot reach its database or Redis at the moment. Try again.', thrown)
    if (isTransient(thrown)) return unavailable('The database or Redis cannot do this at the moment. Try again.', thrown)
    return new Problem(
      'INTERNAL',
      'INTERNAL',
      'Something went wrong on our side. Try again, and name the trace id when you ask for help.',
      { cause: thrown },
    )
  }
}

const retryable: ReadonlySet<ProblemCode> = new Set(['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'ABORTED', 'UNKNOWN'])

/** Input that can be refused by reading it. `path` names the place, as in `usageEvents[3].timestamp`. */
export function invalidInput(message: string, details: Record<string, unknown> = {}): Problem {
  return new Problem('INVALID_ARGUMENT', 'BAD_USER_INPUT', message, { details })
}

export function unavailable(message: string, cause?: unknown): Problem {
  return new Problem('UNAVAILABLE', 'UNAVAILABLE', message, { cause })
}

export function timedOut(message: string, cause?: unknown): Problem {
  return new Problem('DEADLINE_EXCEEDED', 'TIMEOUT', message, { cause })
}
