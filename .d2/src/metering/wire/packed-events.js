export function packEvents(events) {
    const names = new Map();
    const named = events.map(({ eventName }) => {
        const index = names.get(eventName) ?? names.size;
        names.set(eventName, index);
        return index;
    });
    return {
        customers: events.map((event) => event.customerId),
        resources: orNone(events.map((event) => event.resourceId)),
        names: [...names.keys()],
        named: names.size > 1 ? named : null,
        keys: events.map((event) => event.idempotencyKey),
        times: orNone(events.map((event) => event.timestamp)),
        dimensions: events.map((event) => event.dimensions),
    };
}
export function unpackEvents({ customers, resources, names, named, keys, times, dimensions }) {
    return keys.map((idempotencyKey, index) => ({
        customerId: customers[index],
        resourceId: resources?.[index] ?? null,
        eventName: names[named?.[index] ?? 0],
        idempotencyKey,
        timestamp: times?.[index] ?? null,
        dimensions: dimensions[index],
    }));
}
/** Null when there is none. */
export function orNone(values) {
    return values.some((value) => value !== null) ? values : null;
}
//# sourceMappingURL=packed-events.js.map