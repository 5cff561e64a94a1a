import {
  createSourceEventStream,
  type DefinitionNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type SelectionNode,
} from 'graphql'
import { FairPlaces } from '../../environment/fair-places.js'
import { newId } from '../../kernel/id.js'
import { atOnceLength } from '../../kernel/json-pieces.js'
import { Problem } from '../../kernel/problem.js'
import { jsonLength } from '../../kernel/weight.js'
import { newTraceId, outsideTrace } from '../../platform/context/tracing.js'
import type { Logger } from '../../platform/logger.js'
import { Counter, Gauge, type Registry } from '../../platform/metrics.js'
import type { ChangeStream } from '../../updates/stream/change-stream.js'
import type { ChangeMessage } from '../../updates/wire/change-message.js'
import type { Identity } from '../access/auth.js'
import type { FairTurns } from '../access/fair-turns.js'
import type { PreparedDocument } from '../graphql/door/documents.js'
import { largeAnswersAtATime } from '../graphql/door/execution.js'
import { assumedListItems, maxCostAtOnce } from '../graphql/door/limits.js'
import { AnswerRoom, answerTooLarge, textOf } from '../graphql/operations/answer-text.js'
import { createContext, type RequestContext, type Services } from '../graphql/operations/context.js'
import { maxErrors, toGraphqlError, toProblem, toWireError } from '../graphql/operations/errors.js'
import { logProblem } from '../graphql/operations/problem-log.js'
import { Turns } from '../graphql/operations/turns.js'
import type { StateChangeEvent } from '../graphql/updates/state-changes.types.js'
import type { ChangeFeed } from './change-feed.js'
import { ListenerLags } from './change-queue.js'
import { maxCustomerCost, maxEnvironmentCost, SubscriptionCosts } from './subscription-costs.js'

/** Sending to so many sockets, or so much, takes some milliseconds. */
const listenersPerTurn = 100
const bytesPerTurn = 4 * 1024 * 1024
/** Long answers that are written and told at a time: until then each takes memory of its own. */
const longAnswers = new FairPlaces(largeAnswersAtATime)

/** Who receives the answers of a broadcast. */
export interface Listener {
  /** The bytes are a GraphQL result as JSON; all listeners get the same ones. */
  push(payload: Buffer): void
  /** The broadcast has failed and will send no more. */
  fail(error: GraphQLError): void
  /** Changes were missed, and the broadcast sends no more. */
  startAfresh(): void
}

/** A subscription as a client sent it. */
export interface SubscriptionRequest {
  identity: Identity
  query: string
  prepared: PreparedDocument
  operationName?: string | null
  variables?: Record<string, unknown> | null
  /** See `costOfSubscription`. */
  cost: number
}

export interface PushOptions {
  app: Services
  schema: GraphQLSchema
  feed: ChangeFeed
  /** What was missed by those who were away. */
  stream: ChangeStream
  turns: FairTurns
  log: Logger
  metrics: Registry
}

/**
 * GraphQL subscriptions, each executed once for everybody who may see the same and sent the same document: a thousand sockets of an environment
 * cost one execution per change.
 */
export class Push {
  readonly #options: PushOptions
  readonly #broadcasts = new Map<string, Broadcast>()
  readonly #costs = new SubscriptionCosts()
  readonly #executed: Counter

  constructor(options: PushOptions) {
    this.#options = options
    const registers = [options.metrics]
    this.#executed = new Counter({
      name: 'tollgate_pushes_executed_total',
      help: 'Changes translated for subscribers, once per environment and document',
      registers,
    })
    new Gauge({
      name: 'tollgate_subscriptions',
      help: 'Distinct GraphQL subscriptions, by environment and document',
      registers,
      collect: collectSize(this.#broadcasts),
    })
  }

  /** Answers what ends the listening. Fails with a Problem when the subscription cannot be made. */
  async join(request: SubscriptionRequest, listener: Listener): Promise<() => void> {
    const key = keyOf(request)
    const broadcast = this.#broadcasts.get(key) ?? this.#start(key, request)
    broadcast.listeners.add(listener)
    const leave = () => {
      broadcast.listeners.delete(listener)
      if (broadcast.listeners.size === 0) this.#end(key, broadcast)
    }
    try {
      await broadcast.started
    } catch (error) {
      leave()
      throw error
    }
    return leave
  }

  #start(key: string, request: SubscriptionRequest): Broadcast {
    const giveBack = this.#takeCost(key, request)
    const controller = new AbortController()
    const source = this.#open(request, controller.signal)
    const broadcast: Broadcast = { listeners: new Set(), controller, started: source }
    controller.signal.addEventListener('abort', giveBack)
    this.#broadcasts.set(key, broadcast)
    // It goes on when whoever began it is answered.
    outsideTrace(() => source.then((changes) => this.#run(key, broadcast, request, changes)).catch(() => this.#end(key, broadcast)))
    return broadcast
  }

  /** Those that nobody can join are of the same few documents: what each of them costs is counted for its socket. */
  #takeCost(key: string, { identity, query, prepared, cost }: SubscriptionRequest): () => void {
    const { environmentId, customerId } = identity
    const name = isOfOneClient(prepared) ? query : key
    const most = customerId === null ? maxEnvironmentCost : maxCustomerCost
    return this.#costs.take(JSON.stringify([environmentId, customerId]), most, { name, cost })
  }

  #end(key: string, broadcast: Broadcast): void {
    if (this.#broadcasts.get(key) === broadcast) this.#broadcasts.delete(key)
    broadcast.controller.abort()
  }

  async #open(
    { identity, prepared, operationName, variables }: SubscriptionRequest,
    signal: AbortSignal,
  ): Promise<AsyncIterable<ChangeMessage>> {
    const { schema } = this.#options
    const contextValue = this.#context(identity, signal)
    const source = await createSourceEventStream({
      schema,
      document: prepared.document,
      operationName,
      variableValues: variables,
      contextValue,
    })
    if (Symbol.asyncIterator in source) return source as AsyncIterable<ChangeMessage>
    throw toProblem((source as ExecutionResult).errors?.[0] ?? new Error('a subscription without a source'))
  }

  async #run(key: string, broadcast: Broadcast, request: SubscriptionRequest, changes: AsyncIterable<ChangeMessage>): Promise<void> {
    const { log, turns } = this.#options
    const { environmentId } = request.identity
    try {
      for await (const change of changes) {
        await turns.take(environmentId)
        const { signal } = broadcast.controller
        const answer = await this.#execute(request, change, signal)
        if (!answer) continue
        const tell = async () => {
          // Whoever waited for a place may have left meanwhile.
          if (!signal.aborted) await this.#tell(broadcast.listeners, await this.#write(answer, environmentId), environmentId)
        }
        if (jsonLength(answer.result, atOnceLength) > atOnceLength) await longAnswers.run(environmentId, tell)
        else await tell()
      }
    } catch (error) {
      if (error instanceof ListenerLags) {
        for (const listener of broadcast.listeners) listener.startAfresh()
        return
      }
      const [problem, traceId] = [Problem.from(error), newTraceId()]
      logProblem(log, 'subscription', problem, { traceId, environmentId: request.identity.environmentId })
      for (const listener of broadcast.listeners) listener.fail(toWireError(problem, traceId))
    } finally {
      this.#end(key, broadcast)
    }
  }

  /** Who joins meanwhile is told too, and knows the change perhaps already. */
  async #tell(listeners: ReadonlySet<Listener>, payload: Buffer, environmentId: string): Promise<void> {
    const perTurn = Math.max(1, Math.min(listenersPerTurn, Math.floor(bytesPerTurn / payload.length)))
    let told = 0
    for (const listener of listeners) {
      if (told > 0 && told % perTurn === 0) await this.#options.turns.take(environmentId)
      listener.push(payload)
      told += 1
    }
  }

  /** Null: nothing to send, as the change means nothing to the subscribers. */
  async #execute(
    { identity, prepared, operationName, variables, cost }: SubscriptionRequest,
    change: ChangeMessage,
    signal: AbortSignal,
  ): Promise<Answer | null> {
    const isLarge = cost * shareOfUsual(change) > maxCostAtOnce
    const turns = isLarge ? new Turns({ givenUp: null }, () => this.#options.turns.take(identity.environmentId)) : null
    const room = new AnswerRoom()
    const contextValue = this.#context(identity, signal, { turns, room })
    const { schema } = this.#options
    this.#executed.inc()
    const result = await execute({
      schema,
      document: prepared.document,
      operationName,
      variableValues: variables,
      rootValue: change,
      contextValue,
      fieldResolver: turns?.fieldResolver,
    })
    const isEmpty = !result.errors && Object.values(result.data ?? {}).every((value) => value === null)
    return isEmpty ? null : { result, room, traceId: contextValue.traceId }
  }

  /** What is larger than an answer may be is refused: the subscribers hear of it, and of the next change. */
  async #write({ result, room, traceId }: Answer, environmentId: string): Promise<Buffer> {
    const nextTurn = () => this.#options.turns.take(environmentId)
    const withErrors = (errors: ExecutionResult['errors']) =>
      errors?.slice(0, maxErrors).map((error) => {
        const problem = toProblem(error)
        logProblem(this.#options.log, 'push', problem, { traceId, environmentId })
        return toWireError(problem, traceId, error)
      })
    try {
      if (room.isExceeded) throw answerTooLarge()
      const text = await textOf({ ...result, errors: withErrors(result.errors) }, room, nextTurn)
      return typeof text === 'string' ? Buffer.from(text) : Buffer.concat(text)
    } catch (error) {
      return Buffer.from(JSON.stringify({ errors: withErrors([toGraphqlError(error)]) }))
    }
  }

  #context(identity: Identity, signal: AbortSignal, answer?: { turns: Turns | null; room: AnswerRoom }): RequestContext {
    const { app, feed, stream } = this.#options
    const { environmentId, customerId } = identity
    const weigh = answer && ((value: unknown) => answer.room.takeValue(value, () => this.#options.turns.take(environmentId)))
    return createContext({
      app,
      identity,
      operation: { traceId: newTraceId(), signal, weigh },
      turns: answer?.turns ?? null,
      listening: {
        changes: (kinds) => feed.changes(environmentId, { kinds, customerId, signal }),
        alerts: () => feed.alerts(environmentId, signal),
        missedSince: (position) => stream.since(environmentId, position),
      },
    })
  }
}

/** What is to be told of a change, as it was executed. */
interface Answer {
  result: ExecutionResult
  room: AnswerRoom
  traceId: string
}

interface Broadcast {
  listeners: Set<Listener>
  controller: AbortController
  /** Resolves when the source is open. */
  started: Promise<unknown>
}

/** Everything the answers depend on. */
function keyOf({ identity, query, prepared, operationName, variables }: SubscriptionRequest): string {
  const own = isOfOneClient(prepared) ? newId() : null
  return JSON.stringify([identity.environmentId, identity.kind, identity.customerId, query, operationName ?? null, variables ?? null, own])
}

/** A subscription with arguments (`stateChanges(after)`) begins with what only its client has to be told, so nobody can join it. */
export const isOfOneClient = ({ document }: PreparedDocument): boolean => document.definitions.some(asksForItsOwn)

function asksForItsOwn(definition: DefinitionNode): boolean {
  const isRoot =
    definition.kind === Kind.OPERATION_DEFINITION ||
    (definition.kind === Kind.FRAGMENT_DEFINITION && definition.typeCondition.name.value === 'Subscription')
  return isRoot && definition.selectionSet.selections.some(hasArguments)
}

function hasArguments(selection: SelectionNode): boolean {
  if (selection.kind === Kind.FIELD) return (selection.arguments?.length ?? 0) > 0
  return selection.kind === Kind.INLINE_FRAGMENT && selection.selectionSet.selections.some(hasArguments)
}

/** How many times as large as its cost says an answer may be, since the state has so many entitlements. */
function shareOfUsual(event: ChangeMessage | StateChangeEvent): number {
  const change = 'live' in event ? event.live : event
  const hasState = 'kind' in change && (change.kind === 'entitlements' || change.kind === 'purge')
  return hasState ? (change.state?.entitlements.length ?? manyEntitlements) / assumedListItems : 1
}

/** Of a state that is loaded when it is needed. */
const manyEntitlements = 100

function collectSize(collection: { size: number }) {
  return function (this: Gauge) {
    this.set(collection.size)
  }
}
