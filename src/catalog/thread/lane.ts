import { setImmediate as nextTurn } from 'node:timers/promises'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { addPiece, type Lists, type Piece, piecesOf } from './lists.js'
import type { Answer, Question } from './messages.js'

/** Ten times what a document of the largest size takes that people write. */
const maxReadMs = 10_000
const maxHeapMb = 384
/** Its heap is that of the largest document. */
const maxIdleMs = 2_000

interface LaneOptions {
  /** Who comes when so many wait is refused. */
  maxWaiting: number
  /** Who has waited so long, and not been answered, waits no more. */
  maxMs: number
}

/** A thread, asked one thing at a time. It is kept for a while, as it takes longer to start than most documents to read. */
export class Lane {
  readonly #options: LaneOptions
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #thread: Thread | null = null
  #idle: NodeJS.Timeout | undefined

  constructor(options: LaneOptions) {
    this.#options = options
  }

  /** `lists`: what it is asked about, which may be long. Answers the lists that it makes, too. */
  async ask<Q extends keyof Question>(kind: Q, question: Question[Q], lists: Lists = {}): Promise<{ head: Answer[Q]; lists: Lists }> {
    const { maxWaiting, maxMs } = this.#options
    if (this.#waiting >= maxWaiting) throw tooMany()
    this.#waiting++
    const deadline = performance.now() + maxMs
    const answer = this.#last.then(() => {
      if (performance.now() > deadline) throw tooMany()
      return this.#ask({ kind, question }, lists, Math.min(maxReadMs, deadline - performance.now()))
    })
    this.#last = answer.catch(() => undefined)
    return answer.finally(() => this.#waiting--) as Promise<{ head: Answer[Q]; lists: Lists }>
  }

  async #ask(asked: object, given: Lists, withinMs: number): Promise<{ head: unknown; lists: Lists }> {
    clearTimeout(this.#idle)
    const thread = this.#thread ?? startThread()
    this.#thread = thread
    thread.worker.ref()
    try {
      const answered = headOf(thread.worker, withinMs)
      // Whatever becomes of the thread meanwhile is heard of below.
      answered.catch(() => undefined)
      for (const piece of piecesOf(given)) {
        thread.worker.postMessage({ piece })
        await nextTurn()
      }
      thread.worker.postMessage(asked)
      const head = await answered
      const lists: Lists = {}
      for (let next = receiveMessageOnPort(thread.pieces); next; next = receiveMessageOnPort(thread.pieces)) {
        addPiece(lists, next.message as Piece)
        await nextTurn()
      }
      // It keeps no process from ending.
      thread.worker.unref()
      this.#idle = setTimeout(() => this.#end(), maxIdleMs).unref()
      return { head, lists }
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #end(): void {
    void this.#thread?.worker.terminate()
    this.#thread?.pieces.close()
    this.#thread = null
  }
}

interface Thread {
  worker: Worker
  /** What it makes is fetched piece by piece when it has said that all is there: of a port with a listener they would all be read in one step. */
  pieces: MessagePort
}

function startThread(): Thread {
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(new URL('./main.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    execArgv: [],
    workerData: port2,
    transferList: [port2],
  })
  // Of one that nobody asks any more nothing is to be heard.
  worker.on('error', () => undefined)
  return { worker, pieces: port1 }
}

const tooMany = () =>
  new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Many catalogs are being read at the moment: try again.', {
    details: { retryAfterMs: 1_000 },
  })

function headOf(worker: Worker, withinMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settled(reject)(invalidInput('The catalog takes too long to be read: apply it in parts.')), withinMs)
    const settled =
      <T>(settle: (value: T) => void) =>
      (value: T) => {
        clearTimeout(timer)
        worker.off('message', answered).off('error', failed).off('exit', ended)
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
    const ended = settled(() => reject(new Error('the thread that reads catalogs has ended')))
    worker.on('message', answered).on('error', failed).on('exit', ended)
  })
}
