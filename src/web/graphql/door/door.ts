import type { GraphQLError } from 'graphql'
import { invalidInput, type Problem } from '../../../kernel/problem.js'
import { beforeCounting } from '../../../metering/model/problems.js'
import { currentSpan, inChildSpan } from '../../../platform/context/tracing.js'
import type { Logger } from '../../../platform/logger.js'
import { Histogram, latencyBuckets, type Registry, showKept } from '../../../platform/metrics.js'
import type { AnswerBody } from '../../access/answer-body.js'
import { turns } from '../../access/fair-turns.js'
import type { UnreadAnswers } from '../../access/unread-answers.js'
import { AnswerRoom } from '../operations/answer-text.js'
import { toGraphqlError } from '../operations/errors.js'
import { Operation } from '../operations/operation.js'
import { ErrorLog } from './error-log.js'
import { Execution, type ExecutionOptions } from './execution.js'
import { type GrowState, KeptAnswers } from './kept-answers.js'
import type { KnownQuestion } from './known-questions.js'
import { type Asked, type KnownAnswer, type KnownRequest, Preparation, type PreparationOptions } from './preparation.js'
import { explainRefusal } from './refusals.js'
import {
  type Asker,
  type GraphqlAnswer,
  type GraphqlRequest,
  isPlain,
  jsonHeaders,
  type OperationParams,
  type RequestHead,
} from './request.js'
import { createStrategies, plainAnswer, type Strategy } from './strategies.js'

/** One generation of clients posts a list of operations and expects a list of answers. */
export const maxBatch = 25

export interface GraphqlDoorOptions extends PreparationOptions, ExecutionOptions {
  log: Logger
  metrics: Registry
  /** Where long answers are counted until they are written. */
  unread: UnreadAnswers
  /** Room for what is kept of a held state; false: it is not to be kept. */
  grow: GrowState
}

/** GraphQL over HTTP, without a web framework: reads who asks and what, and answers by the first of the `strategies` that is for it. */
export class GraphqlDoor {
  readonly #preparation: Preparation
  readonly #kept: KeptAnswers
  readonly #strategies: readonly Strategy[]
  readonly #errors: ErrorLog
  readonly #seconds: Histogram

  constructor({ log, metrics, grow, unread, ...options }: GraphqlDoorOptions) {
    this.#errors = new ErrorLog(log)
    this.#preparation = new Preparation(options)
    this.#kept = new KeptAnswers(grow)
    this.#strategies = createStrategies({
      preparation: this.#preparation,
      execution: new Execution(options),
      errors: this.#errors,
      kept: this.#kept,
      limits: { rateLimits: options.rateLimits, unread },
    })
    showKept(metrics, 'documents', () => this.#preparation.keptBytes)
    showKept(metrics, 'questions', () => this.#preparation.questionBytes)
    this.#seconds = new Histogram({
      name: 'tollgate_graphql_operation_seconds',
      help: 'GraphQL operations over HTTP, by first root field and code of the first error',
      labelNames: ['field', 'code'],
      buckets: latencyBuckets,
      registers: [metrics],
    })
  }

  /** Who asks, before the body is read. Fails with UNAUTHENTICATED, and with RESOURCE_EXHAUSTED. */
  admit(head: RequestHead): Promise<Asker> {
    return this.#preparation.admit(head)
  }

  /** What the request asks for, when its text alone says it; undefined: it has to be read. */
  questionIn(bodyText: string): KnownQuestion | undefined {
    return this.#preparation.questionIn(bodyText)
  }

  /** As `answer`, of a request that is not read, when it was answered before and that is still true; else null. */
  answerKnown(question: KnownQuestion, request: KnownRequest): GraphqlAnswer | null {
    const startedAt = performance.now()
    const known = currentSpan() === undefined ? this.#preparation.answerKnown(question, request, this.#kept) : null
    if (!known) return null
    this.#seconds.observe({ field: known.field, code: 'ok' }, (performance.now() - startedAt) / 1000)
    return { status: 200, headers: jsonHeaders, body: known.text, environmentId: request.asker.identity.environmentId }
  }

  /** Never rejects for what a client sends. */
  answer(request: GraphqlRequest): Promise<GraphqlAnswer> {
    const { body } = request
    return Array.isArray(body) ? this.#answerList(request, body) : this.#answerOne(request)
  }

  async #answerList(request: GraphqlRequest, body: unknown[]): Promise<GraphqlAnswer> {
    if (body.length === 0 || body.length > maxBatch)
      return this.refuse(invalidInput(`A list must hold 1 to ${maxBatch} operations, not ${body.length}`, { limit: maxBatch }), 400)
    const answers: Promise<GraphqlAnswer>[] = []
    const room = new AnswerRoom()
    for (const operation of body) {
      // Others get their turn between two documents that may be costly to refuse.
      if (answers.length > 0) await turns.take(request.asker?.identity.environmentId ?? '')
      // Each is a request: the first was taken when the list was admitted.
      const asker = answers.length === 0 ? request.asker : undefined
      answers.push(this.#answerOne({ ...request, body: operation, isOfList: true, asker }, room))
    }
    const all = await Promise.all(answers)
    const release = () => {
      for (const answer of all) answer.release?.()
    }
    const refused = all.find((answer) => answer.body === null)
    if (refused) release()
    return refused
      ? this.#explained(request, refused, new Operation())
      : {
          ...all[0]!,
          status: 200,
          isOfChange: all.some(({ isOfChange }) => isOfChange),
          body: listOf(all.map(({ body }) => body!)),
          release,
        }
  }

  /** A request that never became an operation. */
  refuse(problem: Problem, status: number): GraphqlAnswer {
    const operation = new Operation()
    const error = this.#errors.toWire(beforeCounting(problem), operation)
    this.#seconds.observe({ field: 'none', code: operation.code! }, (performance.now() - operation.startedAt) / 1000)
    return { status, headers: { ...jsonHeaders, 'x-trace-id': operation.traceId }, body: JSON.stringify({ errors: [error] }) }
  }

  #answerOne(request: GraphqlRequest, room?: AnswerRoom): Promise<GraphqlAnswer> {
    const operation = new Operation(room)
    if (currentSpan() === undefined) return this.#answer(request, operation)
    return inChildSpan({ name: 'graphql', kind: 'internal' }, async (span) => {
      const answer = await this.#answer(request, operation)
      const { field, code, environmentId } = operation
      span?.rename(`graphql ${field ?? 'refused'}`)
      span?.set({ 'tollgate.operation': field, 'tollgate.environment_id': environmentId })
      if (code !== undefined) span?.fail(code)
      return answer
    })
  }

  async #answer(request: GraphqlRequest, operation: Operation): Promise<GraphqlAnswer> {
    const bare = await this.#answerOperation(request, operation)
    const answer = bare.body === null && !request.isOfList ? this.#explained(request, bare, operation) : bare
    const { field = 'none', code = 'ok', startedAt, environmentId } = operation
    this.#seconds.observe({ field, code }, (performance.now() - startedAt) / 1000)
    const headers = operation.isTraced ? { ...answer.headers, 'x-trace-id': operation.traceId } : answer.headers
    const { isChange: isOfChange, release, isUnread } = operation
    return { status: isUnread ? 503 : answer.status, body: answer.body, headers, environmentId, isOfChange, release }
  }

  /** A refusal that is a status and nothing else leaves whoever has sent it to guess. */
  #explained(request: GraphqlRequest, { status, headers }: GraphqlAnswer, operation: Operation): GraphqlAnswer {
    const error = this.#errors.toWire(invalidInput(explainRefusal(status, request)), operation)
    return { status, headers: { ...headers, ...jsonHeaders }, body: JSON.stringify({ errors: [error] }) }
  }

  async #answerOperation(request: GraphqlRequest, operation: Operation): Promise<GraphqlAnswer> {
    const asked = isPlain(request) ? await this.#ask(request, request.body, operation) : null
    if (asked && 'text' in asked) return plainAnswer(asked.text)
    if (asked && !('args' in asked)) return plainAnswer(JSON.stringify(this.#errors.ofResult({ errors: asked }, operation)))
    for (const strategy of this.#strategies) {
      const answer = strategy({ request, operation, asked })
      if (answer) return answer
    }
    throw new Error('no strategy is for everything')
  }

  /** Answers the errors when nothing is asked that may be. */
  async #ask(
    request: GraphqlRequest,
    params: OperationParams,
    operation: Operation,
  ): Promise<Asked | KnownAnswer | readonly GraphQLError[]> {
    try {
      return await this.#preparation.prepare(request, params, operation, this.#kept)
    } catch (error) {
      // Nothing was executed, which whoever reports usage may want to know.
      return [toGraphqlError(beforeCounting(error))]
    }
  }
}

/** The answers as one list. */
function listOf(bodies: readonly AnswerBody[]): AnswerBody {
  if (bodies.every((body) => typeof body === 'string')) return `[${bodies.join(',')}]`
  const pieces = bodies.flatMap((body, index) => [
    Buffer.from(index === 0 ? '[' : ','),
    ...(typeof body === 'string' ? [Buffer.from(body)] : body),
  ])
  return [...pieces, Buffer.from(']')]
}
