import type { IncomingHttpHeaders } from 'node:http'
import { GraphQLError, type GraphQLSchema, getOperationAST, type OperationDefinitionNode } from 'graphql'
import { createHandler, type OperationArgs } from 'graphql-http'
import { newId } from '../../kernel/id.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import type { Logger } from '../../platform/logger.js'
import { Histogram, latencyBuckets, type Registry } from '../../platform/metrics.js'
import { credentialsOf, type Identity, identify } from '../auth.js'
import { createContext, type RequestContext, type Services } from './context.js'
import { Documents } from './documents.js'
import { codeOf, toProblem, toWireError } from './errors.js'

/** One generation of clients posts a list of operations and expects a list of answers. */
export const maxBatch = 25

export interface GraphqlRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  /** Parsed JSON; undefined: there was no body. */
  body: unknown
  /** Aborts when the client is gone. */
  signal: AbortSignal
}

export interface GraphqlAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  body: string | null
}

export interface GraphqlDoorOptions {
  app: Services
  schema: GraphQLSchema
  log: Logger
  metrics: Registry
}

/** GraphQL over HTTP, without a web framework: reads who asks, prepares the document, executes, and translates errors. */
export class GraphqlDoor {
  readonly #options: GraphqlDoorOptions
  readonly #documents: Documents
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
  async answer(request: GraphqlRequest): Promise<GraphqlAnswer> {
    const { body } = request
    if (!Array.isArray(body)) return this.#answerOne(request)
    if (body.length === 0 || body.length > maxBatch)
      return this.refuse(invalidInput(`A list must hold 1 to ${maxBatch} operations, not ${body.length}`, { limit: maxBatch }), 400)
    const answers = await Promise.all(body.map((operation) => this.#answerOne({ ...request, body: operation })))
    const refused = answers.find((answer) => answer.body === null)
    return refused ?? { status: 200, headers: answers[0]!.headers, body: `[${answers.map((answer) => answer.body).join(',')}]` }
  }

  /** A request that never became an operation. */
  refuse(problem: Problem, status: number): GraphqlAnswer {
    const error = this.#report(problem, newId(), {})
    return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify({ errors: [error] }) }
  }

  async #answerOne(request: GraphqlRequest): Promise<GraphqlAnswer> {
    const traceId = newId()
    const facts: OperationFacts = {}
    const startedAt = performance.now()
    const handle = createHandler<GraphqlRequest, undefined, Context>({
      onSubscribe: async (_, { query, operationName, variables }) => {
        try {
          return await this.#prepare(request, { query, operationName, variables }, traceId, facts)
        } catch (error) {
          const problem = Problem.from(error)
          return [new GraphQLError(problem.message, { originalError: problem })]
        }
      },
      formatError: (error) => this.#report(requestError(error), traceId, facts, error),
    })
    const { method, url, headers } = request
    const [body, { status, headers: answerHeaders = {} }] = await handle({
      method,
      url,
      headers,
      body: request.body as Record<string, unknown> | null,
      raw: request,
      context: undefined,
    })
    this.#seconds.observe({ field: facts.field ?? 'none', code: facts.code ?? 'ok' }, (performance.now() - startedAt) / 1000)
    return { status, headers: { ...answerHeaders, 'x-trace-id': traceId }, body }
  }

  async #prepare(
    { headers, url, signal }: GraphqlRequest,
    { query, operationName, variables }: { query: string; operationName?: string | null; variables?: Record<string, unknown> | null },
    traceId: string,
    facts: OperationFacts,
  ): Promise<OperationArgs<Context> | readonly GraphQLError[]> {
    const { app, schema } = this.#options
    const credentials = credentialsOf(headers)
    const withUrlKey = { ...credentials, apiKey: credentials.apiKey ?? urlKeyOf(url) }
    // Who sends no key at all is refused before anything is spent on the document.
    if (!withUrlKey.apiKey) await identify(app.environments, credentials)
    const prepared = this.#documents.prepare(query)
    const isIntrospection = 'document' in prepared && prepared.introspection === 'only'
    const identity = await identify(app.environments, isIntrospection ? withUrlKey : credentials)
    facts.environmentId = identity.environmentId
    if (!('document' in prepared)) return prepared
    if (prepared.introspection !== 'none' && identity.kind !== 'SERVER')
      throw new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'Introspection needs a server key.')
    const { document } = prepared
    facts.field = fieldOf(getOperationAST(document, operationName))
    return {
      schema,
      document,
      operationName,
      variableValues: variables,
      contextValue: createContext({ app, identity, traceId, signal, changes: noChanges, missedSince: noChanges }) as Context,
    }
  }

  /** Logged here and nowhere else. What the caller can mend is information; what it cannot is an error with its private cause. */
  #report(problem: Problem, traceId: string, facts: OperationFacts, at?: Readonly<GraphQLError | Error>): GraphQLError {
    const { log } = this.#options
    facts.code ??= codeOf(problem)
    const { environmentId, field } = facts
    const line = { traceId, code: codeOf(problem), environmentId, field }
    if (problem.code === 'INTERNAL') log.error({ ...line, err: problem.cause }, 'graphql operation failed')
    else if (problem.isRetryable) log.warn({ ...line, err: problem }, 'graphql operation could not be done now')
    else log.info({ ...line, reason: problem.reason }, 'graphql operation refused')
    return toWireError(problem, traceId, at)
  }
}

/** graphql-http asks for a record; ours is an interface. */
type Context = RequestContext & Record<PropertyKey, unknown>

interface OperationFacts {
  environmentId?: Identity['environmentId']
  /** Of the schema, so the values are few. */
  field?: string
  /** Of the first error. */
  code?: string
}

/** An error of graphql-http itself is about the request: unparsable JSON, no query. */
function requestError(error: Readonly<GraphQLError | Error>): Problem {
  return error instanceof GraphQLError ? toProblem(error) : invalidInput(error.message)
}

/** For introspection only: addresses end up in logs. */
const urlKeyOf = (url: string): string | undefined => new URLSearchParams(url.split('?')[1]).get('apiKey') ?? undefined

function fieldOf(operation: OperationDefinitionNode | null | undefined): string | undefined {
  const first = operation?.selectionSet.selections.find((node) => node.kind === 'Field')
  return first?.name.value
}

function noChanges(): never {
  throw invalidInput('Subscriptions are served over WebSocket')
}
