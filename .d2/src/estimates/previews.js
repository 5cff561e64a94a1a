import { customerArchived, customerNotFound } from '../customer/model/problems.js';
import { findCustomer } from '../customer/records/customers.js';
import { findOwner, hasTrialedOrPaid, loadOpenSubscriptions, loadSubscriptions } from '../subscription/records/subscriptions.js';
import { advance } from '../subscription/rules/advance.js';
import { subscriptionNotFound } from '../subscription/rules/problems.js';
import { changesOf, decideProvision } from '../subscription/rules/provision.js';
import { isFinal } from '../subscription/rules/subscription.js';
import { References } from '../subscription/use-cases/references.js';
/** Changes of subscriptions that are only asked about. Reads only: `db` is a transaction that reads one snapshot and may be one that cannot write. */
export class SubscriptionPreviews {
    #catalog;
    #time;
    #changes;
    #references;
    constructor(parts) {
        this.#catalog = parts.catalog;
        this.#time = parts.time;
        this.#changes = parts.changes;
        this.#references = new References(parts);
    }
    async provision(db, environmentId, request) {
        const customer = await this.#customer(db, environmentId, { refId: request.customerRefId });
        const { now, open, due } = await this.#advanced(db, customer);
        const resolved = await this.#references.request(db, customer, request, { isDryRun: true });
        const isTrialUsed = await hasTrialedOrPaid(db, environmentId, customer.id, resolved.product.id);
        const decision = decideProvision({ request: resolved, held: open, isTrialUsed, now });
        const changes = changesOf(decision, open, now);
        const before = decision.kind === 'create' ? changes.find((change) => change.before?.status === 'ACTIVE')?.before : changes.at(-1)?.before;
        const { scheduleId } = resolved;
        return { customer, now, due, changes, subscription: decision.subscription, before: before ?? null, decision, scheduleId };
    }
    async update(db, environmentId, request) {
        const { subscription: before, ...held } = await this.held(db, environmentId, request.subscriptionRefId);
        const after = await this.#changes.decide(db, before, request, held.now);
        const { customer, now, due } = held;
        return { customer, now, due, changes: [{ before, after, at: now, isRenewal: false }], subscription: after, before };
    }
    /** A subscription with its status of now, and what time will do to it until its billing period is over. */
    async held(db, environmentId, refId) {
        const found = await findOwner(db, environmentId, refId);
        if (!found)
            throw subscriptionNotFound(refId);
        const customer = await this.#customer(db, environmentId, { id: found.customerId });
        const { now, open, due, all } = await this.#advanced(db, customer);
        const held = all.find(({ id }) => id === found.id);
        const [ended] = held ? [] : await loadSubscriptions(db, this.#catalog, { environmentId, id: found.id });
        return { customer, now, due, open, subscription: (held ?? ended) };
    }
    /** What a customer holds now. */
    async open(db, customer) {
        return (await this.#advanced(db, customer)).open;
    }
    async #customer(db, environmentId, by) {
        await this.#catalog.readsSnapshot(db, environmentId);
        const customer = await findCustomer(db, environmentId, by);
        if (!customer)
            throw customerNotFound('refId' in by ? by.refId : by.id);
        if (customer.archivedAt !== null)
            throw customerArchived(customer.refId);
        return customer;
    }
    async #advanced(db, { environmentId, id }) {
        const now = await this.#time.now(environmentId);
        const stored = await loadOpenSubscriptions(db, this.#catalog, environmentId, id);
        const advanced = advance(stored, now);
        return {
            now,
            all: advanced.subscriptions,
            open: advanced.subscriptions.filter(({ status }) => !isFinal(status)),
            due: toChanges(advanced),
        };
    }
}
/** What time did, as changes to be billed. */
export const toChanges = ({ moved }) => moved.map(({ before, after, at, trigger, executed }) => ({
    before,
    after,
    at,
    isRenewal: trigger === 'renewal',
    agreed: executed && 'agreed' in executed.change ? (executed.change.agreed?.billingAgreement ?? null) : null,
}));
//# sourceMappingURL=previews.js.map