import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { usePlatform } from '../support/platform.js';
import { Doors, exceedingLimit } from './doors.js';
/** Beside the example catalog: what a document leaves out stays. */
const catalog = {
    features: [{ refId: 'trickle', type: 'NUMBER', meter: 'Incremental' }],
    products: [{ refId: 'limits' }],
    plans: [{ refId: 'one-a-month', product: 'limits', entitlements: [{ feature: 'trickle', limit: 1, resetPeriod: 'MONTH' }] }],
};
describe('a limit of 1', () => {
    const platform = usePlatform();
    const doors = new Doors(platform);
    before(async () => {
        await platform().api.call(`mutation ($input: JSON!) { applyCatalog(input: $input) { refId action } }`, { input: catalog });
    });
    it('grants 0.1 ten times and denies the eleventh, on both doors', async () => {
        const customerId = await doors.provision('one-a-month');
        const askBoth = (requestedUsage) => Promise.all([doors.entitlement(customerId, 'trickle', requestedUsage), doors.metered(customerId, 'trickle', { requestedUsage })]);
        for (let n = 1; n <= 10; n++) {
            const [graphql, grpc] = await askBoth(0.1);
            expect(graphql, `GraphQL, ${n}`).to.include({ isGranted: true, accessDeniedReason: null, usageLimit: 1 });
            expect(grpc, `gRPC, ${n}`).to.include({ has_access: true, is_fallback: false });
            const report = { customerId, featureId: 'trickle', value: 0.1 };
            // The shortest double is the exact one: 0.3, and not 0.30000000000000004.
            expect(await (n % 2 ? doors.report(report) : doors.reportToSidecar(report))).to.equal(n / 10);
            await eventually('the sidecar to know', async () => (await doors.usages(customerId, 'trickle')).sidecar === n / 10);
        }
        const [graphql, grpc] = await askBoth(0.1);
        expect(graphql).to.include({ isGranted: false, accessDeniedReason: 'RequestedUsageExceedingLimit', currentUsage: 1 });
        expect(grpc).to.include({ has_access: false, is_fallback: false, access_denied_reason: exceedingLimit });
        expect(grpc.entitlement).to.include({ current_usage: 1, usage_limit: 1 });
        for (const nothing of [0, undefined]) {
            const [graphqlAtLimit, grpcAtLimit] = await askBoth(nothing);
            expect(graphqlAtLimit).to.include({ isGranted: true, accessDeniedReason: null });
            expect(grpcAtLimit).to.include({ has_access: true, is_fallback: false });
        }
    });
});
//# sourceMappingURL=limit.test.js.map