import { Worker } from 'node:worker_threads'
import { invalidInput, Problem } from '../kernel/problem.js'
import { type ParsedCatalog, type ParseOptions, parseCatalog, type ReadCatalog, readCatalogText } from './document/parse.js'
import { textFault } from './document/text-limits.js'

/** What a thread is asked. */
export type Reading = { text: string } | { input: unknown; options: ParseOptions }

/** Longer ones take more than some milliseconds: YAML some microseconds for each character, what is wrong in JSON not much less. */
const longTextLength = 2_000
const longInputLength = 4_000

const maxWaiting = 20
/** Ten times what a document of the largest size takes that people write. */
const maxReadMs = 20_000
const maxHeapMb = 384
/** Its heap is that of the largest document. */
const maxIdleMs = 2_000

/** Reads the documents of catalogs; long ones on threads of their own, so that nobody else waits for them. */
export class CatalogReading {
  // What is parsed is parsed in a transaction, which should not wait for somebody's text.
  readonly #texts = new Lane()
  readonly #documents = new Lane()

  async readText(text: string): Promise<ReadCatalog> {
    const isShort = text.length <= longTextLength || textFault(text) !== null
    return isShort ? readCatalogText(text) : this.#texts.read<ReadCatalog>({ text })
  }

  async parse(input: unknown, options: ParseOptions): Promise<ParsedCatalog> {
    const length = JSON.stringify(input ?? null).length
    return length <= longInputLength ? parseCatalog(input, options) : this.#documents.read<ParsedCatalog>({ input, options })
  }
}

/** A thread, asked one thing at a time. It is kept for a while, as it takes longer to start than most documents to read. */
class Lane {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #thread: Worker | null = null
  #idle: NodeJS.Timeout | undefined

  async read<Read>(reading: Reading): Promise<Read> {
    if (this.#waiting >= maxWaiting)
      throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Many catalogs are being read at the moment: try again.', {
        details: { retryAfterMs: 1_000 },
      })
    this.#waiting++
    const read = this.#last.then(() => this.#ask<Read>(reading))
    this.#last = read.catch(() => undefined)
    return read.finally(() => this.#waiting--)
  }

  async #ask<Read>(reading: Reading): Promise<Read> {
    clearTimeout(this.#idle)
    const thread = this.#thread ?? startThread()
    this.#thread = thread
    thread.ref()
    try {
      const read = await answerOf<Read>(thread, reading)
      // It keeps no process from ending.
      thread.unref()
      this.#idle = setTimeout(() => this.#end(), maxIdleMs).unref()
      return read
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #end(): void {
    void this.#thread?.terminate()
    this.#thread = null
  }
}

const startThread = () =>
  new Worker(new URL('./reading-thread.js', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: maxHeapMb }, execArgv: [] })

function answerOf<Read>(thread: Worker, reading: Reading): Promise<Read> {
  return new Promise((resolve, reject) => {
    thread.postMessage(reading)
    const timer = setTimeout(() => reject(invalidInput('The catalog takes too long to be read: apply it in parts.')), maxReadMs)
    const settled =
      <T>(settle: (value: T) => void) =>
      (value: T) => {
        clearTimeout(timer)
        thread.off('message', answered).off('error', failed)
        settle(value)
      }
    const answered = settled(resolve)
    const failed = settled((error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? invalidInput('The catalog takes too much memory to be read: apply it in parts.')
          : error,
      ),
    )
    thread.on('message', answered).on('error', failed)
  })
}
