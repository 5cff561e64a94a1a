import { DelayedError, type Job } from 'bullmq'
import { Problem } from '../../kernel/problem.js'
import type { JobDefinition } from '../../platform/queue.js'
import { environmentQueue } from '../deliver/jobs.js'
import type { QueueMessage } from '../wire/queue-message.js'
import type { QueueAddress } from './config.js'
import { keyRefused, questionFailed, type StateApi } from './state-api.js'

/**
 * The changes of an environment, by the name of its queue instead of its identifier. A message of another environment is none: whoever may write to a queue is
 * not trusted with more.
 */
export const changesIn = (queue: string): JobDefinition<QueueMessage> => {
  const definition = environmentQueue('')
  const own = environmentOf(queue)
  return {
    ...definition,
    queue,
    parse(data) {
      const message = definition.parse(data)
      if (own !== null && message.environmentId !== own) throw new Error('The message is of another environment than its queue')
      return message
    },
  }
}

/** Asks whether the API takes the key: for the environment of the queue, where its name says that. In SQS queues are called as their owner likes. */
export function queueKeyCheck(api: StateApi, { kind, queue }: QueueAddress): (signal: AbortSignal) => Promise<void> {
  const environmentId = environmentOf(queue)
  if (kind === 'sqs' || environmentId !== null) return (signal) => api.checkKey(environmentId, signal)
  const message = `The queue "${queue}" is that of no environment: it is called environment-<id> (npm run admin -- environment list)`
  return () => Promise.reject(new Problem('PERMISSION_DENIED', keyRefused, message))
}

/**
 * Refuses messages of another environment than that of the key, where the name of the queue does not say whose it is: others may send to it, or it was mistaken for
 * another. Each environment is asked about once.
 */
export class OwnMessages {
  readonly #api: Pick<StateApi, 'checkKey'>
  readonly #isKnown: boolean
  #own: string | null = null

  constructor(api: Pick<StateApi, 'checkKey'>, { kind, queue }: QueueAddress) {
    this.#api = api
    this.#isKnown = kind === 'redis' || environmentOf(queue) !== null
  }

  /** Fails with FAILED_PRECONDITION when it is of another one, and with UNAVAILABLE when that is not known, as the API is away or refuses the key. */
  async check({ environmentId }: QueueMessage, signal: AbortSignal): Promise<void> {
    if (this.#isKnown || environmentId === this.#own) return
    if (this.#own !== null) throw foreign()
    if (await this.#isOf(environmentId, signal)) this.#own = environmentId
    else if (await this.#isOf(null, signal)) throw foreign()
    else throw new Problem('UNAVAILABLE', keyRefused, 'The API refuses the key: whose message it is is not known')
  }

  async #isOf(environmentId: string | null, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#api.checkKey(environmentId, signal)
      return true
    } catch (error) {
      if (Problem.from(error).code === 'PERMISSION_DENIED') return false
      throw error
    }
  }
}

/** The reason of a problem: nothing of the message counts. */
export const otherEnvironment = 'OTHER_ENVIRONMENT'

const foreign = () => new Problem('FAILED_PRECONDITION', otherEnvironment, 'The message is of another environment than the key')

/** Null: the name says none. */
const environmentOf = (queue: string): string | null => /^environment-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(queue)?.[1] ?? null

const longestDelayMs = 30_000
/** About an hour. */
const mostFailedQuestions = 120

/**
 * Puts a message back that could not be applied because something was away: after 0.5, 1, 2 … 30 s, as often as it takes. The attempts of the queue
 * would be used up within seconds, and the message lost to the cache. One that the API fails on, while it answers, is set aside after an hour: it may be the
 * message. Never resolves: what it throws tells the worker.
 */
export async function tryLater(job: Job, cause: Problem): Promise<never> {
  if (cause.reason === questionFailed && !(job.attemptsStarted < mostFailedQuestions)) throw setAside(cause)
  await job.moveToDelayed(Date.now() + Math.min(500 * 2 ** (job.attemptsStarted - 1), longestDelayMs), job.token)
  throw new DelayedError()
}

/** What is thrown of a message in a queue of SQS: one that the API fails on while it answers is let go at once, as SQS counts how often it came. */
export const letGoOrHold = (cause: Problem): Problem => (cause.reason === questionFailed ? setAside(cause) : cause)

const setAside = (cause: Problem) => new Problem('FAILED_PRECONDITION', questionFailed, cause.message, { cause })
