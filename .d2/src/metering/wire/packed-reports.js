export function packCall({ deadline, items }) {
    return [deadline, ...items.map(packReport)];
}
function packReport(report) {
    const { id, customerId, featureId, value, behavior, resourceId, timestamp, idempotencyKey, dimensions } = report;
    const hasNone = behavior === 'DELTA' && resourceId === null && timestamp === null && idempotencyKey === null && dimensions === null;
    return hasNone
        ? [id, customerId, featureId, value]
        : [id, customerId, featureId, value, behavior, resourceId, timestamp, idempotencyKey, dimensions];
}
export function unpackCall([deadline, ...reports]) {
    return { deadline, items: reports.map(unpackReport) };
}
function unpackReport(packed) {
    const [id, customerId, featureId, value, behavior = 'DELTA', resourceId = null, timestamp = null, idempotencyKey = null, dimensions = null,] = packed;
    return { id, customerId, featureId, value, behavior, resourceId, timestamp, idempotencyKey, dimensions };
}
export function packAnswer(answer) {
    if (!('usages' in answer))
        return answer;
    return answer.usages.map(({ id, currentUsage, periodStart, periodEnd, timestamp }) => [
        id,
        currentUsage,
        periodStart,
        periodEnd,
        timestamp,
    ]);
}
/** `reports`: those of the call. */
export function unpackAnswer(packed, reports) {
    if (!Array.isArray(packed))
        return packed;
    return {
        usages: packed.map(([id, currentUsage, periodStart, periodEnd, timestamp], index) => {
            const { customerId, resourceId, featureId } = reports[index];
            return { id, customerId, resourceId, featureId, currentUsage, periodStart, periodEnd, timestamp };
        }),
    };
}
//# sourceMappingURL=packed-reports.js.map