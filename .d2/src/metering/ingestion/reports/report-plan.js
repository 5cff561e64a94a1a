import { Binding, placeKey } from '../../counting/bindings.js';
import { featureIsMeteredByEvents, featureIsNotMetered, featureNotFound, idempotencyKeyTaken, negativeDelta, refusedItem, withItems, } from '../../model/problems.js';
import { reportBody, reportIdentity } from '../../model/report.js';
/** What becomes of each call, in order: all of its items are counted or none. Deadlines are another matter. */
export function planCalls(environmentId, calls, facts, bindings) {
    // The keys of the batch: a call that is refused takes none.
    const claimed = new Map(facts.keys);
    return calls.map(({ items }) => {
        const planned = [];
        const refused = [];
        const ofCall = new Map();
        let first;
        for (const [index, item] of items.entries()) {
            const route = routeOf(item, facts, bindings);
            const result = 'route' in route ? planItem(environmentId, item, route, facts, (hash) => ofCall.get(hash) ?? claimed.get(hash)) : route;
            if ('problem' in result) {
                first ??= result.problem;
                refused.push(refusedItem(index, result.problem));
            }
            else {
                planned.push(result);
                if (result.key && !result.isRepeat)
                    ofCall.set(result.key.hash.toString('hex'), { bodyHash: result.key.bodyHash.toString('hex'), measurementId: item.id });
            }
        }
        if (first)
            return { problem: withItems(first, refused) };
        for (const [hash, key] of ofCall)
            claimed.set(hash, key);
        return { items: planned };
    });
}
function routeOf(item, facts, bindings) {
    const customer = bindings.get(placeKey({ customerId: item.customerId, resourceId: null }));
    const resource = item.resourceId === null ? null : bindings.get(placeKey(item));
    if (!(customer instanceof Binding))
        return { problem: customer };
    if (resource !== null && !(resource instanceof Binding))
        return { problem: resource };
    const feature = facts.features.get(item.featureId);
    if (!feature)
        return { problem: featureNotFound(item.featureId) };
    return { route: { customer, resource, feature }, feature };
}
function planItem(environmentId, item, { route, feature }, facts, find) {
    if (feature.meterType === 'None')
        return { problem: featureIsNotMetered(item.featureId) };
    if (feature.isMeteredByEvents)
        return { problem: featureIsMeteredByEvents(item.featureId) };
    if (feature.meterType === 'Incremental' && item.behavior === 'DELTA' && item.value.startsWith('-'))
        return { problem: negativeDelta(item.featureId) };
    const planned = { item, route, feature, measurementId: item.id, isRepeat: facts.stored.has(item.id), key: null };
    if (item.idempotencyKey === null)
        return planned;
    const key = { hash: reportIdentity(environmentId, item.idempotencyKey), bodyHash: reportBody(item) };
    const earlier = find(key.hash.toString('hex'));
    if (!earlier)
        return { ...planned, key };
    if (earlier.bodyHash !== key.bodyHash.toString('hex'))
        return { problem: idempotencyKeyTaken(item.idempotencyKey) };
    return { ...planned, measurementId: earlier.measurementId, isRepeat: true };
}
//# sourceMappingURL=report-plan.js.map