import { newId } from '../../../kernel/id.js'

/** An operation on its way, as logs, metrics and whoever waits for it know it. What most operations never need is made when it is asked for. */
export class Operation {
  readonly startedAt = performance.now()
  environmentId: string | undefined
  /** The first root field. Of the schema, so the values are few. */
  field: string | undefined
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

  /** Null: somebody waits for the answer. */
  get givenUp(): { readonly reason: unknown } | null {
    return this.#givenUp ?? null
  }

  giveUp(reason: unknown): void {
    this.#givenUp ??= { reason }
    this.#stop?.abort(reason)
  }
}
