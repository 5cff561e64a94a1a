import type { Clock } from '../../kernel/clock.js'

/** The `Date` of answers, by the clock that decides: sidecars set theirs by it. Made once in a second. */
export class ServerDate {
  readonly #clock: Clock
  #second = Number.NaN
  #text = ''

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get text(): string {
    const second = Math.floor(this.#clock.now() / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#text = new Date(second * 1_000).toUTCString()
    }
    return this.#text
  }
}
