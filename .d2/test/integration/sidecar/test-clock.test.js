import { expect } from 'chai';
import { runSidecar, until } from '../../contract/grpc/harness.js';
import { post } from '../web/front-door.js';
import { openWholePlatform } from '../web/whole-platform.js';
const catalog = `
features: [{ refId: calls, type: NUMBER, meter: Incremental }]
products: [{ refId: desk, settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free } }]
plans:
  - { refId: free, product: desk, entitlements: [{ feature: calls, limit: 10, resetPeriod: MONTH }] }
  - refId: pro
    product: desk
    defaultTrial: { duration: 14, units: DAY, endBehavior: CANCEL_SUBSCRIPTION }
    entitlements: [{ feature: calls, limit: 1000, resetPeriod: MONTH }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 50 }]
`;
/** A host application that tests a year of billing in a second asks its sidecar on the way. */
describe('a sidecar in an environment with a test clock', () => {
    let platform;
    let sidecar;
    let serverKey;
    before(async function () {
        this.timeout(30_000);
        platform = await openWholePlatform();
        const { environment } = await platform.app.environments.create({ refId: 'clocked', isTest: true });
        await platform.app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false });
        const key = { environment: 'clocked', kind: 'SERVER', name: 'test', expiresAt: null };
        serverKey = (await platform.app.environments.createKey(key)).key;
        sidecar = await runSidecar({
            SERVER_API_KEY: serverKey,
            API_URL: platform.url,
            WS_URL: `${platform.url.replace('http', 'ws')}/graphql`,
        });
        await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 1, 'the connection vouches', 5_000);
    });
    after(async () => {
        await sidecar.stop();
        expect(await platform.close()).to.deep.equal([]);
    });
    const ask = async (query, variables = {}) => {
        const { errors } = (await (await post(platform.url, { query, variables }, { 'x-api-key': serverKey })).json());
        expect(errors).to.equal(undefined);
    };
    const moveTo = (time, how = 'advance') => ask(`mutation ($at: DateTime!) { ${how}TestClock(input: { frozenTime: $at }) { frozenTime } }`, { at: time });
    const held = async () => {
        const { entitlement } = await sidecar.call('GetMeteredEntitlement', { customer_id: 'acme', feature_id: 'calls' });
        return entitlement && `${entitlement.current_usage} of ${entitlement.usage_limit}`;
    };
    const holds = (expected) => until(async () => (await held()) === expected, `the sidecar to answer ${expected}`, 10_000);
    it('follows it: a trial that ends, a usage period that turns over', async () => {
        await moveTo('2044-01-01T00:00:00Z', 'create');
        await ask('mutation { provisionCustomer(input: { customerId: "acme", subscriptionParams: { planId: "pro" } }) { customer { id } } }');
        await holds('0 of 1000');
        await ask('mutation { reportUsage(input: { customerId: "acme", featureId: "calls", value: 7 }) { currentUsage } }');
        await holds('7 of 1000');
        await moveTo('2044-01-14T00:00:00Z');
        expect(await held()).to.equal('7 of 1000');
        await moveTo('2044-01-16T00:00:00Z');
        await holds('0 of 10');
        await ask('mutation { reportUsage(input: { customerId: "acme", featureId: "calls", value: 3 }) { currentUsage } }');
        await holds('3 of 10');
        await moveTo('2044-02-20T00:00:00Z');
        await holds('0 of 10');
    }).timeout(30_000);
});
//# sourceMappingURL=test-clock.test.js.map