import { z } from 'zod';
const applyDueSchema = z.object({ v: z.literal(1), environmentId: z.string(), customerId: z.string() });
/**
 * Wakes the transitions worker when something of a customer (our id) is due; delayed until that instant. Only a wake-up: what is due is read from
 * PostgreSQL, and the sweep finds it when the job was lost.
 */
export const applyDueTransitions = {
    queue: 'subscription-transitions',
    name: 'apply-due',
    version: 1,
    parse: (data) => applyDueSchema.parse(data),
};
//# sourceMappingURL=jobs.js.map