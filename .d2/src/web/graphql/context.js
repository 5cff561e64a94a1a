import DataLoader from 'dataloader';
import { invalidInput } from '../../kernel/problem.js';
import { createCatalogLoaders } from './catalog-loaders.js';
class OperationContext {
    app;
    identity;
    isOperator;
    now = Date.now();
    changes;
    missedSince;
    events;
    #operation;
    #loaders;
    constructor({ app, identity, isOperator = false, operation, events = null, listening = notListening }) {
        this.app = app;
        this.identity = identity;
        this.isOperator = isOperator;
        this.#operation = operation;
        this.changes = listening.changes;
        this.missedSince = listening.missedSince;
        this.events = events;
    }
    get traceId() {
        return this.#operation.traceId;
    }
    get signal() {
        return this.#operation.signal;
    }
    get loaders() {
        this.#loaders ??= createLoaders(this.app, this.identity.environmentId);
        return this.#loaders;
    }
    forgetLoaded() {
        this.#loaders = undefined;
    }
}
export const createContext = (facts) => new OperationContext(facts);
const refuse = () => {
    throw invalidInput('Subscriptions are served over WebSocket');
};
const notListening = { changes: refuse, missedSince: refuse };
/** How many customers a coupon is answered with: the first page of a list. */
const shownCustomers = 10;
function createLoaders(app, environmentId) {
    return {
        ...createCatalogLoaders(app, environmentId),
        customers: new DataLoader((ids) => app.customers.byIds(environmentId, ids)),
        timeOf: new DataLoader((ids) => Promise.all(ids.map((id) => app.environments.now(id)))),
        billingOfSubscription: new DataLoader((ids) => app.billingReads.ofSubscriptions(environmentId, ids)),
        budgetExceeded: new DataLoader((subscriptions) => app.budgets.budgetsExceeded(environmentId, subscriptions)),
        paymentMethodOfCustomer: new DataLoader(async (ids) => {
            const methods = await app.billingProvider.findPaymentMethods(environmentId, ids);
            return ids.map((id) => methods.get(id) ?? null);
        }),
        customersOfCoupon: new DataLoader((ids) => app.customers.ofCoupons(environmentId, ids, shownCustomers)),
        subscriptionsOfCustomer: new DataLoader((ids) => app.subscriptionReads.ofCustomers(environmentId, ids)),
        promotionalOfCustomer: new DataLoader((ids) => app.promotional.held(environmentId, ids)),
        trialedPlansOfCustomer: new DataLoader((ids) => app.subscriptionReads.trialedPlans(environmentId, ids)),
        trialEligibilityOfCustomer: new DataLoader((ids) => app.subscriptionReads.eligibility(environmentId, ids)),
    };
}
//# sourceMappingURL=context.js.map