import { Problem } from '../kernel/problem.js'
import type { ReportedOutcome } from './types.js'

/** A call that could not be answered. */
export class TollgateError extends Error {
  override readonly name = 'TollgateError'

  constructor(
    /** As in gRPC: UNAVAILABLE and DEADLINE_EXCEEDED may go well when they are tried again. */
    readonly code: string,
    /** What programs tell errors apart by, such as `CUSTOMER_NOT_FOUND`. */
    readonly reason: string,
    message: string,
    /** Facts for programs; `items` names what was refused of several. */
    readonly details: Readonly<Record<string, unknown>>,
    cause?: unknown,
    /** Of usage that was reported; null: the call reports none. */
    readonly usage: ReportedOutcome | null = null,
  ) {
    super(message, cause === undefined ? undefined : { cause })
  }
}

export function toTollgateError(error: unknown, usage: ReportedOutcome | null = null): TollgateError {
  const { code, reason, message, details, cause } = Problem.from(error)
  return new TollgateError(code, reason, message, details, cause, usage)
}
