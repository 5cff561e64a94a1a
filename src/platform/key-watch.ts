import { Problem } from '../kernel/problem.js'
import type { Secret } from '../kernel/secret.js'
import { Gauge } from './metrics.js'
import type { Life } from './process.js'

/** Asked anew while nobody has answered, so that the first answer is soon known; and while the key is refused: it may be put right on the other side. */
const retryMs = 5_000
/** A key that is taken is asked about so often, for processes that have nothing else to ask. */
const recheckMs = 60_000
/** An API that does not answer in this time is one that cannot be reached. */
const patienceMs = 2_000
/** Between two questions that calls have given cause for. */
const pauseMs = 1_000

export interface KeyWatchTiming {
  retryMs: number
  recheckMs: number
  patienceMs: number
  pauseMs: number
}

/**
 * Whether the API takes the key of this process. Not ready until the first question is answered, or nobody answers it; nor while the key is refused and
 * was never taken. A key that was good once and is refused later is told by log and metric alone: what is cached goes on being answered. An API that cannot
 * be reached says nothing about the key.
 */
export class KeyWatch {
  readonly #ask: (signal: AbortSignal) => Promise<unknown>
  readonly #life: Life
  readonly #key: Secret
  readonly #timing: KeyWatchTiming
  readonly #listeners: (() => void)[] = []
  readonly #first: Promise<void>
  /** Null: nobody has answered yet. */
  #isTaken: boolean | null = null
  #wasTaken = false
  #isAsked = false
  #askedAt = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  /** `ask` fails with UNAUTHENTICATED or PERMISSION_DENIED when the key is refused, and with anything else when it is not known. */
  constructor(
    life: Life,
    { key, ask, timing }: { key: Secret; ask: (signal: AbortSignal) => Promise<unknown>; timing?: Partial<KeyWatchTiming> },
  ) {
    this.#life = life
    this.#key = key
    this.#ask = ask
    this.#timing = { retryMs, recheckMs, patienceMs, pauseMs, ...timing }
    const isRefused = () => (this.#isTaken === false ? 1 : 0)
    new Gauge({
      name: 'tollgate_api_key_refused',
      help: '1 while the API refuses the key of this process',
      registers: [life.metrics],
      collect() {
        this.set(isRefused())
      },
    })
    this.#first = this.#check()
    life.readyWhen(async () => {
      await this.#first
      return { status: this.isReady ? 'UP' : 'DOWN' }
    })
    life.open('key watch', this, (watch) => watch.#stop())
  }

  get isReady(): boolean {
    return this.#isAsked && (this.#wasTaken || this.#isTaken !== false)
  }

  /** Called when `isReady` may have become another one. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** What another call has told of the key: when that is news, the API is asked. */
  hear(isTaken: boolean): void {
    if (isTaken === this.#isTaken || this.#asking || this.#life.signal.aborted) return
    if (performance.now() - this.#askedAt >= this.#timing.pauseMs) void this.#check()
  }

  #check(): Promise<void> {
    this.#askedAt = performance.now()
    clearTimeout(this.#timer)
    this.#asking = this.#answer().then((isTaken) => {
      this.#asking = undefined
      this.#isAsked = true
      if (this.#life.signal.aborted) return
      this.#timer = setTimeout(() => void this.#check(), isTaken ? this.#timing.recheckMs : this.#timing.retryMs)
      // A process that has nothing else to do may end.
      this.#timer.unref()
      for (const listener of this.#listeners) listener()
    })
    return this.#asking
  }

  /** Never fails; null: nobody has said anything about the key. */
  async #answer(): Promise<boolean | null> {
    try {
      await this.#ask(AbortSignal.any([this.#life.signal, AbortSignal.timeout(this.#timing.patienceMs)]))
      if (this.#isTaken === false) this.#life.log.info({ key: this.#key }, 'the API takes the key again')
      this.#wasTaken = true
      this.#isTaken = true
      return true
    } catch (error) {
      const { code, message } = Problem.from(error)
      if (code !== 'UNAUTHENTICATED' && code !== 'PERMISSION_DENIED') return null
      if (this.#isTaken !== false)
        this.#life.log.error(
          { key: this.#key, reason: message },
          this.#wasTaken
            ? 'the API refuses SERVER_API_KEY, which it took before: only what is cached is answered'
            : 'the API refuses SERVER_API_KEY: not ready until it is taken',
        )
      this.#isTaken = false
      return false
    }
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#asking
  }
}
