import { findUnfinished } from './records/intents.js';
import { findAccounts, findInvoice, findInvoices, findLatestInvoices } from './records/invoices.js';
/** What many subscriptions are answered with, in a number of statements that does not depend on how many they are. All ids are ours. */
export class BillingReads {
    #prisma;
    constructor({ prisma }) {
        this.#prisma = prisma;
    }
    async ofSubscriptions(environmentId, ids) {
        const accounts = await findAccounts(this.#prisma, environmentId, [...ids]);
        const invoices = await findLatestInvoices(this.#prisma, environmentId, [...accounts.keys()]);
        return ids.map((id) => ({
            terms: accounts.get(id)?.account.terms ?? null,
            latestInvoice: invoices.get(id) ?? null,
            syncError: accounts.get(id)?.syncError ?? null,
        }));
    }
    /** By the provider's identifier; null: unknown. */
    invoice(environmentId, billingId) {
        return findInvoice(this.#prisma, environmentId, { billingId });
    }
    /** Calls of the provider that wait or were given up, the oldest first; 100 at most. */
    unfinishedCalls(environmentId) {
        return findUnfinished(this.#prisma, environmentId, 100);
    }
    /** Every invoice of a subscription with its lines, the newest first; also those that the provider does not have yet. */
    invoices(environmentId, subscriptionId) {
        return findInvoices(this.#prisma, environmentId, [subscriptionId]);
    }
}
//# sourceMappingURL=reads.js.map