import { setTimeout as sleep } from 'node:timers/promises';
import { lockCustomers } from '../../changes/counting.js';
import { invalidInput, Problem } from '../../kernel/problem.js';
import { inPoolTransaction } from '../../platform/transaction.js';
import { Binding, Bindings, placeKey } from '../counting/bindings.js';
import { computeUsage } from '../counting/compute-usage.js';
import { CounterBatch } from '../counting/counter-batch.js';
import { readTime } from '../counting/counter-repository.js';
import { loadMeters } from '../counting/event-repository.js';
import { rollUpEvents } from '../counting/rollup.js';
import { bucketMs, bucketOf, rollUpMeasurements } from '../counting/rollup-repository.js';
import { measurementNotFound, stillBeingCounted, usageEventNotFound } from '../model/problems.js';
import { checkEvent, eventIdentity, reportIdentity } from '../model/report.js';
import { checkUsageValue } from '../model/usage-value.js';
import { changeEvent, changeMeasurement, findEvent, findMeasurement, findRefIds } from './correction-repository.js';
/** How often an event is looked at again that is being counted at this moment, and when the customer's holdings change under a correction. */
const maxAttempts = 20;
const pauseMs = 100;
class TryAgain extends Error {
    name = 'TryAgain';
}
/**
 * Takes back, or replaces, what was reported: by its key, with every number that followed from it, also a largest, a smallest and a number of distinct
 * members. The usage periods concerned are computed anew from what is stored, under the customer's lock. Safe to repeat.
 */
export class Corrections {
    #pool;
    #bindings;
    #changed;
    constructor(parts) {
        this.#pool = parts.pool;
        this.#bindings = new Bindings(parts.loadHoldings);
        this.#changed = parts.changed;
    }
    /** Null dimensions remove the event. Fails with NOT_FOUND when there is no such event. */
    async changeEvent(environmentId, name, dimensions) {
        const checked = checkEvent({ ...name, dimensions: dimensions ?? {} }, await readTime(this.#pool));
        const hash = eventIdentity(environmentId, checked);
        await this.#repeat(async () => {
            const event = await findEvent(this.#pool, environmentId, hash);
            if (!event)
                throw usageEventNotFound(name.idempotencyKey);
            // Whoever counts it may have read it already.
            if (event.isWaiting)
                throw new TryAgain();
            await this.#correct(environmentId, event, event.occurredAt, async (db, meters) => {
                await changeEvent(db, environmentId, event, dimensions);
                return meters.map(({ featureId, featureRefId }) => ({ id: featureId, refId: featureRefId }));
            });
        });
    }
    /** A null value removes the measurement. Fails with NOT_FOUND when there is no such measurement. */
    async changeMeasurement(environmentId, name, value) {
        const checked = value === null ? null : checkUsageValue(value);
        if ('id' in name && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name.id))
            throw invalidInput('id must be the id of a measurement');
        const by = 'id' in name ? { id: name.id } : { hash: reportIdentity(environmentId, name.idempotencyKey) };
        await this.#repeat(async () => {
            const measurement = await findMeasurement(this.#pool, environmentId, by);
            if (!measurement)
                throw measurementNotFound();
            await this.#correct(environmentId, measurement, measurement.occurredAt, async (db) => {
                await changeMeasurement(db, environmentId, measurement.id, checked);
                return [{ id: measurement.featureId, refId: measurement.featureRefId }];
            });
        });
    }
    /** Changes what is stored and computes the features' periods that contain `at`. */
    async #correct(environmentId, of, at, change) {
        const place = await findRefIds(this.#pool, environmentId, of);
        const bindings = await this.#bindingsOf(environmentId, place);
        const batch = await inPoolTransaction(this.#pool, async (db) => {
            const { customers } = await lockCustomers(db, environmentId, [of.customerId]);
            const routed = bindings && routeOf(place, bindings);
            if (routed && customers.get(of.customerId)?.accessVersion !== routed.customer.accessVersion)
                throw new TryAgain();
            const meters = await loadMeters(db, environmentId);
            const features = await change(db, meters);
            // Nobody's usage: the customer is archived.
            if (!routed)
                return null;
            const counters = new CounterBatch(db, environmentId, customers);
            const routes = features.map((feature) => ({ ...routed, feature }));
            await counters.prepare(routes.map((route) => ({ route, at })));
            for (const route of routes)
                counters.recompute(route, at);
            const byFeature = new Map(meters.map((meter) => [meter.featureId, meter]));
            await counters.write((ranges) => computeUsage(db, environmentId, ranges, byFeature));
            const bucket = bucketOf(at);
            await rollUpMeasurements(db, environmentId, features.filter(({ id }) => !byFeature.has(id)).map(({ id }) => ({ ...of, featureId: id, bucket })));
            await rollUpEvents(db, environmentId, features
                .filter(({ id }) => byFeature.has(id))
                .map(({ id }) => ({ ...of, featureId: id, from: bucket, to: bucket + bucketMs, meterVersion: null })), byFeature);
            return counters;
        }).catch((error) => {
            for (const asked of placesOf(place))
                this.#bindings.forget(environmentId, asked);
            throw error;
        });
        batch?.committed();
        this.#changed(environmentId);
    }
    /** Null: the customer is archived. */
    async #bindingsOf(environmentId, place) {
        const loaded = await this.#bindings.load(environmentId, placesOf(place));
        const bindings = [...loaded].flatMap(([key, binding]) => (binding instanceof Binding ? [[key, binding]] : []));
        return bindings.length === loaded.size ? new Map(bindings) : null;
    }
    async #repeat(work) {
        for (let attempt = 1;; attempt++) {
            try {
                return await work();
            }
            catch (error) {
                if (!(error instanceof TryAgain))
                    throw Problem.from(error);
                if (attempt >= maxAttempts)
                    throw stillBeingCounted();
                await sleep(pauseMs);
            }
        }
    }
}
function placesOf(place) {
    return place.resourceId === null ? [place] : [{ ...place, resourceId: null }, place];
}
function routeOf(place, bindings) {
    return {
        customer: bindings.get(placeKey({ ...place, resourceId: null })),
        resource: place.resourceId === null ? null : bindings.get(placeKey(place)),
    };
}
//# sourceMappingURL=corrections.js.map