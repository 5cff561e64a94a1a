import type { OperationDefinitionNode } from 'graphql'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import { newId } from '../../../kernel/id.js'

/** An operation on its way, and what is known of it. What most operations never need is made when it is asked for. */
export class Operation {
  readonly startedAt = performance.now()
  environmentId: string | undefined
  /** The first root field. Of the schema, so the values are few. */
  field: string | undefined
  kind: OperationDefinitionNode['operation'] | undefined
  /** The one state that the answer depends on, as it is held; null: it is not at hand, or there is more to the answer. */
  state: EntitlementState | null = null
  /** It may send statements, which are given up with it, and change what others must hear of before it is answered. */
  usesDatabase = true
  /** Nothing but reports: see `PreparedDocument`. */
  isReport = false
  /** Of the first error. */
  code: string | undefined
  #traceId: string | undefined
  #stop: AbortController | undefined
  #givenUp: { reason: unknown } | undefined

  /** Joins an answer with its log line. */
  get traceId(): string {
    this.#traceId ??= newId()
    return this.#traceId
  }

  get isTraced(): boolean {
    return this.#traceId !== undefined
  }

  /** Aborts when nobody waits for the answer any more. */
  get signal(): AbortSignal {
    if (!this.#stop) {
      this.#stop = new AbortController()
      if (this.#givenUp) this.#stop.abort(this.#givenUp.reason)
    }
    return this.#stop.signal
  }

  giveUp(reason: unknown): void {
    this.#givenUp ??= { reason }
    this.#stop?.abort(reason)
  }
}
