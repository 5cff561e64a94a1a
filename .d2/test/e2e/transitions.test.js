import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import pg from 'pg';
import { eventually } from '../support/eventually.js';
import { usePlatform } from '../support/platform.js';
import { Doors } from './doors.js';
const featureId = 'api-calls';
describe('what time and changes bring about', function () {
    this.timeout(30_000);
    const platform = usePlatform();
    const doors = new Doors(platform);
    it('a trial ends at its instant on both doors while the transitions worker is down, and the record agrees when it is back', async () => {
        const customerId = await doors.provision('team');
        const [paid, trial] = [10_000, null];
        /** The answers of both doors, and between which instants they were given. */
        const ask = async () => {
            const from = Date.now();
            const [graphql, grpc] = await Promise.all([doors.entitlement(customerId, featureId), doors.metered(customerId, featureId)]);
            expect(grpc.is_fallback).to.equal(false);
            const limit = (isUnlimited, value) => (isUnlimited ? trial : value);
            return {
                graphql: limit(graphql.hasUnlimitedUsage, graphql.usageLimit),
                grpc: limit(grpc.entitlement.is_unlimited, grpc.entitlement.usage_limit),
                from,
                to: Date.now(),
            };
        };
        const recorded = () => storedStatuses(platform().file.databaseUrl, customerId);
        let killed;
        await platform().whileFrozen('subscription-transitions', async () => {
            const end = Date.now() + 1_500;
            await platform().api.call(`mutation ($input: ProvisionSubscriptionInput!) { provisionSubscriptionV2(input: $input) { subscription { status } } }`, {
                input: {
                    customerId,
                    planId: 'business',
                    trialOverrideConfiguration: {
                        isTrial: true,
                        trialEndDate: new Date(end).toISOString(),
                        trialEndBehavior: 'CANCEL_SUBSCRIPTION',
                    },
                },
            });
            await eventually('the sidecar to know of the trial', async () => (await ask()).grpc === trial, 1_400);
            let [before, after] = [0, 0];
            while (after < 20) {
                const { graphql, grpc, from, to } = await ask();
                // An answer that was on its way at the instant may be either.
                if (to < end) {
                    expect([graphql, grpc], 'before').to.deep.equal([trial, trial]);
                    before += 1;
                }
                else if (from >= end) {
                    expect([graphql, grpc], 'after').to.deep.equal([paid, paid]);
                    after += 1;
                }
                await sleep(10);
            }
            expect(before).to.be.above(0);
            expect(await recorded()).to.deep.equal({ business: 'IN_TRIAL', team: 'ACTIVE' });
            killed = platform().kill('subscription-transitions');
        });
        await killed.back();
        await eventually('the end to be recorded', async () => (await recorded()).business === 'EXPIRED');
        expect(await recorded()).to.deep.equal({ business: 'EXPIRED', team: 'ACTIVE' });
        expect(await ask()).to.include({ graphql: paid, grpc: paid });
    });
    it('a report reaches the external cache', async () => {
        const { redisUrl } = platform().file;
        const customerId = await doors.provision('team');
        const usage = await doors.report({ customerId, featureId, value: 2.5 });
        const cache = new Redis(`${redisUrl}/1`);
        try {
            const entity = `production:c_${customerId}`;
            const isThere = async () => JSON.parse((await cache.get(`${entity}:f_${featureId}`)) ?? '{}').currentUsage === usage;
            await eventually('the usage key', isThere);
            const entry = JSON.parse(await eventually('the entry', () => cache.get(entity)));
            expect(entry[featureId].calculatedEntitlement).to.include({ usageLimit: 10_000, hasUnlimitedUsage: false });
        }
        finally {
            cache.disconnect();
        }
    });
});
/** What is recorded, by plan: the doors would answer the status that time has made of it. */
async function storedStatuses(databaseUrl, customerId) {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
        const { rows } = await client.query(`select package.ref_id as plan, subscription.status
       from subscription
       join customer on customer.environment_id = subscription.environment_id and customer.id = subscription.customer_id
       join package_version on package_version.environment_id = subscription.environment_id and package_version.id = subscription.plan_version_id
       join package on package.environment_id = package_version.environment_id and package.id = package_version.package_id
       where customer.ref_id = $1`, [customerId]);
        return Object.fromEntries(rows.map(({ plan, status }) => [plan, status]));
    }
    finally {
        await client.end();
    }
}
//# sourceMappingURL=transitions.test.js.map