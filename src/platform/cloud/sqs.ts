/**
 * Working off a queue of SQS, as `queue.ts` does it in Redis. A message is deleted after its handler is done and not before; until then it is hidden from other
 * receivers, for as long as the process lives and works at it.
 *
 * held     something is away that the message needs: it stays with this process, which tries again and takes no other in its place. SQS counts how often a
 *          message is received, and would take one that is given back for every try for a broken one.
 * let go   nothing can be made of the message, or it belongs to a newer release: it appears again after a while, is counted once more, and SQS moves it to the
 *          dead-letter queue as its redrive policy says
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message, SQSClient } from '@aws-sdk/client-sqs'
import { Problem } from '../../kernel/problem.js'
import type { Secret } from '../../kernel/secret.js'
import { type JobMetrics, jobMetrics } from '../job-metrics.js'
import type { Life } from '../process.js'
import type { JobDefinition } from '../queue.js'

export interface SqsQueue {
  url: string
  region: string
  accessKeyId: string
  secretAccessKey: Secret
  /** Where SQS is called; undefined: at the address of the queue. */
  endpoint: string | undefined
}

export interface SqsTiming {
  /** How long SQS waits for a message before it answers that there is none. */
  waitSeconds: number
  /** A message of a process that has died appears again after so long. */
  hiddenSeconds: number
  /** A broken message appears again after so long, and after twice as long each time that it came before. */
  brokenSeconds: number
  /** One of another version, by how often it came: soon for a newer process that is there, then so that it outlasts a deploy whatever few receipts the queue allows. */
  otherVersionSeconds: readonly number[]
  /** Between two tries of one that is held, the first time; doubled each time. */
  retryMs: number
}

const usualTiming: SqsTiming = {
  waitSeconds: 20,
  hiddenSeconds: 30,
  brokenSeconds: 30,
  otherVersionSeconds: [5, 60, 300, 900],
  retryMs: 500,
}

export interface SqsConsumeOptions<T> {
  /** Messages that are received at once. */
  batchSize: number
  /**
   * May run twice for one message. `signal` aborts when the process is asked to stop. A Problem that is retryable has the message held, anything else that is
   * thrown has it let go.
   */
  handler: (data: T, context: { signal: AbortSignal }) => Promise<void>
  timing?: Partial<SqsTiming>
}

/** SQS hands out no more in one call. */
const mostPerCall = 10
const longestRetryMs = 30_000
const longestLetGoSeconds = 900
/** SQS takes a message away from its receiver after twelve hours. */
const longestHeldMs = 11 * 3_600_000
const connectMs = 5_000
/** A message that is given back at once could be handed to a call of ours that was cut off, of which SQS does not know yet; it would be hidden with nobody. */
const givenBackSeconds = 1

/**
 * Works off the queue until the process stops: then receives no more, waits for what is in work, and lets go of what is held. Ready while SQS answers. Loads the
 * client of SQS.
 */
export async function consumeSqs<T extends { v: number }>(
  life: Life,
  { url, region, accessKeyId, secretAccessKey, endpoint }: SqsQueue,
  definition: JobDefinition<T>,
  { batchSize, handler, timing }: SqsConsumeOptions<T>,
): Promise<void> {
  const sqs = await import('@aws-sdk/client-sqs')
  const times = { ...usualTiming, ...timing }
  const client = new sqs.SQSClient({
    region,
    credentials: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
    requestHandler: { connectionTimeout: connectMs, requestTimeout: (times.waitSeconds + 10) * 1_000, throwOnRequestTimeout: true },
    ...(endpoint !== undefined && { endpoint }),
  })
  life.open('sqs', client, (c: SQSClient) => c.destroy())
  const work = new MessageWork(life, definition, handler, times)
  const { signal, log } = life
  let isThere = false

  const receive = async (most: number): Promise<Message[]> => {
    const { Messages = [] } = await client.send(
      new sqs.ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: most,
        // Whether it is there is to be known soon.
        WaitTimeSeconds: isThere ? times.waitSeconds : 1,
        VisibilityTimeout: times.hiddenSeconds,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      }),
      { abortSignal: signal },
    )
    return Messages
  }

  const hide = async (messages: readonly Message[], secondsOf: (message: Message) => number): Promise<void> => {
    if (messages.length === 0) return
    const Entries = messages.map((message, n) => ({
      Id: String(n),
      ReceiptHandle: message.ReceiptHandle,
      VisibilityTimeout: secondsOf(message),
    }))
    // One that fails appears again at its own time.
    await client
      .send(new sqs.ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }))
      .catch((error: unknown) => log.debug({ err: error, queue: definition.queue }, 'messages not hidden for longer'))
  }

  const remove = async (messages: readonly Message[]): Promise<void> => {
    if (messages.length === 0) return
    const Entries = messages.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }))
    // They come again, and what they tell is written already.
    await client
      .send(new sqs.DeleteMessageBatchCommand({ QueueUrl: url, Entries }))
      .then(({ Failed = [] }) => {
        if (Failed.length > 0) log.warn({ queue: definition.queue, failed: Failed.length, code: Failed[0]?.Code }, 'messages not deleted')
      })
      .catch((error: unknown) => log.warn({ err: error, queue: definition.queue }, 'messages not deleted'))
  }

  const workOff = async (messages: readonly Message[]): Promise<void> => {
    const kept = new Set(messages)
    const hiding = setInterval(() => void hide([...kept], () => times.hiddenSeconds), (times.hiddenSeconds * 1_000) / 3)
    try {
      await Promise.all(
        messages.map(async (message) => {
          const outcome = await work.settle(message)
          if (outcome === 'done') return
          kept.delete(message)
          await hide([message], () => outcome.againInSeconds)
        }),
      )
      await remove([...kept])
    } finally {
      clearInterval(hiding)
    }
  }

  const receiveUntilStopped = async (most: number): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      let messages: Message[]
      try {
        messages = await receive(most)
        if (failures > 0) log.info({ queue: definition.queue }, 'messages are received again')
        isThere = true
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        isThere = false
        log[failures === 0 ? 'warn' : 'debug']({ err: error, queue: definition.queue }, 'no messages received, trying again')
        await pause(Math.min(times.retryMs * 2 ** failures++, longestRetryMs), signal)
        continue
      }
      if (messages.length > 0) await workOff(messages)
    }
  }

  const sizes = callsOf(batchSize)
  const receiving = Promise.all(sizes.map(receiveUntilStopped))
  receiving.catch((error: unknown) => life.unexpected(error))
  life.onStop(`messages of ${definition.queue}`, () => receiving)
  life.readyWhen(() => ({ status: isThere ? 'UP' : 'DOWN', queue: isThere ? 'UP' : 'DOWN' }))
}

/** The messages of each call, and one call more: what takes minutes must not hold up all others. */
export function callsOf(batchSize: number): number[] {
  const calls = Array.from({ length: Math.ceil(batchSize / mostPerCall) }, (_, n) => Math.min(mostPerCall, batchSize - n * mostPerCall))
  return [...calls, Math.min(mostPerCall, batchSize)]
}

/** What becomes of a message: it can be deleted, or appears again. */
type Outcome = 'done' | { againInSeconds: number }

class MessageWork<T extends { v: number }> {
  readonly #metrics: JobMetrics

  constructor(
    private readonly life: Life,
    private readonly definition: JobDefinition<T>,
    private readonly handler: SqsConsumeOptions<T>['handler'],
    private readonly times: SqsTiming,
  ) {
    this.#metrics = jobMetrics(life.metrics)
  }

  /** Never fails. */
  async settle(message: Message): Promise<Outcome> {
    const { queue } = this.definition
    const received = Math.max(1, Number(message.Attributes?.ApproximateReceiveCount) || 1)
    const data = this.#read(message.Body ?? '')
    if (data === 'of another version') {
      const { otherVersionSeconds } = this.times
      return { againInSeconds: otherVersionSeconds[Math.min(received, otherVersionSeconds.length) - 1]! }
    }
    const done = this.#metrics.duration.startTimer({ queue })
    try {
      if (data instanceof Error) throw data
      const isDone = await this.#tryUntilDone(data, message.MessageId)
      if (isDone) this.#metrics.jobs.inc({ queue, result: 'finished' })
      return isDone ? 'done' : { againInSeconds: givenBackSeconds }
    } catch (error) {
      const isUnreadable = error === data
      this.#metrics.jobs.inc({ queue, result: isUnreadable ? 'unreadable' : 'failed' })
      this.life.log[isUnreadable ? 'warn' : 'error'](
        { err: error, queue, messageId: message.MessageId, received },
        'message let go: the dead-letter queue of SQS is for it',
      )
      if (!isUnreadable && Problem.from(error).code === 'INTERNAL') this.life.unexpected(error)
      return { againInSeconds: Math.min(this.times.brokenSeconds * 2 ** (received - 1), longestLetGoSeconds) }
    } finally {
      done()
    }
  }

  /** An error: nothing can be made of it. */
  #read(body: string): T | Error | 'of another version' {
    try {
      const data: unknown = JSON.parse(body)
      const version = (data as { v?: unknown } | null)?.v
      if (typeof version !== 'number') return new Error('The message says no version')
      return version === this.definition.version ? this.definition.parse(data) : 'of another version'
    } catch (error) {
      return error as Error
    }
  }

  /** False: the process stops, or SQS will take the message away. */
  async #tryUntilDone(data: T, messageId: string | undefined): Promise<boolean> {
    const { signal, log } = this.life
    const heldUntil = performance.now() + longestHeldMs
    for (let tries = 0; ; tries++) {
      try {
        await this.handler(data, { signal })
        return true
      } catch (error) {
        if (signal.aborted) return false
        if (!(error instanceof Problem && error.isRetryable)) throw error
        if (performance.now() > heldUntil) return false
        log[tries === 0 ? 'warn' : 'debug']({ err: error, queue: this.definition.queue, messageId }, 'message held, trying again later')
        await pause(Math.min(this.times.retryMs * 2 ** tries, longestRetryMs), signal)
        if (signal.aborted) return false
      }
    }
  }
}

/** Ends early, and without failing, when the process is to stop. */
const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined)
