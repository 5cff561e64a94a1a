import { findCustomer } from '../customer/records/customers.js';
import { inTransaction } from '../platform/postgres.js';
/** Subscriptions with what they make of the entitlements of who holds them. */
export class SubscriptionProvisioning {
    #prisma;
    #provisions;
    #entitlements;
    constructor(parts) {
        this.#prisma = parts.prisma;
        this.#provisions = parts.provisions;
        this.#entitlements = parts.entitlements;
    }
    /** As `ProvisionService.provision`; the state is that of the customer or the resource that the subscription is bound to. */
    async provision(environmentId, request) {
        const { subscription, answer } = await this.#provisions.provision(environmentId, request, (db, customer, provisioned) => this.#stateIn(db, environmentId, customer.refId, provisioned));
        return { subscription, state: answer };
    }
    /** What the customer or the resource is entitled to that the subscription is bound to. */
    stateOf(environmentId, subscription) {
        return inTransaction(this.#prisma, async (db) => {
            const customer = (await findCustomer(db, environmentId, { id: subscription.customerId }));
            return this.#stateIn(db, environmentId, customer.refId, subscription);
        });
    }
    #stateIn(db, environmentId, customerRefId, { resource }) {
        return this.#entitlements.stateIn(db, environmentId, customerRefId, resource?.refId ?? null);
    }
}
//# sourceMappingURL=subscriptions.js.map