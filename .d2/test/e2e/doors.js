/** What a host application asks of the two doors, as far as the tests need it. */
import { randomUUID } from 'node:crypto';
/** Numbers of AccessDeniedReason on the wire. */
export const exceedingLimit = 8;
export class Doors {
    platform;
    constructor(platform) {
        this.platform = platform;
    }
    /** A new customer on the plan, without a trial. */
    async provision(planId) {
        const customerId = `${planId}-${randomUUID().slice(0, 8)}`;
        await this.platform().api.call(`mutation ($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { customerId } subscription { status } } }`, { input: { customerId, subscriptionParams: { planId, trialOverrideConfiguration: { isTrial: false } } } });
        return customerId;
    }
    /** GraphQL's answer. Nothing is requested unless said. */
    async entitlement(customerId, featureId, requestedUsage) {
        const options = requestedUsage === undefined ? {} : { options: { requestedUsage } };
        const { entitlement } = await this.platform().api.call(`query ($query: FetchEntitlementQuery!) {
        entitlement(query: $query) { isGranted accessDeniedReason currentUsage usageLimit hasUnlimitedUsage }
      }`, { query: { customerId, featureId, ...options } });
        return entitlement;
    }
    /** The sidecar's answer. */
    metered(customerId, featureId, { requestedUsage, fallback, deadlineMs } = {}) {
        const options = {
            ...(requestedUsage === undefined ? {} : { requested_usage: requestedUsage }),
            ...(fallback === undefined ? {} : { fallback }),
        };
        const request = { customer_id: customerId, feature_id: featureId, options };
        return this.platform().sidecar.call('GetMeteredEntitlement', request, deadlineMs);
    }
    /** Reports through GraphQL; answers the new current usage. */
    async report(input) {
        const { reportUsage } = await this.platform().api.call(`mutation ($input: ReportUsageInput!) { reportUsage(input: $input) { id currentUsage } }`, { input });
        return reportUsage.currentUsage;
    }
    /** Reports through the sidecar; answers the new current usage. The interface has no idempotency key. */
    async reportToSidecar({ customerId, featureId, value }) {
        const request = { customer_id: customerId, feature_id: featureId, value };
        return (await this.platform().sidecar.call('ReportUsage', request)).current_usage;
    }
    /** Usage as GraphQL and as the sidecar tell it now. */
    async usages(customerId, featureId) {
        const [{ currentUsage }, { entitlement }] = await Promise.all([
            this.entitlement(customerId, featureId),
            this.metered(customerId, featureId),
        ]);
        return { graphql: currentUsage, sidecar: entitlement?.current_usage };
    }
}
/** Does the work for each item, by so many callers at once; each takes the next item when it is done with one. */
export async function byCallers(callers, items, work) {
    const rest = items.values();
    await Promise.all(Array.from({ length: callers }, async () => {
        for (const item of rest)
            await work(item);
    }));
}
//# sourceMappingURL=doors.js.map