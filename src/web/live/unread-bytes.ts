/** Of the sockets of one environment, and of all. Ten to thirty sockets may be as far behind as a socket may be. */
const maxBytesOfEnvironment = 32 * 1024 * 1024
const maxBytes = 128 * 1024 * 1024

/** What was written to sockets and not read by their peers: memory that grows with the number of those who do not read. */
export class UnreadBytes {
  /** By environment; those who have sent no key are one. */
  readonly #bytes = new Map<string, number>()
  #sum = 0

  add(environmentId: string, bytes: number): void {
    const now = (this.#bytes.get(environmentId) ?? 0) + bytes
    this.#sum += bytes
    if (now > 0) this.#bytes.set(environmentId, now)
    else this.#bytes.delete(environmentId)
  }

  /** Who is behind has to go. */
  isTooMuch(environmentId: string): boolean {
    return this.#sum > maxBytes || (this.#bytes.get(environmentId) ?? 0) > maxBytesOfEnvironment
  }
}
