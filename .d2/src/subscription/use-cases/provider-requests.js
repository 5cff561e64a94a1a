import { withTaxRates } from '../../billing/tax.js';
import { findCustomer } from '../../customer/records/customers.js';
/** The part of a request that the provider is asked or told of. Never inside a transaction: before it, or after its commit. */
export class ProviderRequests {
    #prisma;
    #provider;
    constructor(parts) {
        this.#prisma = parts.prisma;
        this.#provider = parts.provider;
    }
    /**
     * Before the change is decided. The request comes back with its tax looked up, and the payment method is told, so that the first invoice can be charged
     * from it; `payerRefIds` are those who may pay, the first that is given does. A provider that is away fails the call, and nothing has changed.
     */
    async before(environmentId, request, payerRefIds = []) {
        const { billing, paymentMethodId } = request;
        const resolved = billing ? { ...request, billing: await withTaxRates(this.#provider, environmentId, billing) } : request;
        const refId = payerRefIds.find((payer) => payer);
        const payer = paymentMethodId && refId ? await findCustomer(this.#prisma, environmentId, { refId }) : null;
        // Who is unknown is refused by the change itself.
        if (payer && paymentMethodId)
            await this.#provider.setPaymentMethod({ environmentId, customerId: payer.id }, paymentMethodId);
        return resolved;
    }
    /** After the commit and before the invoice is made. A provider that is away fails the call; the change stays, and the caller sends it again. */
    async after({ environmentId, id, customerId, payingCustomerId }, { billingInformation }) {
        if (!billingInformation)
            return;
        const payer = { environmentId, customerId: payingCustomerId ?? customerId, subscriptionId: id };
        await this.#provider.describeSubscription(payer, billingInformation);
    }
}
//# sourceMappingURL=provider-requests.js.map