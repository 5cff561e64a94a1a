import { lockCustomers } from '../../changes/counting.js';
import { inPoolTransaction } from '../../platform/transaction.js';
import { findRefIds } from '../corrections/correction-repository.js';
import { Binding, Bindings, placeKey } from './bindings.js';
import { computeUsage } from './compute-usage.js';
import { CounterBatch } from './counter-batch.js';
import { loadMeters } from './event-repository.js';
/**
 * Gives a counter to current usage that has none and that every reading would else compute again: a series that has begun to win, or a meter that has
 * come, after the last report. Changes no usage. May run twice, also at once.
 */
export class UsageFilling {
    #pool;
    #loadHoldings;
    constructor({ pool, loadHoldings }) {
        this.#pool = pool;
        this.#loadHoldings = loadHoldings;
    }
    async fill({ environmentId, customerId, resourceId }) {
        await inPoolTransaction(this.#pool, async (db) => {
            const { customers } = await lockCustomers(db, environmentId, [customerId]);
            const locked = customers.get(customerId);
            if (!locked)
                return;
            const place = await findRefIds(db, environmentId, { customerId, resourceId });
            // Of its own: under the lock they are true, and nobody has to be told what they have learned.
            const routes = await this.#routesOf(environmentId, place, locked.version);
            const batch = new CounterBatch(db, environmentId, customers);
            await batch.prepare(routes.map((route) => ({ route, at: null })));
            for (const route of routes)
                batch.current(route);
            const meters = new Map((await loadMeters(db, environmentId)).map((meter) => [meter.featureId, meter]));
            await batch.write((ranges) => computeUsage(db, environmentId, ranges, meters));
        });
    }
    /** One for each feature that is measured by the place itself. */
    async #routesOf(environmentId, place, now) {
        const customerPlace = { ...place, resourceId: null };
        const bindings = await new Bindings(this.#loadHoldings).load(environmentId, [customerPlace, place]);
        const customer = bindings.get(placeKey(customerPlace));
        const own = bindings.get(placeKey(place));
        if (!(customer instanceof Binding) || !(own instanceof Binding))
            return [];
        return [...own.decisionAt(now).winners.values()].flatMap(({ series, entitlement: { feature } }) => series && series.resourceId === own.resourceId
            ? [{ customer, resource: place.resourceId === null ? null : own, feature: { id: feature.id, refId: feature.refId } }]
            : []);
    }
}
//# sourceMappingURL=usage-filling.js.map