/** A value that must not appear in logs: prints and serialises as `****` and its last four characters. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return this.#value.length > 8 ? `****${this.#value.slice(-4)}` : '****'
  }
  toJSON(): string {
    return this.toString()
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
}
