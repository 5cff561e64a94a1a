/**
 * Event lists that go round graphql-js: coercing a thousand events by their type costs ten times what this reading does. What is not as the schema says
 * goes the ordinary way, which knows the words for it.
 */
import { Kind, type OperationDefinitionNode } from 'graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import type { Dimensions, UsageEvent } from '../../../metering/model/report.js'
import { DateTime } from '../schema/scalars.js'
import { maxListItems } from './limits.js'

/** The name of the variable that holds the input, when the operation is one `reportEvent` in the way that SDKs send it; else null. */
export function eventsVariableOf(operations: readonly OperationDefinitionNode[]): string | null {
  const [operation, ...others] = operations
  const [field, ...more] = operation?.selectionSet.selections ?? []
  if (operation?.operation !== 'mutation' || others.length > 0 || more.length > 0 || field?.kind !== Kind.FIELD) return null
  const [argument] = field.arguments ?? []
  return field.name.value === 'reportEvent' && argument?.value.kind === Kind.VARIABLE ? argument.value.name.value : null
}

/** The events of a UsageEventsReportInput; null: not all are as the schema says. */
export function readEvents(input: unknown): UsageEvent[] | null {
  const given: unknown = (input as { usageEvents?: unknown } | null | undefined)?.usageEvents
  if (!Array.isArray(given) || given.length === 0 || given.length > maxListItems) return null
  const events: UsageEvent[] = []
  for (const one of given as unknown[]) {
    const event = readEvent(one)
    if (!event) return null
    events.push(event)
  }
  return events
}

function readEvent(given: unknown): UsageEvent | null {
  if (typeof given !== 'object' || given === null) return null
  const { customerId, eventName, idempotencyKey, resourceId, timestamp, dimensions, ...others } = given as Record<string, unknown>
  for (const _ in others) return null
  if (typeof customerId !== 'string' || typeof eventName !== 'string' || typeof idempotencyKey !== 'string') return null
  if (resourceId !== undefined && resourceId !== null && typeof resourceId !== 'string') return null
  const at = timestamp === undefined || timestamp === null ? null : readTime(timestamp)
  if (at === undefined) return null
  return {
    customerId,
    resourceId: resourceId ?? null,
    eventName,
    idempotencyKey,
    timestamp: at,
    dimensions: (dimensions ?? {}) as Dimensions,
  }
}

/** Undefined: it is none. */
function readTime(value: unknown): EpochMs | undefined {
  try {
    return DateTime.parseValue(value)
  } catch {
    return undefined
  }
}

/** The input without its events, which go beside it. */
export const withoutEvents = (input: unknown): object => ({ ...(input as object), usageEvents: [] })
