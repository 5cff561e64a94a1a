import { lockCustomers, recordCounted } from '../../changes/counting.js';
import { winnerPeriodAt } from '../../entitlement/rules/holdings.js';
import { Binding, placeKey } from '../counting/bindings.js';
import { computeUsage } from '../counting/compute-usage.js';
import { CounterBatch } from '../counting/counter-batch.js';
import { writeCounters } from '../counting/counter-write-repository.js';
import { loadMeters } from '../counting/event-repository.js';
import { onBuckets, rollUpEvents } from '../counting/rollup.js';
import { startOfRange } from '../model/series.js';
import { findKeptSince } from '../retention/partition-repository.js';
import { findCountersOf } from './correction-repository.js';
import { findEventSpans, findResourcesOf } from './recomputation-repository.js';
/**
 * Counts the customers' usage of a feature anew from the events that are stored, in the usage periods that touch [from, to): of the series that win now
 * also where there is no counter yet, of others where there is one. Rollups follow. Answers how many counters stay as they are because events that
 * they count have been dropped. Costs as much as the customers have events there, and holds their locks meanwhile.
 */
export async function recomputeCustomers(db, bindings, { environmentId, featureId, meterVersion, from, to }, customers) {
    const { customers: locked } = await lockCustomers(db, environmentId, customers.map(({ id }) => id));
    const meter = (await loadMeters(db, environmentId)).find((known) => known.featureId === featureId);
    if (!meter)
        return 0;
    const keptSince = await findKeptSince(db, environmentId);
    const step = { db, environmentId, meter, meterVersion, from, to, keptSince, locked };
    const those = customers.filter(({ id }) => locked.has(id));
    const ids = those.map(({ id }) => id);
    const spans = await findEventSpans(db, environmentId, { customerIds: ids, from: latest(from, keptSince), to });
    const counted = await findCountersOf(db, environmentId, { featureId, customerIds: ids, from: null, to: null });
    const withUsage = new Set([...spans, ...counted].map(({ customerId }) => customerId));
    const winning = await countWinning(step, bindings, those, { spans, withUsage });
    const others = await countOthers(step, ids);
    const changed = new Set([...winning.ranges, ...others.ranges, ...spans].map(({ customerId }) => customerId));
    const ranges = [...changed].map((customerId) => {
        const own = [...winning.ranges, ...others.ranges].filter((range) => range.customerId === customerId);
        const start = [...own.map((range) => range.from), latest(from, keptSince)];
        const end = [...own.map((range) => range.to), to];
        const whole = {
            from: start.includes(null) ? null : Math.min(...start),
            to: end.includes(null) ? null : Math.max(...end),
        };
        return { customerId, featureId, meterVersion, ...onBuckets(whole) };
    });
    await rollUpEvents(db, environmentId, ranges, new Map([[featureId, meter]]));
    // A change of access: workers remember the version of the meter with the binding.
    const told = those.filter(({ id }) => changed.has(id)).map(({ id, refId }) => ({ id, refId, version: locked.get(id).version }));
    await recordCounted(db, environmentId, {
        versions: told.map(({ id, version }) => ({ customerId: id, version, isAccess: true })),
        access: told.map(({ refId, version }) => ({ customerId: refId, version })),
        usages: [],
    });
    return winning.left + others.left;
}
/**
 * The periods of winning series in which there are events, and the one that runs now: it is counted with the new version although nothing came yet. Who has
 * no usage gets a counter that says so, and is not told.
 */
async function countWinning(step, bindings, customers, { spans, withUsage }) {
    const { db, environmentId, meter, meterVersion, locked, from, to } = step;
    const refIds = new Map(customers.map(({ id, refId }) => [id, refId]));
    const resources = await findResourcesOf(db, environmentId, { featureId: meter.featureId, customerIds: [...refIds.keys()] });
    const times = new Map();
    const timesOf = (customerId, resourceId) => {
        const place = { customerId: refIds.get(customerId), resourceId };
        const entry = times.get(placeKey(place)) ?? { place, at: [locked.get(customerId).version] };
        times.set(placeKey(place), entry);
        return entry.at;
    };
    for (const { id } of customers)
        timesOf(id, null);
    for (const { customerId, resourceRefId } of resources)
        timesOf(customerId, resourceRefId);
    for (const { customerId, resourceRefId, first, last } of spans)
        timesOf(customerId, resourceRefId).push(first, last);
    const places = [...times.values()].map(({ place }) => place);
    // Under the locks what is read now is true, and what was remembered may not be.
    const forget = () => places.forEach((place) => void bindings.forget(environmentId, place));
    forget();
    const loaded = await bindings.load(environmentId, places);
    const feature = { id: meter.featureId, refId: meter.featureRefId };
    const wanted = [];
    const done = { ranges: [], left: 0 };
    for (const { place, at: all } of times.values()) {
        const customer = loaded.get(placeKey({ ...place, resourceId: null }));
        const resource = place.resourceId === null ? null : loaded.get(placeKey(place));
        if (!(customer instanceof Binding))
            continue;
        const route = { customer, resource: resource instanceof Binding ? resource : null, feature };
        const periodsAt = periodsOf(route, locked.get(customer.customerId).version);
        const seen = new Set();
        for (const at of all) {
            const periods = periodsAt(at).filter((period) => (from === null || period.to === null || period.to > from) && (to === null || period.start === null || period.start < to));
            const key = periods.map(({ start }) => start).join('|');
            if (periods.length === 0 || seen.has(key))
                continue;
            seen.add(key);
            if (periods.some((period) => isCutOff(step, period.from)))
                done.left += 1;
            else {
                wanted.push({ route, at });
                if (withUsage.has(customer.customerId))
                    done.ranges.push(...periods.map((period) => ({ customerId: customer.customerId, from: period.from, to: period.to })));
            }
        }
    }
    const batch = new CounterBatch(db, environmentId, locked);
    await batch.prepare(wanted);
    for (const { route, at } of wanted) {
        if (withUsage.has(route.customer.customerId))
            batch.recompute(route, at);
        else
            batch.current(route);
    }
    await batch.write((ranges) => computeUsage(db, environmentId, ranges.map((range) => ({ ...range, meterVersion })), new Map([[meter.featureId, meter]])));
    // What they remember of counters is of before.
    forget();
    return done;
}
/** Answers the periods, of the customer's series and of the resource's own, in which an instant counts for somebody who is entitled now. */
function periodsOf(route, now) {
    const sources = (route.resource ? [route.customer, route.resource] : [route.customer]).flatMap((binding) => {
        const winner = binding.seriesOf(binding.decisionAt(now), route.feature.id)?.winner;
        return winner?.series ? [{ winner, series: winner.series, known: [] }] : [];
    });
    return (at) => sources.flatMap(({ winner, series, known }) => {
        if (series.anchor !== null && at < series.anchor)
            return [];
        let period = known.find(({ start, to }) => (start === null || start <= at) && (to === null || at < to));
        if (!period) {
            // Finding a period in a time zone costs over 100 µs.
            const { start, end } = winnerPeriodAt(winner, at);
            period = { start, from: startOfRange(series, { start, end }), to: end };
            known.unshift(period);
        }
        return [period];
    });
}
/** The counters that there are and that were not counted anew as those of winning series. */
async function countOthers(step, customerIds) {
    const { db, environmentId, meter, meterVersion, from, to, locked } = step;
    const { featureId } = meter;
    const found = await findCountersOf(db, environmentId, { featureId, customerIds, from, to });
    const missed = found.filter(({ customerId, version }) => version !== locked.get(customerId).version);
    const counters = missed.filter((counter) => !isCutOff(step, startOfRange(counter, counter)));
    const ranges = counters.map((counter) => {
        const { customerId, resourceId, start, end } = counter;
        return { customerId, resourceId, featureId, from: startOfRange(counter, counter), to: end, periodStart: start, meterVersion };
    });
    const computed = await computeUsage(db, environmentId, ranges, new Map([[featureId, meter]]));
    await writeCounters(db, environmentId, {
        counters: counters.map((counter, index) => {
            const { value, events, meter: counted } = computed[index];
            return { ...counter, how: 'replace', value, events, version: locked.get(counter.customerId).version, meter: counted };
        }),
        members: computed.flatMap(({ members }, counter) => members.map((member) => ({ ...member, counter }))),
    });
    return { ranges, left: missed.length - counters.length };
}
/** Whether events that count from there on have been dropped. */
function isCutOff({ keptSince }, start) {
    return keptSince !== null && (start === null || start < keptSince);
}
/** Null: without bound. */
function latest(a, b) {
    return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
//# sourceMappingURL=recompute-customers.js.map