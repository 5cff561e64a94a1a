import { Kind, type OperationDefinitionNode } from 'graphql'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import type { Holder } from '../../../metering/model/holder.js'

/** Queries whose answer depends on one entitlement state and on nothing else. */
export const fieldsOfOneState: ReadonlySet<string> = new Set(['cachedEntitlements', 'entitlement', 'entitlementV2', 'entitlementsState'])

/** Beyond these many different questions about one state, all its answers are made anew. */
const maxQuestions = 40
/** A longer request is not one that is sent over and over. */
const maxRequestLength = 4_000

/** The name of the variable that holds the question, when the operation asks one of one state in the way that SDKs do; else null. */
export function questionVariableOf(operations: readonly OperationDefinitionNode[]): string | null {
  const [operation, ...others] = operations
  const [field, ...more] = operation?.selectionSet.selections ?? []
  if (operation?.operation !== 'query' || others.length > 0 || more.length > 0 || field?.kind !== Kind.FIELD) return null
  const [argument] = field.arguments ?? []
  if (!fieldsOfOneState.has(field.name.value) || argument?.value.kind !== Kind.VARIABLE) return null
  return argument.value.name.value
}

/** Null: it is not well-formed, asks to be counted, or names an environment, which is for the resolver. */
export function readQuestion(value: unknown): Holder | null {
  if (typeof value !== 'object' || value === null) return null
  const { customerId, resourceId = null, environmentId, options } = value as Record<string, unknown>
  if (typeof customerId !== 'string' || (resourceId !== null && typeof resourceId !== 'string') || environmentId) return null
  if ((options as { shouldTrack?: unknown } | null | undefined)?.shouldTrack) return null
  return { customerId, resourceId }
}

/** Answers by the text of the request, each for as long as the state that it was made of is held: that is as long as it is true. */
export class KeptAnswers {
  readonly #ofState = new WeakMap<EntitlementState, Map<string, string>>()

  find(state: EntitlementState, request: string): string | undefined {
    return this.#ofState.get(state)?.get(request)
  }

  keep(state: EntitlementState, request: string, answer: string): void {
    if (request.length > maxRequestLength) return
    const answers = this.#ofState.get(state) ?? new Map<string, string>()
    if (answers.size >= maxQuestions) answers.clear()
    this.#ofState.set(state, answers.set(request, answer))
  }
}
