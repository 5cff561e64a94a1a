import { type ExecutionResult, execute } from 'graphql'
import type { EnvironmentChange, HeldChange } from '../../../changes/model/change.js'
import { collectChanges } from '../../../changes/note.js'
import { FairPlaces } from '../../../environment/fair-places.js'
import { Problem } from '../../../kernel/problem.js'
import { withinSignal } from '../../../platform/context/within-signal.js'
import { toGraphqlError, toProblem } from '../operations/errors.js'
import type { Asked } from './preparation.js'

type Result = ExecutionResult | Promise<ExecutionResult>

export interface ExecutionOptions {
  /** How long an operation may take. */
  timeoutMs: number
  /** Told of what a mutation changed before it is answered; answers when no process reads from before the changes any more. */
  announce: (environmentId: string, changes: HeldChange[]) => Promise<void>
}

/** Large answers that are made at a time. Each keeps the event loop for some milliseconds when its rows arrive. */
export const largeAnswersAtATime = { inAll: 4, ofOwner: 2 }
/** At all doors together. */
export const largeAnswers = new FairPlaces(largeAnswersAtATime)

export const hungUp = () => new Problem('CANCELLED', 'CLIENT_HUNG_UP', 'The client hung up before it was answered.')

/** Has operations done by graphql-js, each within its time. */
export class Execution {
  readonly #options: ExecutionOptions

  constructor(options: ExecutionOptions) {
    this.#options = options
  }

  /** A mutation that is answered is seen by every later read, whichever process answers it. `written`: a large one keeps its place until then. */
  execute(asked: Asked, written: Promise<void> | null): Result {
    const begin = () => (asked.kind !== 'query' && asked.usesDatabase ? this.#announced(asked) : run(asked))
    return this.within(asked, written ? inItsPlace(asked, begin, written) : begin())
  }

  /**
   * Ends with Timeout when the operation takes too long, unless it says more itself, and a query also when the client hangs up; its SQL is given up then.
   */
  within({ request, operation, kind }: Asked, result: Result): Result {
    const { timeoutMs } = this.#options
    if (!(result instanceof Promise)) return result
    return new Promise((resolve, reject) => {
      const end = (problem: Problem) => {
        const answer = () => resolve({ errors: [toGraphqlError(problem)] })
        clearTimeout(timer)
        operation.giveUp(problem)
        if (kind === 'query') answer()
        // What was reported says in a moment what became of it.
        else setImmediate(() => setImmediate(answer))
      }
      const late = () => end(new Problem('DEADLINE_EXCEEDED', 'TIMEOUT', `The operation was not done within ${timeoutMs} ms.`))
      const timer = setTimeout(late, timeoutMs)
      if (kind === 'query') request.onHangUp(() => end(hungUp()))
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer)
          settle(value)
        }
      result.then(
        settled((answer: ExecutionResult) => resolve(operation.givenUp ? withoutItsFaults(answer, operation.givenUp.reason) : answer)),
        settled((error: unknown) => (operation.givenUp ? resolve({ errors: [toGraphqlError(operation.givenUp.reason)] }) : reject(error))),
      )
    })
  }

  #announced(asked: Asked): Result {
    const changes: EnvironmentChange[] = []
    const result = collectChanges(changes, () => run(asked))
    if (!(result instanceof Promise)) return result
    return result.then((answer) => (changes.length === 0 ? answer : this.#announce(changes).then(() => answer)))
  }

  async #announce(changes: EnvironmentChange[]): Promise<void> {
    const byEnvironment = new Map<string, EnvironmentChange[]>()
    for (const change of changes) {
      const others = byEnvironment.get(change.environmentId)
      if (others) others.push(change)
      else byEnvironment.set(change.environmentId, [change])
    }
    await Promise.all([...byEnvironment].map(([environmentId, ofEnvironment]) => this.#options.announce(environmentId, ofEnvironment)))
  }
}

/**
 * Environments have their places one after the other. Nothing is begun for whom nobody waits any more. The place is kept until the answer is written: else all that
 * wait would be executed, and held, before any of them is.
 */
const inItsPlace = ({ operation }: Asked, begin: () => Result, written: Promise<void>): Promise<ExecutionResult> =>
  new Promise((resolve) => {
    void largeAnswers.run(operation.environmentId ?? '', () => {
      const result = (async () => (operation.givenUp ? { errors: [toGraphqlError(operation.givenUp.reason)] } : begin()))()
      resolve(result)
      return Promise.allSettled([result, written])
    })
  })

/** What was cut off fails in ways of its own, which are nobody's fault: the libraries do not hand on why they were stopped. */
const withoutItsFaults = (answer: ExecutionResult, reason: unknown): ExecutionResult => ({
  ...answer,
  errors: answer.errors?.map((error) => (toProblem(error).code === 'INTERNAL' ? toGraphqlError(reason) : error)),
})

/** Its statements are given up with the operation. */
const run = ({ args, operation, usesDatabase }: Asked): Result =>
  usesDatabase ? withinSignal(operation, () => execute(args)) : execute(args)
