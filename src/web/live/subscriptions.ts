import { type ExecutionArgs, type ExecutionResult, type GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql'
import type { SubscribePayload } from 'graphql-ws'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { jsonLength } from '../../kernel/weight.js'
import { inSpan, isTracing, newTraceId, readContext, type TraceContext } from '../../platform/context/tracing.js'
import type { Logger } from '../../platform/logger.js'
import type { Identity } from '../access/auth.js'
import type { RateLimits } from '../access/rate-limits.js'
import { Documents, fieldOf } from '../graphql/door/documents.js'
import { toProblem, toWireError } from '../graphql/operations/errors.js'
import { logProblem } from '../graphql/operations/problem-log.js'
import type { Connection } from './connection.js'
import { isOfOneClient, type Push } from './push.js'
import { SilentStream } from './silent-stream.js'
import { catchUpCost, costOfSubscription, maxSocketCost, maxSubscriptionCost } from './subscription-costs.js'

/** Of one socket. */
export const maxSubscriptions = 50
/** Of the variables of a subscription: a position is all that one needs. */
const maxVariablesCharacters = 1_000
/** A socket, as far as subscriptions know of it. */
export interface Subscriber {
  connection: Connection
  /** Of whoever has opened it. */
  address: string
  /** Null: no key is accepted yet. */
  identity: Identity | null
  /** Of all its subscriptions. */
  cost: number
}

interface SubscriptionParts {
  schema: GraphQLSchema
  push: Push
  rateLimits: RateLimits
  log: Logger
}

/** From a message of a socket to what is pushed to it, or to why it is refused. */
export class Subscriptions {
  readonly #parts: SubscriptionParts
  readonly #documents: Documents

  constructor(parts: SubscriptionParts) {
    this.#parts = parts
    this.#documents = new Documents(parts.schema)
  }

  /** Memory that kept documents take. */
  get documentBytes(): number {
    return this.#documents.bytes
  }

  /** What graphql-ws is to subscribe to, or why not. `subscriptions`: on the socket, this one among them. */
  async prepare(
    { client, id, subscriptions }: { client: Subscriber; id: string; subscriptions: number },
    { query, operationName, variables, extensions }: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { schema, rateLimits } = this.#parts
    const identity = client.identity!
    try {
      // It is asked for before anything is spent on the document.
      rateLimits.take(identity, client.address)
      if (subscriptions > maxSubscriptions) throw invalidInput(`A socket takes at most ${maxSubscriptions} subscriptions`)
      if (jsonLength(variables, maxVariablesCharacters) > maxVariablesCharacters)
        throw invalidInput(`Variables of a subscription have at most ${maxVariablesCharacters} characters`)
      // A character takes about as long as a field of an answer. Short documents too, as nobody has a turn before the next one.
      if (!this.#documents.isKnown(query)) rateLimits.takeCost(identity, client.address, query.length)
      // At once: what is told while it waited for a turn would be missed.
      const prepared = this.#documents.prepare(query)
      if (!('document' in prepared)) return prepared.map((error) => toWireError(toProblem(error), newTraceId(), error))
      const { document } = prepared
      const operation = getOperationAST(document, operationName)
      if (operation?.operation !== 'subscription')
        throw invalidInput('Only subscriptions are served over WebSocket: send queries and mutations with POST')
      prepared.bounds.check(operation, variables)
      const cost = costOfSubscription(prepared.costOf(variables ?? {}), query)
      if (cost > maxSubscriptionCost)
        throw invalidInput(`The subscription costs ${cost}, at most ${maxSubscriptionCost} is taken: ask for fewer fields.`)
      const request = { identity, query, prepared, operationName, variables, cost }
      const accepted: Accepted = { request, client, id, field: fieldOf(operation), trace: readContext(extensions) }
      return { schema, document, operationName, contextValue: accepted }
    } catch (error) {
      return [toWireError(Problem.from(error), newTraceId())]
    }
  }

  /** What is pushed goes to the socket directly; the stream that graphql-ws sees only ends. */
  subscribe({ contextValue }: ExecutionArgs): Promise<AsyncIterable<never> | ExecutionResult> {
    const accepted = contextValue as Accepted
    if (!isTracing()) return this.#subscribe(accepted)
    const { request, field, trace: parent } = accepted
    const attributes = { 'tollgate.operation': field, 'tollgate.environment_id': request.identity.environmentId }
    return inSpan({ name: `graphql ${field}`, kind: 'server', attributes, parent }, async (span) => {
      const answer = await this.#subscribe(accepted)
      if ('errors' in answer) span?.fail(String(answer.errors?.[0]?.extensions.code))
      return answer
    })
  }

  async #subscribe({ request, client, id }: Accepted): Promise<AsyncIterable<never> | ExecutionResult> {
    const cost = request.cost + (isOfOneClient(request.prepared) ? catchUpCost : 0)
    const stream = new SilentStream()
    const head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`)
    client.cost += cost
    try {
      if (client.cost > maxSocketCost)
        throw invalidInput(`All subscriptions of a socket cost at most ${maxSocketCost}: this one would make it ${client.cost}.`)
      const leave = await this.#parts.push.join(request, {
        push: (payload) => client.connection.push({ head, payload, tail }),
        fail: (error) => stream.fail(error),
        startAfresh: () => client.connection.startAfresh(),
      })
      const end = () => {
        client.cost -= cost
        leave()
      }
      stream.ended.then(end, end)
      return stream
    } catch (error) {
      client.cost -= cost
      const [problem, traceId] = [Problem.from(error), newTraceId()]
      logProblem(this.#parts.log, 'subscription', problem, { traceId, environmentId: request.identity.environmentId })
      return { errors: [toWireError(problem, traceId)] }
    }
  }
}

/** A subscription on its way through graphql-ws. */
interface Accepted {
  request: Parameters<Push['join']>[0]
  client: Subscriber
  id: string
  /** The root field. */
  field: string | undefined
  /** That the client goes on with: `traceparent` among the extensions of its message, as a socket has no headers for each. */
  trace: TraceContext | null
}

const tail = Buffer.from('}')
