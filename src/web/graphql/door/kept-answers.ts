import { Kind, type OperationDefinitionNode } from 'graphql'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import { textBytes } from '../../../kernel/weight.js'
import type { Holder } from '../../../metering/model/holder.js'
import { maxRequestLength } from './known-questions.js'

/** Queries whose answer depends on one entitlement state and on nothing else. */
export const fieldsOfOneState: ReadonlySet<string> = new Set(['cachedEntitlements', 'entitlement', 'entitlementV2', 'entitlementsState'])

/** A longer answer is made anew: some of them would take the room of the states themselves. */
const maxAnswerLength = 64 * 1024
/** Of a place in the map. */
const placeBytes = 60

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

/** Room for what is kept of a held state; false: it is not to be kept. */
export type GrowState = (state: EntitlementState, bytes: number) => boolean

/** Answers by the text of the request, each for as long as the state that it was made of is held: that is as long as it is true. */
export class KeptAnswers {
  readonly #ofState = new WeakMap<EntitlementState, Map<string, string>>()
  readonly #grow: GrowState

  constructor(grow: GrowState) {
    this.#grow = grow
  }

  find(state: EntitlementState, request: string): string | undefined {
    return this.#ofState.get(state)?.get(request)
  }

  keep(state: EntitlementState, request: string, answer: string): void {
    if (request.length > maxRequestLength || answer.length > maxAnswerLength) return
    const answers = this.#ofState.get(state) ?? new Map<string, string>()
    if (answers.has(request) || !this.#grow(state, placeBytes + textBytes(request) + textBytes(answer))) return
    this.#ofState.set(state, answers.set(request, answer))
  }
}
