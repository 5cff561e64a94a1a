import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { atOnceLength, jsonPieces } from '../kernel/json-pieces.js'
import { invalidInput, Problem } from '../kernel/problem.js'
import { jsonLength } from '../kernel/weight.js'
import { type ParsedCatalog, type ParseOptions, parseCatalog, type ReadCatalog, readCatalogText } from './document/parse.js'
import { textFault } from './document/text-limits.js'

/**
 * What a document holds, as JSON or as the bytes that `node:v8` makes of it (YAML knows infinite numbers). A thread that gets an object has it written by who asks,
 * and one that answers an object has it read there, which takes either of them as long as parsing does.
 */
export type Written = { json: string } | { bytes: Uint8Array }

/** A document that was sent: what it holds when that is short. */
export type SentCatalog = ReadCatalog | Written

/** What a thread is asked. */
export type Reading = { text: string } | { written: Written; options: ParseOptions }

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

  /** `input` is what JSON holds, or YAML or JSON text. */
  async take(input: unknown): Promise<SentCatalog> {
    if (typeof input !== 'string') return isShort(input) ? { input } : { json: await jsonOf(input) }
    const isShortText = input.length <= longTextLength || textFault(input) !== null
    return isShortText ? readCatalogText(input) : this.#texts.read<SentCatalog>({ text: input })
  }

  async parse(sent: SentCatalog, options: ParseOptions): Promise<ParsedCatalog> {
    if ('problems' in sent) return sent
    return 'input' in sent ? parseCatalog(sent.input, options) : this.#documents.read<ParsedCatalog>({ written: sent, options })
  }
}

/** Whether what a document holds is read where it is. */
export const isShort = (input: unknown): boolean => jsonLength(input, longInputLength) <= longInputLength

/** Written in steps, between which others are served. */
async function jsonOf(input: unknown): Promise<string> {
  let json = ''
  let lengthOfSteps = 0
  for (const piece of jsonPieces(input)) {
    json += piece
    if (json.length - lengthOfSteps < atOnceLength) continue
    lengthOfSteps = json.length
    await nextTurn()
  }
  return json
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
