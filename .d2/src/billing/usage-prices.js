import { findAccounts } from './records/invoices.js';
import { chargesOf } from './rules/charges.js';
/** What the subscriptions charge usage by, agreed prices in place; by our id, those that were never charged left out. */
export async function findUsagePrices(db, environmentId, subscriptions) {
    const accounts = await findAccounts(db, environmentId, subscriptions.map(({ id }) => id));
    return new Map(subscriptions.flatMap((subscription) => {
        const terms = accounts.get(subscription.id)?.account.terms;
        if (!terms)
            return [];
        return [[subscription.id, chargesOf(subscription, terms).usage.map(({ price }) => ({ featureId: price.featureId, price }))]];
    }));
}
//# sourceMappingURL=usage-prices.js.map