import { LRUCache } from 'lru-cache';
import { customerArchived, customerNotFound, customerResourceNotFound } from '../../../customer/model/problems.js';
import { newId } from '../../../kernel/id.js';
import { Problem } from '../../../kernel/problem.js';
import { isTransient } from '../../../platform/transaction.js';
import { placeKey } from '../../counting/bindings.js';
import { findPlaces, storeEvents, toStoredEvents, toStoredPlace } from '../../counting/event-repository.js';
import { notCountedInTime, refusedItem, toPlainProblem } from '../../model/problems.js';
import { eventIdentity } from '../../model/report.js';
import { deadlineMs } from '../../wire/jobs.js';
/** Of an environment, about 300 bytes each. */
const maxPlaces = 100_000;
const maxEnvironments = 100;
/** Customers that are archived between two attempts, that often in a row, are somebody else's mistake. */
const maxAttempts = 5;
/** After a batch with events that were stored before, so many are expected to have some. */
const carefulBatches = 20;
/**
 * Stores raw events: one statement per batch, which also says that the batch waits to be counted. May run twice for the same batch: identities are
 * claimed in that statement, and an event whose identity is taken was stored before, which is a success.
 */
export class EventIngestion {
    #pool;
    #metrics;
    #log;
    #clock;
    #stored;
    /** Live ones, as they were: the storing statement looks whether they still are. */
    #places = new LRUCache({ max: maxEnvironments });
    #carefulFor = 0;
    /** `stored` is called after the commit with the events that are new. */
    constructor(parts) {
        this.#pool = parts.pool;
        this.#metrics = parts.metrics;
        this.#log = parts.log;
        this.#clock = parts.clock;
        this.#stored = parts.stored;
    }
    /** One answer per call, all committed. A batch that the database refuses is halved, as with reports. Throws what is expected to pass later. */
    async ingest(environmentId, calls, isRepeat) {
        if (isRepeat)
            this.#carefulFor = carefulBatches;
        try {
            return await this.#ingestTogether(environmentId, calls);
        }
        catch (error) {
            if (isTransient(error))
                throw error;
            if (calls.length > 1) {
                const half = calls.length >> 1;
                const first = await this.ingest(environmentId, calls.slice(0, half), isRepeat);
                return [...first, ...(await this.ingest(environmentId, calls.slice(half), isRepeat))];
            }
            this.#log.error({ err: error, environmentId, events: calls[0]?.items.length }, 'events could not be stored');
            this.#metrics.items.inc({ kind: 'event', result: 'refused' }, calls[0]?.items.length ?? 0);
            return [{ problem: toPlainProblem(Problem.from(error)) }];
        }
    }
    async #ingestTogether(environmentId, calls) {
        const stopTimer = this.#metrics.commitSeconds.startTimer({ kind: 'event' });
        let now = await this.#clock.now();
        for (let attempt = 1;; attempt++) {
            const places = await this.#findPlaces(environmentId, calls);
            const plan = planBatch(environmentId, { calls, places, now });
            const refusedAt = plan.events.length === 0 ? null : await this.#store(environmentId, plan);
            if (refusedAt !== null) {
                if (attempt >= maxAttempts)
                    throw new Error('customers of a batch of events do not stay what they are');
                this.#places.delete(environmentId);
                now = refusedAt;
                continue;
            }
            stopTimer();
            for (const [result, count] of Object.entries(plan.sums))
                if (count > 0)
                    this.#metrics.items.inc({ kind: 'event', result }, count);
            return plan.answers;
        }
    }
    /** By `placeKey`; unknown customers are absent. */
    async #findPlaces(environmentId, calls) {
        const known = this.#places.get(environmentId) ?? new LRUCache({ max: maxPlaces });
        this.#places.set(environmentId, known);
        const places = new Map();
        const missing = new Map();
        for (const { items } of calls) {
            for (const place of items) {
                const key = placeKey(place);
                if (places.has(key))
                    continue;
                const found = known.get(key);
                if (found)
                    places.set(key, found);
                else
                    missing.set(key, { customerId: place.customerId, resourceId: place.resourceId });
            }
        }
        if (missing.size === 0)
            return places;
        for (const [key, place] of await findPlaces(this.#pool, environmentId, [...missing.values()])) {
            places.set(key, place);
            if (!(checkPlace(missing.get(key), place) instanceof Problem))
                known.set(key, place);
        }
        return places;
    }
    /** Null when they are stored. Nothing is, and this answers the database's time, when a customer is not live any more or a call has come to its deadline. */
    async #store(environmentId, { events, deadline, sums }) {
        const batchId = newId();
        const mayRepeat = this.#carefulFor > 0;
        const { now, time, isNew } = await storeEvents(this.#pool, environmentId, { batchId, deadline, mayRepeat, events });
        this.#carefulFor = isNew ? carefulBatches : Math.max(0, this.#carefulFor - 1);
        if (time === null)
            return now;
        const fresh = isNew ? events.filter((_, index) => isNew[index]) : events;
        sums.accepted += fresh.length;
        sums.duplicate += events.length - fresh.length;
        this.#metrics.batchSize.observe({ kind: 'event' }, fresh.length);
        if (fresh.length === 0)
            return null;
        const given = fresh.map(({ event, place: { customerId, resourceId } }) => ({
            place: toStoredPlace(customerId, event.customerId, resourceId, event.resourceId),
            name: event.eventName,
            occurredAt: event.timestamp,
            dimensions: event.dimensions,
        }));
        this.#stored({ v: 1, environmentId, batchId, stored: toStoredEvents(time, given), reportedAt: deadline - deadlineMs });
        return null;
    }
}
/** What is to be stored of the calls, and what they are answered when it is. Of two events with one identity the first counts. */
function planBatch(environmentId, { calls, places, now }) {
    const events = new Map();
    const sums = { accepted: 0, duplicate: 0, refused: 0, expired: 0 };
    let earliest = Number.MAX_SAFE_INTEGER;
    const answers = calls.map(({ deadline, items }) => {
        if (now >= deadline) {
            sums.expired += items.length;
            return { problem: toPlainProblem(notCountedInTime()) };
        }
        earliest = Math.min(earliest, deadline);
        const refused = [];
        for (const [index, event] of items.entries()) {
            const place = checkPlace(event, places.get(placeKey(event)));
            if (place instanceof Problem) {
                refused.push(refusedItem(index, place));
                continue;
            }
            const identity = eventIdentity(environmentId, event).toString('latin1');
            if (events.has(identity))
                sums.duplicate += 1;
            else
                events.set(identity, { event, identity, place });
        }
        sums.refused += refused.length;
        return { refused };
    });
    return { events: [...events.keys()].sort().map((identity) => events.get(identity)), answers, deadline: earliest, sums };
}
function checkPlace({ customerId, resourceId }, place) {
    if (!place)
        return customerNotFound(customerId);
    if (place.isArchived)
        return customerArchived(customerId);
    if (resourceId !== null && place.resourceId === null)
        return customerResourceNotFound(customerId, resourceId);
    return place;
}
//# sourceMappingURL=event-ingestion.js.map