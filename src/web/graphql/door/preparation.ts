import type { ExecutionArgs, GraphQLError, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import { invalidInput, Problem } from '../../../kernel/problem.js'
import type { Secret } from '../../../platform/config.js'
import { credentialsOf, type Identity, identify, isOperatorKey } from '../../access/auth.js'
import type { RateLimits } from '../../access/rate-limits.js'
import { catalogListSizes } from '../catalog/list-sizes.js'
import { createContext, type RequestContext, type Services } from '../operations/context.js'
import type { Operation } from '../operations/operation.js'
import { Documents, operationOf } from './documents.js'
import { readQuestion } from './kept-answers.js'
import { type CostOf, findLongList, maxCost, maxListItems } from './limits.js'
import type { ReadReport } from './reports.js'
import type { GraphqlRequest, OperationParams } from './request.js'
import { checkText, mayHoldBrokenText } from './text.js'

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
  /** The one state that the answer depends on, as it is held; null: it is not at hand, or there is more to the answer. */
  state: EntitlementState | null
  /** What is reported, when that is all and it could be read; else null. */
  report: ReadReport | null
}

export interface PreparationOptions {
  app: Services
  schema: GraphQLSchema
  rateLimits: RateLimits
  /** Absent: nobody is the operator. */
  operatorKey?: Secret
  /** The state that is at hand, or null. */
  heldState: (environmentId: string, customerId: string, resourceId: string | null) => EntitlementState | null
}

/** A shorter body cannot hold so many items that reading them takes long. */
const longBodyLength = 4_000

/** Finds out who asks and what, and refuses what is not allowed. Nothing is executed here. */
export class Preparation {
  readonly #options: PreparationOptions
  readonly #documents: Documents

  constructor(options: PreparationOptions) {
    this.#options = options
    this.#documents = new Documents(options.schema)
  }

  /** Answers the errors of a document that is refused. */
  async prepare(request: GraphqlRequest, params: OperationParams, operation: Operation): Promise<Asked | readonly GraphQLError[]> {
    const { app, schema, rateLimits, operatorKey } = this.#options
    const { headers, url, bodyText, isOfList = false } = request
    const { query, operationName, variables } = params
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
    const { document, questionVariable, usesDatabase } = prepared
    const definition = operationOf(prepared, operationName)
    operation.field = fieldOf(definition)
    if (mayHoldBrokenText(bodyText)) checkText(variables, document)
    const report = definition ? (prepared.report?.read(variables) ?? null) : null
    // What was read as a report has no list that is too long; what stands beside it may.
    const isAllRead = report !== null && Object.keys(variables ?? {}).length === 1
    const longList = isAllRead || bodyText.length <= longBodyLength ? null : findLongList(variables)
    if (longList !== null) throw invalidInput(`"${longList}" has more than ${maxListItems} items: send several smaller requests.`)
    await this.#checkCost(prepared.costOf, variables ?? {}, identity)
    const state = questionVariable !== null && !isOfList ? this.#stateOf(identity, variables?.[questionVariable]) : null
    const isOperator = isOperatorKey(headers['x-operator-key'], operatorKey)
    const contextValue = createContext({ app, identity, isOperator, operation })
    const args = { schema, document, operationName, variableValues: variables, contextValue }
    return { request, operation, kind: definition?.operation, args, usesDatabase, state, report }
  }

  /** The catalog is looked at only where the usual length of lists does not speak for the document. */
  async #checkCost(costOf: CostOf, variables: Readonly<Record<string, unknown>>, { environmentId }: Identity): Promise<void> {
    if (costOf(variables) <= maxCost) return
    const cost = costOf(variables, catalogListSizes(await this.#options.app.offers.sizes(environmentId)))
    if (cost > maxCost)
      throw invalidInput(`The answer may have ${cost} fields, at most ${maxCost} are given: ask for shorter pages or fewer fields.`)
  }

  /** The state that the question is about, when it is at hand and may be asked for. */
  #stateOf(identity: Identity, variable: unknown): EntitlementState | null {
    const question = readQuestion(variable)
    const isAllowed = identity.kind === 'SERVER' || identity.customerId === question?.customerId
    // Whoever may not ask is refused when the field is resolved.
    return question && isAllowed ? this.#options.heldState(identity.environmentId, question.customerId, question.resourceId) : null
  }
}

/** For introspection only: addresses end up in logs. */
const urlKeyOf = (url: string): string | undefined => new URLSearchParams(url.split('?')[1]).get('apiKey') ?? undefined

function fieldOf(operation: OperationDefinitionNode | undefined): string | undefined {
  const first = operation?.selectionSet.selections.find((node) => node.kind === 'Field')
  return first?.name.value
}
