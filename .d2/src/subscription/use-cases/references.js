import { customerArchived, customerNotFound } from '../../customer/model/problems.js';
import { findCustomer } from '../../customer/records/customers.js';
import { ensureResource, findResource } from '../../customer/records/resources.js';
import { checkRefId, newId } from '../../kernel/id.js';
import { invalidInput } from '../../kernel/problem.js';
import { onlyUnit } from '../rules/content.js';
import { addonNotFound, planNotFound } from '../rules/problems.js';
/** From the caller's identifiers to records, in the caller's transaction. Every method throws a Problem about what is unknown or named twice. */
export class References {
    #catalog;
    constructor({ catalog }) {
        this.#catalog = catalog;
    }
    async addons(db, environmentId, asked) {
        const addons = [];
        for (const { addonRefId, quantity } of asked) {
            const version = await this.#catalog.latestVersion(db, environmentId, 'ADDON', addonRefId);
            if (!version)
                throw addonNotFound(addonRefId);
            if (addons.some((other) => other.version.id === version.id))
                throw namedTwice('Add-on', addonRefId, { addonId: addonRefId });
            addons.push({ id: newId(), version, quantity });
        }
        return addons;
    }
    async quantities(db, environmentId, asked) {
        const quantities = [];
        for (const { featureRefId, quantity } of asked) {
            const { id: featureId } = await this.#feature(db, environmentId, featureRefId);
            if (quantities.some((other) => other.featureId === featureId))
                throw namedTwice('Feature', featureRefId, { featureId: featureRefId });
            quantities.push({ featureId, featureRefId, quantity });
        }
        return quantities;
    }
    async ownEntitlements(db, environmentId, asked) {
        const entitlements = [];
        for (const { featureRefId, ...own } of asked) {
            const feature = await this.#feature(db, environmentId, featureRefId);
            const details = { featureId: featureRefId };
            if (entitlements.some((other) => other.featureId === feature.id))
                throw namedTwice('Feature', featureRefId, details);
            if (own.hasUnlimitedUsage && own.usageLimit !== null && own.usageLimit !== undefined)
                throw invalidInput(`The entitlement to "${featureRefId}" is unlimited or has a limit, not both.`, details);
            if (own.resetPeriod && feature.meterType !== 'Incremental')
                throw invalidInput(`The usage of "${featureRefId}" is never reset: leave resetPeriod out.`, details);
            entitlements.push({
                id: newId(),
                featureId: feature.id,
                usageLimit: own.usageLimit ?? null,
                hasUnlimitedUsage: own.hasUnlimitedUsage ?? false,
                hasSoftLimit: own.hasSoftLimit ?? false,
                enumValues: own.enumValues ?? [],
                resetPeriod: own.resetPeriod ?? null,
                resetRule: own.resetPeriod ? (own.resetRule ?? 'SubscriptionStart') : null,
            });
        }
        return entitlements;
    }
    /** Null takes the payer back. A customer that pays for itself is no payer. */
    async payer(db, environmentId, refId, customerId) {
        if (refId === null)
            return null;
        const payer = await findCustomer(db, environmentId, { refId });
        if (!payer)
            throw customerNotFound(refId);
        if (payer.archivedAt !== null)
            throw customerArchived(refId);
        return payer.id === customerId ? null : payer.id;
    }
    /** Of the customer; `isDryRun`: one that is not there is only made up. */
    async resource(db, environmentId, customerId, refId, { isDryRun = false } = {}) {
        if (isDryRun)
            return (await findResource(db, environmentId, customerId, refId)) ?? { id: newId(), refId };
        return ensureResource(db, environmentId, customerId, checkRefId(refId, 'resourceId'));
    }
    async request(db, customer, request, { isDryRun = false } = {}) {
        const { environmentId } = customer;
        const plan = await this.#catalog.latestVersion(db, environmentId, 'PLAN', request.planRefId);
        if (!plan)
            throw planNotFound(request.planRefId);
        const quantities = await this.quantities(db, environmentId, request.quantities ?? []);
        if (request.unitQuantity !== null && request.unitQuantity !== undefined) {
            const unit = onlyUnit(plan);
            if (quantities.some(({ featureId }) => featureId === unit.featureId))
                throw namedTwice('Feature', unit.featureRefId, { path: 'unitQuantity' });
            quantities.push({ ...unit, quantity: request.unitQuantity });
        }
        const id = newId();
        return {
            id,
            refId: request.subscriptionRefId ? checkRefId(request.subscriptionRefId, 'subscriptionId') : id,
            environmentId,
            customerId: customer.id,
            payingCustomerId: await this.payer(db, environmentId, request.payingCustomerRefId ?? null, customer.id),
            timeZone: customer.timeZone ?? 'UTC',
            resource: request.resourceRefId ? await this.resource(db, environmentId, customer.id, request.resourceRefId, { isDryRun }) : null,
            plan,
            product: (await this.#catalog.productRules(db, environmentId, plan.productId)),
            addons: await this.addons(db, environmentId, request.addons ?? []),
            quantities,
            ownEntitlements: await this.ownEntitlements(db, environmentId, request.ownEntitlements ?? []),
            billingPeriod: request.billingPeriod ?? null,
            billingCountryCode: request.billingCountryCode ?? null,
            startDate: request.startDate ?? null,
            endDate: request.endDate ?? null,
            cancellationDate: request.cancellationDate ?? null,
            scheduleStrategy: request.scheduleStrategy ?? null,
            scheduleId: newId(),
            skipTrial: request.skipTrial ?? false,
            trialOverride: request.trialOverride
                ? {
                    isTrial: request.trialOverride.isTrial,
                    trialEndDate: request.trialOverride.trialEndDate ?? null,
                    trialEndBehavior: request.trialOverride.trialEndBehavior ?? null,
                }
                : null,
            billingCycleAnchor: request.billingCycleAnchor ?? null,
            budget: request.budget ?? null,
            additionalMetaData: request.additionalMetaData ?? null,
            billingId: request.billingId ?? null,
            crmId: request.crmId ?? null,
            salesforceId: request.salesforceId ?? null,
            billing: request.billing ?? null,
        };
    }
    async #feature(db, environmentId, refId) {
        const feature = (await this.#catalog.features(db, environmentId)).get(refId);
        if (!feature)
            throw invalidInput(`Feature "${refId}" was not found.`, { featureId: refId });
        return feature;
    }
}
const namedTwice = (what, refId, details) => invalidInput(`${what} "${refId}" is named twice: give one quantity.`, details);
//# sourceMappingURL=references.js.map