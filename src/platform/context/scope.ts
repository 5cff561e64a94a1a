import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * A value that holds for some work and for all that it awaits. While any such storage is in use, Node 20 follows every promise of the process, which
 * is a tenth of what a busy one does: so it is used only as long as work runs in it.
 */
export class Scope<T> {
  readonly #storage = new AsyncLocalStorage<T>()
  #running = 0

  /** Undefined: nothing runs in the scope, or what asks is outside of it. */
  get value(): T | undefined {
    return this.#storage.getStore()
  }

  run<R>(value: T, work: () => R): R {
    this.#running += 1
    let result: R
    try {
      result = this.#storage.run(value, work)
    } catch (error) {
      this.#leave()
      throw error
    }
    if (result instanceof Promise) result.then(this.#leave, this.#leave)
    else this.#leave()
    return result
  }

  /** Runs `work` as if it were outside. */
  exit<R>(work: () => R): R {
    return this.#storage.exit(work)
  }

  readonly #leave = (): void => {
    this.#running -= 1
    if (this.#running === 0) this.#storage.disable()
  }
}
