import { placeKey } from '../counting/bindings.js';
import { measure } from '../model/aggregate.js';
/** The events of the batches that some version of a meter makes something of, by whose they are. */
export function measureEvents(batches, meters) {
    const versions = meters.flatMap((meter) => meter.versions.map((version) => ({ meter, version })));
    const groups = new Map();
    for (const { places, names, time, placed, named, times, dimensions } of batches) {
        const groupOf = [];
        for (const [index, placeIndex] of placed.entries()) {
            const event = { eventName: names[named?.[index] ?? 0], dimensions: dimensions[index] };
            for (const { meter, version } of versions) {
                const share = measure(version, event);
                if (share === null)
                    continue;
                let group = groupOf[placeIndex];
                if (!group) {
                    const [customerId, customerRefId, , resourceRefId = null] = places[placeIndex];
                    const place = { customerId: customerRefId, resourceId: resourceRefId };
                    const key = placeKey(place);
                    group = groups.get(key) ?? { place, key, customerId, measured: new Map() };
                    groups.set(key, group);
                    groupOf[placeIndex] = group;
                }
                let measured = group.measured.get(version);
                if (!measured) {
                    measured = { meter, events: [] };
                    group.measured.set(version, measured);
                }
                measured.events.push({ at: times?.[index] ?? time, share });
            }
        }
    }
    return [...groups.values()];
}
//# sourceMappingURL=measured-events.js.map