import { withRecords } from '../../platform/list/page.js';
import { Prisma } from '../../platform/postgres.js';
import { pageOfSubscriptions } from '../records/list.js';
import { loadSubscriptions } from '../records/subscriptions.js';
import { advance } from '../rules/advance.js';
/** Beyond it a list is filtered by what is recorded, and the worker has more to worry about. */
const maxOverdueCustomers = 50;
/** The list of an environment's subscriptions. */
export class SubscriptionList {
    #prisma;
    #catalog;
    #time;
    #applyDue;
    constructor(parts) {
        this.#prisma = parts.prisma;
        this.#catalog = parts.catalog;
        this.#time = parts.time;
        this.#applyDue = parts.applyDue;
    }
    /** A page of all subscriptions of an environment, with their status of now. */
    async page(environmentId, request) {
        const now = await this.#time.now(environmentId);
        const wasOverdue = await this.#recordOverdue(environmentId, now);
        const page = await pageOfSubscriptions(this.#prisma, environmentId, request);
        return withRecords(page, async (ids) => {
            const stored = await loadSubscriptions(this.#prisma, this.#catalog, { environmentId, id: { in: ids } });
            const current = wasOverdue ? await this.#advanced(environmentId, stored, now) : stored;
            return new Map(current.map((subscription) => [subscription.id, subscription]));
        });
    }
    /**
     * A list is filtered by what is recorded: what is due is recorded first, as the worker would have done a moment later. Answers whether anything
     * was due; some of it may be left, of customers that are just being changed or when there is too much.
     */
    async #recordOverdue(environmentId, now) {
        const overdue = await this.#prisma.$queryRaw(Prisma.sql `
      SELECT DISTINCT customer_id FROM subscription
      WHERE environment_id = ${environmentId}::uuid AND due_at <= ${new Date(now).toISOString()}::timestamptz LIMIT ${maxOverdueCustomers}`);
        for (const { customer_id } of overdue)
            await this.#applyDue(environmentId, customer_id);
        return overdue.length > 0;
    }
    /** As of now. What is due depends on what else the customer holds. */
    async #advanced(environmentId, subscriptions, now) {
        const customerIds = new Set(subscriptions.map(({ customerId }) => customerId));
        const where = { environmentId, customerId: { in: [...customerIds] }, status: { notIn: ['CANCELED', 'EXPIRED'] } };
        const stored = await loadSubscriptions(this.#prisma, this.#catalog, where);
        const all = [...byCustomer(stored).values()].flatMap((held) => advance(held, now).subscriptions);
        const open = new Map(all.map((subscription) => [subscription.id, subscription]));
        return subscriptions.map((subscription) => open.get(subscription.id) ?? subscription);
    }
}
function byCustomer(subscriptions) {
    const groups = new Map();
    for (const subscription of subscriptions) {
        const group = groups.get(subscription.customerId);
        if (group)
            group.push(subscription);
        else
            groups.set(subscription.customerId, [subscription]);
    }
    return groups;
}
//# sourceMappingURL=list.js.map