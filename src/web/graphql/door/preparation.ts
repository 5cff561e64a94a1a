import type { ExecutionArgs, GraphQLError, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import { invalidInput, Problem } from '../../../kernel/problem.js'
import type { Secret } from '../../../kernel/secret.js'
import type { Holder } from '../../../metering/model/holder.js'
import { credentialsOf, type Identity, identify, isOperatorKey, nobody, operator } from '../../access/auth.js'
import { turns } from '../../access/fair-turns.js'
import { freshnessOf } from '../../access/freshness.js'
import type { RateLimits } from '../../access/rate-limits.js'
import { catalogLists, keptListSizes } from '../catalog/list-sizes.js'
import { isOfState, stateListSizes } from '../entitlement/list-sizes.js'
import { fewFields } from '../operations/answer-text.js'
import { createContext, type RequestContext, type Services } from '../operations/context.js'
import type { Operation } from '../operations/operation.js'
import { Turns } from '../operations/turns.js'
import { Documents, fieldOf, operationOf } from './documents.js'
import { type KeptAnswers, readQuestion } from './kept-answers.js'
import { type KnownQuestion, KnownQuestions } from './known-questions.js'
import { assumedListItems, type CostOf, maxCost, maxCostAtOnce, maxFreeStateCost, maxNameLength } from './limits.js'
import type { ReadReport } from './reports.js'
import { type Asker, type GraphqlRequest, isPlainHead, type OperationParams, type RequestHead } from './request.js'

/** What a request asks for, by somebody who may be answered. */
export interface Asked {
  request: GraphqlRequest
  operation: Operation
  /** Undefined: the request does not say which operation of its document it means. */
  kind: OperationDefinitionNode['operation'] | undefined
  /** For graphql-js. */
  args: ExecutionArgs & { contextValue: RequestContext }
  /** It may send statements, which are given up with it, and change what others must hear of before it is answered. */
  usesDatabase: boolean
  /** Its answer takes long to make. */
  isLarge: boolean
  /** Its answer has no more fields than `fewFields`, whatever is found. */
  isOfFew: boolean
  /** Fields that the answer may have, as far as that is known. */
  cost: number
  /** The one state that the answer depends on, as it is held; null: it is not at hand, or there is more to the answer. */
  state: EntitlementState | null
  /** What is reported, when that is all and it could be read; else null. */
  report: ReadReport | null
}

/** A request that is not read yet. */
export type KnownRequest = Pick<GraphqlRequest, 'headers' | 'bodyText'> & { asker: Asker }

export interface PreparationOptions {
  app: Services
  schema: GraphQLSchema
  rateLimits: RateLimits
  /** Absent: nobody is the operator. */
  operatorKey?: Secret
  /** The state that is at hand, or null. */
  heldState: (environmentId: string, customerId: string, resourceId: string | null, maxAgeMs?: number) => EntitlementState | null
}

/** What was answered to the same request about the same state, which was all that there was to find out then. */
export interface KnownAnswer {
  text: string
  /** The root field. */
  field: string
}

/** Parsed and validated in less than a millisecond. */
const shortDocumentLength = 1_000
/** After these many errors in its variables a client knows enough. */
const executionOptions = { maxCoercionErrors: 20 }

/** Finds out who asks and what, and refuses what is not allowed. Nothing is executed here. */
export class Preparation {
  readonly #options: PreparationOptions
  readonly #documents: Documents
  readonly #questions = new KnownQuestions()
  readonly #listSizes: ReturnType<typeof keptListSizes>

  constructor(options: PreparationOptions) {
    this.#options = options
    this.#listSizes = keptListSizes(options.app.offers)
    this.#documents = new Documents(options.schema)
  }

  /** Memory that kept documents take. */
  get keptBytes(): number {
    return this.#documents.bytes
  }

  /** Memory that known questions take. */
  get questionBytes(): number {
    return this.#questions.bytes
  }

  /** What the request asks for, when its text alone says it; undefined: it has to be read. */
  questionIn(bodyText: string): KnownQuestion | undefined {
    return this.#questions.find(bodyText)
  }

  /** What was answered to the question; null: there is more to find out than that, so the request is to be prepared. */
  answerKnown({ holder, field }: KnownQuestion, { headers, asker, bodyText }: KnownRequest, kept: KeptAnswers): KnownAnswer | null {
    const { identity } = asker
    const asksMore = headers['x-consistency'] !== undefined || headers['x-max-staleness-ms'] !== undefined
    // A key in the address is good for nothing else.
    if (!isPlainHead(headers) || !headers['x-api-key'] || asksMore || !turns.takeNow(identity.environmentId)) return null
    const state = this.#stateOf(identity, holder)
    const text = state && kept.find(state, bodyText)
    return text ? { text, field } : null
  }

  /**
   * Who asks, when that may be: before anything is spent on what is asked. Takes one request of the asker's rate. Fails with UNAUTHENTICATED, and with
   * RESOURCE_EXHAUSTED.
   */
  async admit({ headers, url, address }: RequestHead): Promise<Asker> {
    const { app, rateLimits, operatorKey } = this.#options
    const credentials = credentialsOf(headers)
    const isOperator = isOperatorKey(headers['x-operator-key'], operatorKey)
    const apiKey = credentials.apiKey || urlKeyOf(url)
    if (!apiKey && !isOperator && headers['x-operator-key'])
      throw new Problem(
        'UNAUTHENTICATED',
        'UNAUTHENTICATED',
        'The operator key is not valid: it is what the web process has as OPERATOR_KEY.',
      )
    const identity = !apiKey && isOperator ? operator : await identify(app.environments, { ...credentials, apiKey }, address)
    rateLimits.take(identity, address)
    return { identity, isOperator }
  }

  /** Answers the errors of a document that is refused. */
  prepare(request: GraphqlRequest, params: OperationParams, operation: Operation): Promise<Asked | readonly GraphQLError[]>
  /** `kept`: where the answer may be. */
  prepare(
    request: GraphqlRequest,
    params: OperationParams,
    operation: Operation,
    kept: KeptAnswers,
  ): Promise<Asked | KnownAnswer | readonly GraphQLError[]>
  async prepare(
    request: GraphqlRequest,
    params: OperationParams,
    operation: Operation,
    kept?: KeptAnswers,
  ): Promise<Asked | KnownAnswer | readonly GraphQLError[]> {
    const { app, schema, rateLimits } = this.#options
    const { headers, address, isOfList = false } = request
    const { query, operationName, variables } = params
    const { identity: asker, isOperator } = request.asker ?? (await this.admit(request))
    if (asker !== operator) operation.environmentId = asker.environmentId
    // Hundreds of requests may come in one round, also on one connection.
    if (!turns.takeNow(asker.environmentId)) await turns.take(asker.environmentId)
    const prepared =
      query.length > shortDocumentLength && !this.#documents.isKnown(query)
        ? await this.#documents.prepareInTurns(query, asker.environmentId, (cost) => rateLimits.takeCost(asker, address, cost))
        : this.#documents.prepare(query)
    const isIntrospection = 'document' in prepared && prepared.introspection === 'only'
    // A key in the address is good for nothing else.
    const identity = isIntrospection || headers['x-api-key'] || asker === operator ? asker : nobody()
    if (!('document' in prepared)) return prepared
    if (prepared.introspection !== 'none' && identity.kind !== 'SERVER')
      throw new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'Introspection needs a server key.')
    const { document, questionVariable, usesDatabase } = prepared
    if (operationName && operationName.length > maxNameLength)
      throw invalidInput(`operationName has ${operationName.length} characters: at most ${maxNameLength} are taken.`, {
        path: 'operationName',
      })
    const definition = operationOf(prepared, operationName)
    operation.field = fieldOf(definition)
    operation.isChange = definition?.operation === 'mutation'
    const freshness = freshnessOf(headers, { identity, address, rateLimits })
    const holder = questionVariable !== null && !isOfList ? readQuestion(variables?.[questionVariable]) : null
    const state = holder && this.#stateOf(identity, holder, freshness?.maxAgeMs)
    const text = state && kept?.find(state, request.bodyText)
    if (holder && text) {
      const { field = '' } = operation
      this.#questions.remember(request.bodyText, { holder, field })
      return { text, field }
    }
    const valueCost = prepared.bounds.check(definition, variables)
    const report = definition ? (prepared.report?.read(variables) ?? null) : null
    const { cost: fieldCost, isKnown } = await this.#costOf(prepared.costOf, variables ?? {}, identity, state)
    // A query makes something of all its values at once; mutations come one after the other, and their bodies are paid for.
    const cost = fieldCost + (definition?.operation === 'query' ? valueCost : 0)
    const isLarge = cost > maxCostAtOnce
    if (cost > (state && isKnown ? maxFreeStateCost : maxCostAtOnce)) rateLimits.takeCost(identity, address, cost)
    const inTurns = isLarge || !isKnown ? new Turns(operation, () => turns.take(identity.environmentId)) : null
    const contextValue = createContext({ app, identity, isOperator, address, operation, turns: inTurns, freshness })
    const fieldResolver = inTurns?.fieldResolver
    const args = { schema, document, operationName, variableValues: variables, contextValue, fieldResolver, options: executionOptions }
    const isOfFew = isKnown && fieldCost <= fewFields
    return { request, operation, kind: definition?.operation, args, usesDatabase, isLarge, isOfFew, cost, state, report }
  }

  /**
   * How many fields the answer may have: with the lengths of the catalog's lists on average, and of the state's. What is over the limit is refused. `isKnown`: no list
   * can be longer than was counted with.
   */
  async #costOf(
    costOf: CostOf,
    variables: Readonly<Record<string, unknown>>,
    { environmentId }: Identity,
    state: EntitlementState | null,
  ): Promise<{ cost: number; isKnown: boolean }> {
    const usual = costOf(variables)
    const lists = [...costOf.lists]
    const isKnown = lists.every((list) => state !== null && isOfState(list))
    if (isKnown && usual * shareOfUsual(state) <= maxCostAtOnce) return { cost: usual, isKnown }
    const ofState = state ? stateListSizes(state) : null
    const ofCatalog = lists.some((list) => catalogLists.has(list)) ? await this.#listSizes.fetch(environmentId) : null
    const cost = costOf(variables, (type, field) => ofState?.(type, field) ?? ofCatalog?.(type, field))
    if (cost > maxCost)
      throw invalidInput(`The answer may have ${cost} fields, at most ${maxCost} are given: ask for shorter pages or fewer fields.`)
    return { cost, isKnown }
  }

  /** The state that a question is about, when it is at hand and may be asked for. */
  #stateOf(identity: Identity, { customerId, resourceId }: Holder, maxAgeMs?: number): EntitlementState | null {
    // Whoever may not ask is refused when the field is resolved.
    if (identity.kind !== 'SERVER' && identity.customerId !== customerId) return null
    return this.#options.heldState(identity.environmentId, customerId, resourceId, maxAgeMs)
  }
}

/** How many times as large as is assumed an answer about the state can be. */
function shareOfUsual(state: EntitlementState | null): number {
  if (state === null) return 1
  return Math.max(assumedListItems, state.entitlements.length, state.next?.entitlements.length ?? 0) / assumedListItems
}

/** For introspection only: addresses end up in logs. */
const urlKeyOf = (url: string): string | undefined => new URLSearchParams(url.split('?')[1]).get('apiKey') ?? undefined
