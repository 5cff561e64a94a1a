import { Problem, timedOut } from '../../kernel/problem.js';
/** Usage is answered as a double and limits reach this far: beyond it whole units would be lost on the wire. */
export const maxUsage = 2 ** 53 - 1;
export function featureNotFound(featureId) {
    return new Problem('NOT_FOUND', 'FEATURE_NOT_FOUND', `Feature "${featureId}" was not found in this environment.`, {
        details: { featureId },
    });
}
export function featureIsMeteredByEvents(featureId) {
    return refused('CANNOT_REPORT_USAGE_FOR_ENTITLEMENT_WITH_METER', `Feature "${featureId}" is metered from raw events: report events instead of usage.`, featureId);
}
export function featureIsNotMetered(featureId) {
    return refused('METERING_NOT_AVAILABLE_FOR_FEATURE_TYPE', `Feature "${featureId}" has no usage: it has no meter.`, featureId);
}
export function negativeDelta(featureId) {
    return refused('USAGE_MEASUREMENT_DIFF_OUT_OF_RANGE', `The usage of feature "${featureId}" only grows: a DELTA must not be negative.`, featureId);
}
export function usageOutOfRange(featureId) {
    return refused('ENTITLEMENT_USAGE_OUT_OF_RANGE', `The usage of feature "${featureId}" would leave the range that can be kept.`, featureId);
}
function refused(reason, message, featureId) {
    return new Problem('FAILED_PRECONDITION', reason, message, { details: { featureId } });
}
export function idempotencyKeyTaken(idempotencyKey) {
    return new Problem('ALREADY_EXISTS', 'DUPLICATED_ENTITY_NOT_ALLOWED', `Another report was already sent with the idempotency key "${idempotencyKey}".`, {
        details: { idempotencyKey },
    });
}
export function usageEventNotFound(idempotencyKey) {
    const message = 'There is no such event. Name it as it was reported: customer, resource, name, idempotency key and, if one was sent, its timestamp.';
    return new Problem('NOT_FOUND', 'USAGE_EVENT_NOT_FOUND', message, { details: { idempotencyKey } });
}
export function measurementNotFound() {
    return new Problem('NOT_FOUND', 'USAGE_MEASUREMENT_NOT_FOUND', 'There is no such measurement in this environment.');
}
export function recomputationNotFound(id) {
    return new Problem('NOT_FOUND', 'USAGE_RECOMPUTATION_NOT_FOUND', 'There is no such recomputation in this environment.', {
        details: { id },
    });
}
export function eventsDropped(keptSince) {
    const startDate = new Date(keptSince).toISOString();
    const message = `Raw events before ${startDate} have been dropped, so usage of that time stays as it was counted: ask for a range from then on.`;
    return new Problem('FAILED_PRECONDITION', 'RAW_EVENTS_DROPPED', message, { details: { startDate } });
}
export function stillBeingCounted() {
    return new Problem('ABORTED', 'STILL_BEING_COUNTED', 'The usage is being counted at this moment. Nothing was changed: try again in a moment.');
}
export function notCountedInTime() {
    return timedOut('The usage was not counted in time, and it will not be: it is safe to send it again.');
}
export function tooMuchWaiting() {
    return new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Too much usage is waiting to be counted. Nothing was counted: send it again in a moment.');
}
export const toPlainProblem = ({ code, reason, message, details }) => ({ code, reason, message, details });
export const fromPlainProblem = ({ code, reason, message, details }) => new Problem(code, reason, message, { details });
/** The problem of a call of which some items are bad, all of them named in `details.items`. */
export function withItems(first, items) {
    return new Problem(first.code, first.reason, first.message, { details: { ...first.details, items } });
}
export const refusedItem = (index, { reason, message }) => ({ index, code: reason, message });
//# sourceMappingURL=problems.js.map