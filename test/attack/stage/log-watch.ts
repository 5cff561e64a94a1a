/** Looks at what processes log. */
export class LogWatch {
  #errors = 0
  #withKeys = 0
  #first: string[] = []

  constructor(private readonly secrets: readonly string[]) {}

  take(line: string): void {
    if (/"level":"(error|fatal)"/.test(line)) {
      this.#errors += 1
      if (this.#first.length < 3) this.#first.push(line)
    }
    if (this.secrets.some((secret) => line.includes(secret))) this.#withKeys += 1
  }

  /** Since the lap before. */
  lap(): { errorLines: number; linesWithKeys: number; firstErrors: string[] } {
    const seen = { errorLines: this.#errors, linesWithKeys: this.#withKeys, firstErrors: this.#first }
    this.#errors = 0
    this.#withKeys = 0
    this.#first = []
    return seen
  }
}
