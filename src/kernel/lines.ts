import { Problem } from './problem.js'

interface Line {
  last: Promise<unknown>
  /** Who waits, or is served. */
  count: number
}

/** Work of one owner is done one after the other, and that of others beside it. */
export class Lines {
  readonly #lines = new Map<string, Line>()
  readonly #most: number
  readonly #full: () => Problem

  /** `full`: what is answered when `most` of an owner wait. */
  constructor(most: number, full: () => Problem) {
    this.#most = most
    this.#full = full
  }

  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(owner) ?? { last: Promise.resolve(), count: 0 }
    if (line.count >= this.#most) throw this.#full()
    this.#lines.set(owner, line)
    line.count++
    const done = line.last.then(work)
    line.last = done.catch(() => undefined)
    return done.finally(() => {
      if (--line.count === 0) this.#lines.delete(owner)
    })
  }
}
