/** Of the sockets of one environment, and of all. Ten to thirty sockets may be as far behind as a socket may be. */
export const maxBytesOfEnvironment = 32 * 1024 * 1024
export const maxBytes = 128 * 1024 * 1024

/** What was written to sockets and not read by their peers: memory that grows with the number of those who do not read. */
export class UnreadBytes {
  /** By environment; those who have sent no key are one. */
  readonly #bytes = new Map<string, number>()
  /** By what is held: how many sockets hold it, and the environment that it is counted for. */
  readonly #holders = new Map<Buffer, { environmentId: string; count: number }>()
  #sum = 0

  /** Counts what is written to a socket, once when several hold the same. Answers what lets it go, once. */
  hold(environmentId: string, message: Buffer): () => void {
    let holders = this.#holders.get(message)
    if (!holders) {
      holders = { environmentId, count: 0 }
      this.#holders.set(message, holders)
      this.#add(environmentId, message.length)
    }
    holders.count += 1
    return () => {
      holders.count -= 1
      if (holders.count > 0) return
      this.#holders.delete(message)
      this.#add(holders.environmentId, -message.length)
    }
  }

  /** With this message too. Who is behind has to go. */
  isTooMuch(environmentId: string, message: Buffer): boolean {
    const more = this.#holders.has(message) ? 0 : message.length
    return this.#sum + more > maxBytes || (this.#bytes.get(environmentId) ?? 0) + more > maxBytesOfEnvironment
  }

  #add(environmentId: string, bytes: number): void {
    const now = (this.#bytes.get(environmentId) ?? 0) + bytes
    this.#sum += bytes
    if (now > 0) this.#bytes.set(environmentId, now)
    else this.#bytes.delete(environmentId)
  }
}
