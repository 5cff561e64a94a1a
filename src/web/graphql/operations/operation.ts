import type { Patience } from '../../../metering/intake/patience.js'
import { newTraceId } from '../../../platform/context/tracing.js'
import { turns } from '../../access/fair-turns.js'
import { AnswerRoom, answerTooLarge } from './answer-text.js'

/** An operation on its way, as logs, metrics and whoever waits for it know it. What most operations never need is made when it is asked for. */
export class Operation implements Patience {
  readonly startedAt = performance.now()
  environmentId: string | undefined
  /** The first root field. Of the schema, so the values are few. */
  field: string | undefined
  /** It may have changed something, so its answer is given. */
  isChange = false
  /** It was to have a long answer, and was refused it as others are not read. */
  isUnread = false
  /** To be called when its answer is written: what it has is counted until then. Undefined: it is short. */
  release: (() => void) | undefined
  /** Of the first error. */
  code: string | undefined
  /** For its answer, and those to the other operations of the request. */
  readonly room: AnswerRoom
  #traceId: string | undefined
  #stop: AbortController | undefined
  #givenUp: { reason: unknown } | undefined
  #whenOver: Set<() => void> | undefined

  constructor(room = new AnswerRoom()) {
    this.room = room
  }

  /** Joins an answer with its log line, and with its trace when there are traces. */
  get traceId(): string {
    this.#traceId ??= newTraceId()
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

  get patience(): Patience {
    return this
  }

  get isOver(): boolean {
    return this.#givenUp !== undefined
  }

  /** What a signal does, at a fraction of its price: every report listens. */
  whenOver(listener: () => void): () => void {
    this.#whenOver ??= new Set()
    const listeners = this.#whenOver.add(listener)
    return () => listeners.delete(listener)
  }

  /** Counts a value of any size that is to be part of the answer, in turns when that takes long. When there is no room for it, the rest is not worth making. */
  weigh(value: unknown): Promise<void> | undefined {
    const refuse = (refusal: unknown): never => {
      this.giveUp(answerTooLarge())
      throw refusal
    }
    try {
      return this.room.takeValue(value, () => turns.take(this.environmentId ?? ''))?.catch(refuse)
    } catch (error) {
      return refuse(error)
    }
  }

  giveUp(reason: unknown): void {
    const isFirst = this.#givenUp === undefined
    this.#givenUp ??= { reason }
    this.#stop?.abort(reason)
    if (isFirst && this.#whenOver) for (const listener of this.#whenOver) listener()
  }
}
