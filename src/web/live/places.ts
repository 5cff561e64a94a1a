/** Places that are taken and given back, by name: at most so many of one name. */
export class Places {
  readonly #taken = new Map<string, number>()

  /** What gives it back, once; null: there is none left. */
  take(name: string, most: number): (() => void) | null {
    const taken = this.#taken.get(name) ?? 0
    if (taken >= most) return null
    this.#taken.set(name, taken + 1)
    return () => {
      const left = this.#taken.get(name)! - 1
      if (left > 0) this.#taken.set(name, left)
      else this.#taken.delete(name)
    }
  }
}
