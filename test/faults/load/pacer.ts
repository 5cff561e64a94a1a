/** Work that begins steadily, whether or not what was before has been done, as long as not too much of it is under way. */
export class Pacer {
  readonly #timers: NodeJS.Timeout[] = []
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(private readonly mostUnderWay: number) {}

  every(ms: number, work: () => Promise<unknown>): void {
    const timer = setInterval(() => {
      if (this.#underWay.size >= this.mostUnderWay) return
      const one = work().finally(() => this.#underWay.delete(one))
      this.#underWay.add(one)
    }, ms)
    this.#timers.push(timer)
  }

  /** Begins nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#underWay)
  }
}
