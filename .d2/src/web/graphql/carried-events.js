/**
 * Event lists that go round graphql-js: coercing a thousand events by their type costs ten times what this reading does. What is not as the schema says
 * goes the ordinary way, which knows the words for it.
 */
import { Kind } from 'graphql';
import { maxListItems } from './limits.js';
import { DateTime } from './scalars.js';
/** The name of the variable that holds the input, when the operation is one `reportEvent` in the way that SDKs send it; else null. */
export function eventsVariableOf(operations) {
    const [operation, ...others] = operations;
    const [field, ...more] = operation?.selectionSet.selections ?? [];
    if (operation?.operation !== 'mutation' || others.length > 0 || more.length > 0 || field?.kind !== Kind.FIELD)
        return null;
    const [argument] = field.arguments ?? [];
    return field.name.value === 'reportEvent' && argument?.value.kind === Kind.VARIABLE ? argument.value.name.value : null;
}
/** The events of a UsageEventsReportInput; null: not all are as the schema says. */
export function readEvents(input) {
    const given = input?.usageEvents;
    if (!Array.isArray(given) || given.length === 0 || given.length > maxListItems)
        return null;
    const events = [];
    for (const one of given) {
        const event = readEvent(one);
        if (!event)
            return null;
        events.push(event);
    }
    return events;
}
function readEvent(given) {
    if (typeof given !== 'object' || given === null)
        return null;
    const { customerId, eventName, idempotencyKey, resourceId, timestamp, dimensions, ...others } = given;
    for (const _ in others)
        return null;
    if (typeof customerId !== 'string' || typeof eventName !== 'string' || typeof idempotencyKey !== 'string')
        return null;
    if (resourceId !== undefined && resourceId !== null && typeof resourceId !== 'string')
        return null;
    const at = timestamp === undefined || timestamp === null ? null : readTime(timestamp);
    if (at === undefined)
        return null;
    return {
        customerId,
        resourceId: resourceId ?? null,
        eventName,
        idempotencyKey,
        timestamp: at,
        dimensions: (dimensions ?? {}),
    };
}
/** Undefined: it is none. */
function readTime(value) {
    try {
        return DateTime.parseValue(value);
    }
    catch {
        return undefined;
    }
}
/** The input without its events, which go beside it. */
export const withoutEvents = (input) => ({ ...input, usageEvents: [] });
//# sourceMappingURL=carried-events.js.map