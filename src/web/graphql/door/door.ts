import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { type ExecutionArgs, type ExecutionResult, execute, GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from 'graphql'
import { createHandler, type OperationArgs } from 'graphql-http'
import { type EnvironmentChange, type HeldChange } from '../../../changes/model/change.js'
import { collectChanges } from '../../../changes/note.js'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import { invalidInput, Problem } from '../../../kernel/problem.js'
import type { Secret } from '../../../platform/config.js'
import type { Logger } from '../../../platform/logger.js'
import { Histogram, latencyBuckets, type Registry } from '../../../platform/metrics.js'
import { withinSignal } from '../../../platform/within-signal.js'
import { credentialsOf, type Identity, identify, isOperatorKey } from '../../access/auth.js'
import type { RateLimits } from '../../access/rate-limits.js'
import { createContext, type RequestContext, type Services } from '../operations/context.js'
import { codeOf, toProblem, toWireError } from '../operations/errors.js'
import { Operation } from '../operations/operation.js'
import { readEvents, withoutEvents } from './carried-events.js'
import { CompiledDocuments } from './compiled-documents.js'
import { Documents, operationOf } from './documents.js'
import { KeptAnswers, readQuestion } from './kept-answers.js'
import { findLongList, maxCost, maxListItems } from './limits.js'
import { checkText, mayHoldBrokenText } from './text.js'

/** One generation of clients posts a list of operations and expects a list of answers. */
export const maxBatch = 25

export interface GraphqlRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  /** Parsed JSON; undefined: there was no body. */
  body: unknown
  /** The body as it came; empty: there was none. */
  bodyText: string
  /** The body has further operations. */
  isOfList?: boolean
  /** Calls the listener when the client hangs up before it is answered. */
  onHangUp(listener: () => void): void
}

export interface GraphqlAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  body: string | null
}

export interface GraphqlDoorOptions {
  app: Services
  schema: GraphQLSchema
  rateLimits: RateLimits
  /** Absent: nobody is the operator. */
  operatorKey?: Secret
  /** How long an operation may take. */
  timeoutMs: number
  /** The state that is at hand, or null. */
  heldState: (environmentId: string, customerId: string, resourceId: string | null) => EntitlementState | null
  /** Told of what a mutation changed before it is answered; answers when no process reads from before the changes any more. */
  announce: (environmentId: string, changes: HeldChange[]) => Promise<void>
  log: Logger
  metrics: Registry
}

/** A shorter body cannot hold so many items that reading them takes long. */
const longBodyLength = 4_000

/** GraphQL over HTTP, without a web framework: reads who asks, prepares the document, executes, and translates errors. */
export class GraphqlDoor {
  readonly #options: GraphqlDoorOptions
  readonly #documents: Documents
  readonly #kept = new KeptAnswers()
  readonly #reports = new CompiledDocuments()
  readonly #seconds: Histogram

  constructor(options: GraphqlDoorOptions) {
    this.#options = options
    this.#documents = new Documents(options.schema)
    this.#seconds = new Histogram({
      name: 'tollgate_graphql_operation_seconds',
      help: 'GraphQL operations over HTTP, by first root field and code of the first error',
      labelNames: ['field', 'code'],
      buckets: latencyBuckets,
      registers: [options.metrics],
    })
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
    for (const operation of body) {
      // Others get their turn between two documents that may be costly to refuse.
      if (answers.length > 0) await setImmediate()
      answers.push(this.#answerOne({ ...request, body: operation, isOfList: true }))
    }
    const all = await Promise.all(answers)
    const refused = all.find((answer) => answer.body === null)
    return refused ?? { status: 200, headers: all[0]!.headers, body: `[${all.map((answer) => answer.body).join(',')}]` }
  }

  /** A request that never became an operation. */
  refuse(problem: Problem, status: number): GraphqlAnswer {
    const error = this.#report(problem, new Operation())
    return { status, headers: jsonHeaders, body: JSON.stringify({ errors: [error] }) }
  }

  async #answerOne(request: GraphqlRequest): Promise<GraphqlAnswer> {
    const operation = new Operation()
    const answer = (await this.#answerPlain(request, operation)) ?? (await this.#answerAsSpecified(request, operation))
    this.#observe(operation)
    return operation.isTraced ? { ...answer, headers: { ...answer.headers, 'x-trace-id': operation.traceId } } : answer
  }

  /**
   * A well-formed query or mutation, sent and wanted as JSON: nearly every request. The answer is that of graphql-http, without its way there. Null:
   * the request is for graphql-http to judge.
   */
  async #answerPlain(request: GraphqlRequest, operation: Operation): Promise<GraphqlAnswer | null> {
    if (!isPlain(request)) return null
    let result: ExecutionResult
    try {
      const prepared = await this.#prepare(request, request.body, operation)
      if (!('document' in prepared)) result = { errors: prepared }
      else if (operation.kind !== 'query' && operation.kind !== 'mutation') return null
      else {
        const { state } = operation
        const kept = state && this.#kept.find(state, request.bodyText)
        if (kept) return { status: 200, headers: jsonHeaders, body: kept }
        result = await this.#execute(prepared, request, operation)
      }
    } catch (error) {
      result = { errors: [toGraphqlError(error)] }
    }
    if (result.errors) result = { ...result, errors: result.errors.map((error) => this.#report(toProblem(error), operation, error)) }
    const body = JSON.stringify(result)
    const { state } = operation
    // The state that is held now may be a newer one than was read: then it does not know this answer.
    if (state && !result.errors) this.#kept.keep(state, request.bodyText, body)
    return { status: 200, headers: jsonHeaders, body }
  }

  async #answerAsSpecified(request: GraphqlRequest, operation: Operation): Promise<GraphqlAnswer> {
    const handle = createHandler<GraphqlRequest, undefined, Context>({
      onSubscribe: async (_, params) => {
        try {
          return (await this.#prepare(request, params, operation)) as OperationArgs<Context> | readonly GraphQLError[]
        } catch (error) {
          return [toGraphqlError(error)]
        }
      },
      execute: (args: ExecutionArgs) => this.#execute(args, request, operation),
      formatError: (error) => this.#report(requestError(error), operation, error),
    })
    const { method, url, headers } = request
    const body = request.body as Record<string, unknown> | null
    const [text, { status, headers: answerHeaders = {} }] = await handle({ method, url, headers, body, raw: request, context: undefined })
    return { status, headers: answerHeaders, body: text }
  }

  /** Finds out who asks and what, and refuses what is not allowed. Nothing is executed yet. */
  async #prepare(
    { headers, url, bodyText, isOfList = false }: GraphqlRequest,
    { query, operationName, variables }: OperationParams,
    operation: Operation,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { app, schema, rateLimits, operatorKey } = this.#options
    const credentials = credentialsOf(headers)
    // Who sends no valid key is refused before anything is spent on the document.
    const asker = await identify(app.environments, credentials.apiKey ? credentials : { ...credentials, apiKey: urlKeyOf(url) })
    operation.environmentId = asker.environmentId
    await rateLimits.take(asker)
    const prepared = this.#documents.prepare(query)
    const isIntrospection = 'document' in prepared && prepared.introspection === 'only'
    const identity = isIntrospection || credentials.apiKey ? asker : await identify(app.environments, credentials)
    if (!('document' in prepared)) return prepared
    if (prepared.introspection !== 'none' && identity.kind !== 'SERVER')
      throw new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'Introspection needs a server key.')
    const definition = operationOf(prepared, operationName)
    operation.field = fieldOf(definition)
    operation.kind = definition?.operation
    operation.usesDatabase = prepared.usesDatabase
    // Of those who may report: only their documents are compiled.
    operation.isReport = definition !== undefined && prepared.isReport && identity.kind === 'SERVER'
    if (mayHoldBrokenText(bodyText)) checkText(variables, prepared.document)
    const { eventsVariable } = prepared
    const events = eventsVariable === null ? null : readEvents(variables?.[eventsVariable])
    const variableValues = events ? { ...variables, [eventsVariable!]: withoutEvents(variables![eventsVariable!]) } : variables
    checkSize(prepared.costOf(variables ?? {}), bodyText.length > longBodyLength ? findLongList(variableValues) : null)
    if (prepared.questionVariable !== null && !isOfList) operation.state = this.#stateOf(identity, variables?.[prepared.questionVariable])
    const isOperator = isOperatorKey(headers['x-operator-key'], operatorKey)
    const contextValue = createContext({ app, identity, isOperator, operation, events })
    return { schema, document: prepared.document, operationName, variableValues, contextValue }
  }

  /** The state that the question is about, when it is at hand and may be asked for. */
  #stateOf(identity: Identity, variable: unknown): EntitlementState | null {
    const question = readQuestion(variable)
    const isAllowed = identity.kind === 'SERVER' || identity.customerId === question?.customerId
    // Whoever may not ask is refused when the field is resolved.
    return question && isAllowed ? this.#options.heldState(identity.environmentId, question.customerId, question.resourceId) : null
  }

  /**
   * Ends with Timeout when the operation takes too long, and gives up its SQL then; queries are also given up when the client hangs up. A mutation
   * that is answered is seen by every later read, whichever process answers it.
   */
  #execute(args: ExecutionArgs, request: GraphqlRequest, operation: Operation): Promise<ExecutionResult> | ExecutionResult {
    const { timeoutMs } = this.#options
    const isQuery = operation.kind === 'query'
    const isAnnounced = !isQuery && operation.usesDatabase
    const result = isAnnounced ? this.#announced(args, operation) : this.#run(args, operation)
    if (!(result instanceof Promise)) return result
    if (isQuery) request.onHangUp(() => operation.giveUp(new Error('the client hung up')))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const problem = new Problem('DEADLINE_EXCEEDED', 'TIMEOUT', `The operation was not done within ${timeoutMs} ms.`)
        operation.giveUp(problem)
        resolve({ errors: [toGraphqlError(problem)] })
      }, timeoutMs)
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer)
          settle(value)
        }
      result.then(settled(resolve), settled(reject))
    })
  }

  /** Its statements are given up with the operation. */
  #run(args: ExecutionArgs, operation: Operation): ExecutionResult | Promise<ExecutionResult> {
    if (operation.usesDatabase) return withinSignal(operation, () => execute(args))
    return operation.isReport ? this.#reports.execute(args) : execute(args)
  }

  #announced(args: ExecutionArgs, operation: Operation): ExecutionResult | Promise<ExecutionResult> {
    const changes: EnvironmentChange[] = []
    const result = collectChanges(changes, () => this.#run(args, operation))
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

  #observe({ field = 'none', code = 'ok', startedAt }: Operation): void {
    this.#seconds.observe({ field, code }, (performance.now() - startedAt) / 1000)
  }

  /** Logged here and nowhere else. What the caller can mend is information; what it cannot is an error with its private cause. */
  #report(problem: Problem, operation: Operation, at?: Readonly<GraphQLError | Error>): GraphQLError {
    const { log } = this.#options
    operation.code ??= codeOf(problem)
    const { environmentId, field, traceId } = operation
    const line = { traceId, code: codeOf(problem), environmentId, field }
    if (problem.code === 'INTERNAL') log.error({ ...line, err: problem.cause }, 'graphql operation failed')
    else if (problem.isRetryable) log.warn({ ...line, err: problem }, 'graphql operation could not be done now')
    else log.info({ ...line, reason: problem.reason }, 'graphql operation refused')
    return toWireError(problem, traceId, at)
  }
}

/** graphql-http asks for a record; ours is an interface. */
type Context = RequestContext & Record<PropertyKey, unknown>

interface OperationParams {
  query: string
  operationName?: string | null
  variables?: Readonly<Record<string, unknown>> | null
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

/** Whether the request is one that GraphQL over HTTP has no more to say about. */
function isPlain(request: GraphqlRequest): request is GraphqlRequest & { body: OperationParams } {
  const { method, headers, body } = request
  const { accept, 'content-type': type } = headers
  if (method !== 'POST' || (type !== 'application/json' && type !== 'application/json; charset=utf-8')) return false
  if (accept !== undefined && accept !== '*/*' && accept !== 'application/json') return false
  if (typeof body !== 'object' || body === null) return false
  const { query, operationName, variables, extensions } = body as Record<string, unknown>
  const isRecord = (value: unknown) => value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value))
  const isName = operationName === undefined || operationName === null || typeof operationName === 'string'
  return typeof query === 'string' && isName && isRecord(variables) && isRecord(extensions)
}

function toGraphqlError(error: unknown): GraphQLError {
  const problem = Problem.from(error)
  return new GraphQLError(problem.message, { originalError: problem })
}

/** An error of graphql-http itself is about the request: unparsable JSON, no query. */
function requestError(error: Readonly<GraphQLError | Error>): Problem {
  return error instanceof GraphQLError ? toProblem(error) : invalidInput(error.message)
}

/** For introspection only: addresses end up in logs. */
const urlKeyOf = (url: string): string | undefined => new URLSearchParams(url.split('?')[1]).get('apiKey') ?? undefined

function checkSize(cost: number, longList: string | null): void {
  if (cost > maxCost)
    throw invalidInput(`The answer may have ${cost} fields, at most ${maxCost} are given: ask for shorter pages or fewer fields.`)
  if (longList !== null) throw invalidInput(`"${longList}" has more than ${maxListItems} items: send several smaller requests.`)
}

function fieldOf(operation: OperationDefinitionNode | undefined): string | undefined {
  const first = operation?.selectionSet.selections.find((node) => node.kind === 'Field')
  return first?.name.value
}
