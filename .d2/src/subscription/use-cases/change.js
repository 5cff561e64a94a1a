import { invalidInput } from '../../kernel/problem.js';
import { SubscriptionRecords } from '../records/frame.js';
import { onlyUnit } from '../rules/content.js';
import { refusal } from '../rules/lifecycle.js';
import { cancelSchedule, decideMigration, decideUpdate } from '../rules/update.js';
import { latestVersions } from './latest-versions.js';
import { References } from './references.js';
/** Changes of a subscription that is there. What waits, and what is answered, is the subscription itself. */
export class SubscriptionChangeService {
    #catalog;
    #records;
    #references;
    #provider;
    constructor(parts) {
        this.#catalog = parts.catalog;
        this.#records = new SubscriptionRecords(parts);
        this.#references = new References(parts);
        this.#provider = parts.provider;
    }
    /** Safe to repeat. */
    async update(environmentId, asked) {
        const request = await this.#provider.before(environmentId, asked);
        const updated = await this.#records.change(environmentId, request.subscriptionRefId, (subscription, { db, customer: { now } }) => this.decide(db, subscription, request, now), request.billing);
        await this.#provider.after(updated, request);
        return updated;
    }
    /** The subscription after the update, which is not made. */
    async decide(db, subscription, request, now) {
        const update = await this.#resolve(db, subscription, request);
        return decideUpdate({ subscription, update, now });
    }
    /** Takes back every scheduled change, and a scheduled cancellation. Safe to repeat. */
    cancelSchedule(environmentId, subscriptionRefId) {
        return this.#records.change(environmentId, subscriptionRefId, (subscription, { customer: { now } }) => cancelSchedule(subscription, now));
    }
    /** Fails with SUBSCRIPTION_ALREADY_ON_LATEST_PLAN when nothing newer was published. */
    migrateToLatest(environmentId, subscriptionRefId, time) {
        return this.#records.change(environmentId, subscriptionRefId, async (subscription, { db, customer: { now } }) => {
            const latest = await latestVersions(db, this.#catalog, subscription);
            return decideMigration({ subscription, latest, time, now });
        });
    }
    /** Says who pays; null: its own customer. Entitlements stay. Safe to repeat. */
    delegate(environmentId, subscriptionRefId, payingCustomerRefId) {
        return this.#records.change(environmentId, subscriptionRefId, async (subscription, { db, customer }) => {
            const refused = refusal(subscription, 'update', 'delegated');
            if (refused)
                throw refused;
            return { ...subscription, payingCustomerId: await this.#references.payer(db, environmentId, payingCustomerRefId, customer.id) };
        });
    }
    async #resolve(db, subscription, request) {
        const { environmentId } = subscription;
        const update = { scheduleStrategy: request.scheduleStrategy ?? null };
        if (request.addons)
            update.addons = await this.#references.addons(db, environmentId, request.addons);
        const quantities = await this.#references.quantities(db, environmentId, request.quantities ?? []);
        if (request.unitQuantity !== null && request.unitQuantity !== undefined)
            quantities.push({ ...onlyUnit(subscription.plan), quantity: request.unitQuantity });
        if (quantities.length > 0)
            update.quantities = quantities;
        if (request.ownEntitlements) {
            const named = await this.#named(db, subscription, request.ownEntitlements);
            update.ownEntitlements = await this.#references.ownEntitlements(db, environmentId, named);
        }
        if (request.additionalMetaData !== undefined)
            update.additionalMetaData = request.additionalMetaData;
        if (request.salesforceId !== undefined)
            update.salesforceId = request.salesforceId;
        if (request.cancellationDate !== undefined)
            update.cancellationDate = request.cancellationDate;
        if (typeof request.trialEndDate === 'number')
            update.trialEndDate = request.trialEndDate;
        if (request.billingPeriod)
            update.billingPeriod = request.billingPeriod;
        if (request.billingCycleAnchor)
            update.billingCycleAnchor = request.billingCycleAnchor;
        if (request.budget !== undefined)
            update.budget = request.budget;
        return update;
    }
    /** Each by its feature: who names the id of a held one means its feature. */
    async #named(db, { environmentId, ownEntitlements }, asked) {
        const features = [...(await this.#catalog.features(db, environmentId)).values()];
        return asked.map(({ id, featureRefId, ...own }) => {
            const held = ownEntitlements.find((other) => other.id === id);
            const refId = featureRefId ?? features.find((feature) => feature.id === held?.featureId)?.refId;
            if (!refId)
                throw invalidInput('Name the feature of each subscription entitlement, or the id of one that is held.', {
                    path: 'subscriptionEntitlements',
                });
            return { ...own, featureRefId: refId };
        });
    }
}
//# sourceMappingURL=change.js.map