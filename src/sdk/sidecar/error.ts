import type { ReportedOutcome } from '../types.js'

/** A call that could not be answered. */
export class SidecarError extends Error {
  override readonly name = 'SidecarError'

  constructor(
    /** The gRPC status by name: UNAVAILABLE and DEADLINE_EXCEEDED may go well when they are tried again. */
    readonly code: string,
    message: string,
    cause?: unknown,
    /** Of usage that was reported; null: the call reports none. */
    readonly usage: ReportedOutcome | null = null,
  ) {
    super(message, cause === undefined ? undefined : { cause })
  }
}
