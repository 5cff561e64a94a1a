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

/** What became of usage that was not acknowledged. */
export interface ReportedOutcome {
  /** unknown: it may have been counted, and sending it again under the same keys counts it once. */
  outcome: 'notCounted' | 'unknown'
  /** Of the reports or events of the call, in their order. */
  idempotencyKeys: readonly string[]
}
