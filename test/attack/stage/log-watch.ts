/** Looks at what processes log. */
export class LogWatch {
  #errors = 0
  #withKeys = 0
  #firstError: string | null = null

  constructor(private readonly secrets: readonly string[]) {}

  take(line: string): void {
    if (/"level":"(error|fatal)"/.test(line)) {
      this.#errors += 1
      this.#firstError ??= line
    }
    if (this.secrets.some((secret) => line.includes(secret))) this.#withKeys += 1
  }

  /** Since the lap before. */
  lap(): { errorLines: number; linesWithKeys: number; firstError: string | null } {
    const seen = { errorLines: this.#errors, linesWithKeys: this.#withKeys, firstError: this.#firstError }
    this.#errors = 0
    this.#withKeys = 0
    this.#firstError = null
    return seen
  }
}
