/** Has no values of its own; ends when the client completes it, or with the error of what it stands for. */
export class SilentStream implements AsyncIterableIterator<never> {
  readonly ended: Promise<void>
  #end!: () => void
  fail!: (error: Error) => void

  constructor() {
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve
      this.fail = reject
    })
  }

  async next(): Promise<IteratorResult<never>> {
    await this.ended
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<never>> {
    this.#end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
