import { advanceCustomers } from '../../changes/counting.js';
import { Gatherer } from '../../platform/gatherer.js';
import { Histogram, latencyBuckets } from '../../platform/metrics.js';
import { inPoolTransaction } from '../../platform/transaction.js';
import { Binding, placeKey } from '../counting/bindings.js';
import { computeUsage } from '../counting/compute-usage.js';
import { CounterBatch, OutdatedSeries } from '../counting/counter-batch.js';
import { claimBatches, loadBatch, loadMeters } from '../counting/event-repository.js';
import { KnownMembers } from '../counting/known-members.js';
import { measureEvents } from './measured-events.js';
/** As with reports: bindings that are outdated that often in a row are somebody else's mistake. */
const maxAttempts = 8;
/** Batches that are counted together. Customers that are in several of them are locked, written and told of once. */
const maxBatches = 128;
/** Reports about the customers of a lot wait for its end, and give up after four seconds. Shorter lots cost more by the event. */
const longLotMs = 1_500;
/** What the batch was planned with is not so (any more): load these places, and begin again. */
class Outdated extends Error {
    places;
    name = 'Outdated';
    constructor(places) {
        super('bindings or meters are outdated');
        this.places = places;
    }
}
/**
 * Counts batches of raw events through the meters of their environment. May run twice for a batch, also at once: the batch's row is deleted in the
 * transaction that counts it, and without the row there is nothing to do.
 *
 * All customers of the batch are locked before the meters are read, also those that no meter wants yet. So a counter that is computed from stored
 * events and a batch that still waits never miss or double an event, whatever meters appear meanwhile.
 */
export class EventAggregation {
    #pool;
    #bindings;
    #changed;
    #seconds;
    #lag;
    #gatherer;
    /** As they were when a batch of the environment was counted last; looked at again under the locks. */
    #meters = new Map();
    #members = new KnownMembers();
    /** `changed` is called after the commit of new usage. */
    constructor(parts) {
        this.#pool = parts.pool;
        this.#bindings = parts.bindings;
        this.#changed = parts.changed;
        this.#gatherer = new Gatherer(maxBatches, (environmentId, jobs) => this.#aggregateTogether(environmentId, jobs), longLotMs);
        const registers = [parts.metrics];
        this.#seconds = new Histogram({
            name: 'tollgate_event_aggregation_seconds',
            help: 'Time to count batches of raw events that were gathered',
            buckets: latencyBuckets,
            registers,
        });
        this.#lag = new Histogram({
            name: 'tollgate_usage_lag_seconds',
            help: 'From the report of raw events to the commit of the usage that they make',
            buckets: latencyBuckets,
            registers,
        });
    }
    /** Ends when the batch is counted, maybe together with others. */
    async aggregate(job) {
        await this.#gatherer.add(job.environmentId, job);
        if (job.reportedAt !== undefined)
            this.#lag.observe(Math.max(0, Date.now() - job.reportedAt) / 1_000);
    }
    async #aggregateTogether(environmentId, jobs) {
        const stopTimer = this.#seconds.startTimer();
        let loaded = new Map();
        for (let attempt = 1;; attempt++) {
            try {
                const hasChanged = await this.#attempt(environmentId, jobs, loaded);
                if (hasChanged)
                    this.#changed(environmentId);
                stopTimer();
                return;
            }
            catch (error) {
                if (!(error instanceof Outdated) || attempt >= maxAttempts)
                    throw error;
                loaded = await this.#bindings.load(environmentId, error.places);
            }
        }
    }
    /** Whether any usage has changed. */
    async #attempt(environmentId, jobs, loaded) {
        const meters = this.#meters.get(environmentId) ?? [];
        const batch = await inPoolTransaction(this.#pool, async (db) => {
            const batches = await claim(db, environmentId, jobs);
            const customerIds = new Set(batches.flatMap(({ places }) => places.map(([customerId]) => customerId)));
            if (customerIds.size === 0)
                return null;
            const wanted = measureEvents(batches, meters);
            const changed = new Set(wanted.map(({ customerId }) => customerId));
            const customers = await advanceCustomers(db, environmentId, [...customerIds].sort().map((id) => ({ id, isChanged: changed.has(id) })));
            await this.#checkMeters(db, environmentId, meters);
            if (wanted.length === 0)
                return null;
            const bindings = this.#bindingsOf(environmentId, wanted, loaded, customers);
            const counters = new CounterBatch(db, environmentId, customers, this.#members);
            const counted = wanted.flatMap((events) => routesOf(events, bindings));
            await counters.prepareTimes(counted.map(({ route, events }) => ({ route, times: events.map(({ at }) => at) })));
            for (const { route, meter, version, events } of counted)
                counters.addEvents(route, meter, version, events);
            const byFeature = new Map(meters.map((meter) => [meter.featureId, meter]));
            await counters
                .write((ranges) => computeUsage(db, environmentId, ranges, byFeature))
                .catch((error) => this.#explain(environmentId, placesOf(wanted), error));
            return counters;
        });
        batch?.committed();
        return batch !== null;
    }
    /** Under the locks, so that nobody computes a counter with a meter that these events were not measured with. */
    async #checkMeters(db, environmentId, known) {
        const meters = await loadMeters(db, environmentId);
        if (JSON.stringify(meters) === JSON.stringify(known))
            return;
        this.#meters.set(environmentId, meters);
        throw new Outdated([]);
    }
    /** By `placeKey`, of the places and of their customers. Fails with Outdated unless all are true under the lock. */
    #bindingsOf(environmentId, wanted, loaded, customers) {
        const places = placesOf(wanted);
        const bindings = new Map();
        let isOutdated = false;
        for (const [key, place] of places) {
            const binding = loaded.get(key) ?? this.#bindings.cached(environmentId, place);
            const isTrue = binding instanceof Binding ? customers.get(binding.customerId)?.accessVersion === binding.accessVersion : binding !== undefined;
            if (isTrue)
                bindings.set(key, binding);
            else {
                isOutdated = true;
                this.#bindings.forget(environmentId, place);
            }
        }
        if (isOutdated)
            throw new Outdated([...places.values()]);
        return bindings;
    }
    #explain(environmentId, places, error) {
        if (!(error instanceof OutdatedSeries))
            throw error;
        for (const place of places.values())
            this.#bindings.forget(environmentId, place);
        throw new Outdated([...places.values()]);
    }
}
/** The batches that nobody has counted. One batch may come in two jobs. */
async function claim(db, environmentId, jobs) {
    const claimed = await claimBatches(db, environmentId, jobs.map(({ batchId }) => batchId));
    const batches = [];
    for (const { batchId, stored } of jobs)
        if (claimed.delete(batchId))
            batches.push(stored ?? (await loadBatch(db, environmentId, batchId)));
    return batches;
}
/** The places and their customers, by `placeKey`. */
function placesOf(wanted) {
    const places = new Map();
    for (const { place, key } of wanted) {
        places.set(key, place);
        if (place.resourceId !== null) {
            const customer = { customerId: place.customerId, resourceId: null };
            places.set(placeKey(customer), customer);
        }
    }
    return places;
}
/** One route per meter that wants something. None for a customer that was archived after the event was stored: the event is kept and counts for nobody. */
function routesOf({ place, key, measured }, bindings) {
    const customer = bindings.get(placeKey({ ...place, resourceId: null }));
    const resource = place.resourceId === null ? null : bindings.get(key);
    if (!(customer instanceof Binding))
        return [];
    const routes = new Map();
    return [...measured].map(([version, { meter, events }]) => {
        const feature = { id: meter.featureId, refId: meter.featureRefId };
        const route = routes.get(meter) ?? { customer, resource: resource instanceof Binding ? resource : null, feature };
        routes.set(meter, route);
        return { route, meter, version, events };
    });
}
//# sourceMappingURL=event-aggregation.js.map