import { expect } from 'chai';
import { runSidecar, until } from '../../contract/grpc/harness.js';
import { openWholePlatform } from '../web/whole-platform.js';
const catalog = `
features:
  - { refId: sso, type: BOOLEAN }
  - { refId: calls, type: NUMBER, meter: Incremental }
  - refId: tokens
    type: NUMBER
    meter: Incremental
    events: { aggregation: SUM, field: count, filters: [[{ field: eventName, operation: EQUALS, value: generated }]] }
products:
  - { refId: cloud }
  - { refId: extra }
  - { refId: rooms, settings: { multipleSubscriptions: true } }
plans:
  - refId: metered
    product: cloud
    entitlements: [{ feature: sso }, { feature: calls, unlimited: true, resetPeriod: DAY }, { feature: tokens, unlimited: true, resetPeriod: MONTH }]
    prices:
      - { billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 20 }
      - { billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: 0.1, feature: calls }
      - billingModel: USAGE_BASED
        billingPeriod: MONTHLY
        currency: USD
        feature: tokens
        tiersMode: GRADUATED
        tiers: [{ upTo: 100, unitPrice: 0 }, { unitPrice: 0.01 }]
  - { refId: spare, product: extra, entitlements: [{ feature: calls, limit: 7, resetPeriod: MONTH }] }
  - refId: room
    product: rooms
    entitlements: [{ feature: calls, unlimited: true, resetPeriod: MONTH }]
    prices: [{ billingModel: USAGE_BASED, billingPeriod: MONTHLY, currency: USD, amount: 0.1, feature: calls }]
`;
describe('a budget', () => {
    let platform;
    let environment;
    let sidecar;
    let count = 0;
    let customerId;
    before(async function () {
        this.timeout(30_000);
        platform = await openWholePlatform();
        environment = await platform.createEnvironment('budgets', catalog);
        const { url } = platform;
        const addresses = { API_URL: url, WS_URL: `${url.replace('http', 'ws')}/graphql`, EDGE_API_URL: url };
        sidecar = await runSidecar({ SERVER_API_KEY: environment.serverKey, ...addresses });
        await until(async () => (await sidecar.metric('sidecar_real_time_connected')) === 1, 'the sidecar is connected', 5_000);
    });
    after(async () => {
        await sidecar.stop();
        expect(await platform.close()).to.deep.equal([]);
    });
    beforeEach(async () => {
        customerId = `customer-${++count}`;
        await ask('mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', {
            input: { customerId },
        });
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are read, not declared
    const ask = async (query, variables, of = environment) => {
        const { data, errors } = await of.ask(query, variables);
        if (errors)
            throw Object.assign(new Error(errors[0].message), { code: errors[0].extensions.code });
        return Object.values(data)[0];
    };
    const provision = (input, of = environment) => ask('mutation($input: ProvisionSubscriptionInput) { provisionSubscriptionV2(input: $input) { subscription { subscriptionId budgetExceeded } } }', { input: { customerId, planId: 'metered', subscriptionId: `metered of ${customerId}`, ...input } }, of);
    const update = (input) => ask('mutation($input: UpdateSubscriptionInput!) { updateOneSubscription(input: $input) { budgetExceeded } }', {
        input: { subscriptionId: `metered of ${customerId}`, ...input },
    });
    const isExceeded = async (subscriptionId = `metered of ${customerId}`, of) => (await ask('query($input: GetSubscriptionInput!) { getSubscription(input: $input) { budgetExceeded } }', { input: { subscriptionId } }, of)).budgetExceeded;
    const check = async (featureId = 'calls', { resourceId, of } = {}) => {
        const query = 'query($query: FetchEntitlementQuery!) { entitlement(query: $query) { isGranted accessDeniedReason } }';
        const { isGranted, accessDeniedReason } = await ask(query, { query: { customerId, featureId, resourceId } }, of);
        return isGranted ? 'granted' : accessDeniedReason;
    };
    const usageOf = async (featureId) => (await ask('query($query: FetchEntitlementQuery!) { entitlement(query: $query) { currentUsage } }', {
        query: { customerId, featureId },
    })).currentUsage;
    const report = (value, input = {}, of = environment) => ask('mutation($input: ReportUsageInput!) { reportUsage(input: $input) { currentUsage } }', { input: { customerId, featureId: 'calls', value, ...input } }, of);
    const generate = (idempotencyKey, tokens) => ask('mutation($events: UsageEventsReportInput!) { reportEvent(events: $events) }', {
        events: { usageEvents: [{ customerId, eventName: 'generated', idempotencyKey, dimensions: { count: tokens } }] },
    });
    const inSidecar = async (featureId = 'calls') => (await sidecar.call('GetMeteredEntitlement', { customer_id: customerId, feature_id: featureId })).access_denied_reason ?? 'granted';
    const budgetExceeded = 9;
    it('that is used up denies everything that comes from the subscription, from the report on that reaches it', async () => {
        await provision({ budget: { limit: 1, hasSoftLimit: false } });
        expect(await inSidecar()).to.equal('granted');
        // In doubles ten times 0.1 is less than 1.
        for (let n = 0; n < 9; n += 1)
            await report(1);
        expect([await check(), await check('sso'), await isExceeded()]).to.deep.equal(['granted', 'granted', false]);
        await report(1);
        expect([await check(), await check('sso'), await isExceeded()]).to.deep.equal(['BudgetExceeded', 'BudgetExceeded', true]);
        await until(async () => (await inSidecar()) === budgetExceeded, 'inSidecar says so');
        const entitlements = await ask('query($query: FetchEntitlementsQuery!) { entitlementsState(query: $query) { entitlements { accessDeniedReason isGranted } } }', {
            query: { customerId },
        });
        expect(entitlements.entitlements.map((one) => one.accessDeniedReason)).to.deep.equal(Array(3).fill('BudgetExceeded'));
        // It is stored all the same: the host application has let it happen.
        expect(await report(5)).to.deep.equal({ currentUsage: 15 });
        // Counted as it comes, not added up with each report.
        const { rows } = await platform.pool.query(`SELECT reset_period, usage::float8 AS usage FROM usage_series AS series JOIN usage_counter AS counter ON counter.series_id = series.id
       WHERE series.customer_id = (SELECT id FROM customer WHERE ref_id = $1) ORDER BY reset_period`, [customerId]);
        expect(rows).to.deep.equal([
            { reset_period: 'DAY', usage: 15 },
            { reset_period: 'MONTH', usage: 15 },
        ]);
    });
    it('with a soft limit only tells', async () => {
        await provision({ budget: { limit: 1, hasSoftLimit: true } });
        await report(10);
        expect([await check(), await isExceeded()]).to.deep.equal(['granted', true]);
    });
    it('of 0 is used up from the beginning, and a negative one is refused', async () => {
        const { subscription } = await provision({ budget: { limit: 0, hasSoftLimit: false } });
        expect([subscription.budgetExceeded, await check()]).to.deep.equal([true, 'BudgetExceeded']);
        const refused = await update({ budget: { limit: -1, hasSoftLimit: false } }).catch(({ code }) => code);
        expect(refused).to.equal('BadUserInput');
    });
    it('is raised, given up, and agreed again for what is running', async () => {
        await provision({});
        await report(30);
        expect(await update({ budget: { limit: 3, hasSoftLimit: false } })).to.deep.equal({ budgetExceeded: true });
        expect(await check()).to.equal('BudgetExceeded');
        await until(async () => (await inSidecar()) === budgetExceeded, 'inSidecar says so');
        expect(await update({ budget: { limit: 3.01, hasSoftLimit: false } })).to.deep.equal({ budgetExceeded: false });
        expect(await check()).to.equal('granted');
        await until(async () => (await inSidecar()) === 'granted', 'inSidecar says so');
        await report(1);
        expect(await check()).to.equal('BudgetExceeded');
        expect(await update({ budget: null })).to.deep.equal({ budgetExceeded: false });
        expect(await check()).to.equal('granted');
    });
    it('counts raw events by tiers, and is not used up any more when one is taken back', async () => {
        await provision({ budget: { limit: 5, hasSoftLimit: false } });
        await generate('first', 400);
        await until(async () => (await usageOf('tokens')) === 400, 'the event is counted');
        // 300 of them at 0.01, and 20 calls at 0.1.
        await report(19);
        expect(await check()).to.equal('granted');
        await generate('second', 10);
        await until(async () => (await check('tokens')) === 'BudgetExceeded', 'check says so');
        await until(async () => (await inSidecar('tokens')) === budgetExceeded, 'inSidecar says so');
        await ask('mutation($input: UsageEventNameInput!) { removeUsageEvent(input: $input) }', {
            input: { customerId, eventName: 'generated', idempotencyKey: 'second' },
        });
        await until(async () => (await check('tokens')) === 'granted', 'check says so');
        await until(async () => (await inSidecar('tokens')) === 'granted', 'inSidecar says so');
    });
    it('leaves the feature to another source that gives it', async () => {
        await provision({ budget: { limit: 1, hasSoftLimit: false } });
        await provision({ planId: 'spare', subscriptionId: null });
        await report(10);
        // Of the other source's 7, 10 are used.
        expect([await check('calls'), await check('sso')]).to.deep.equal(['RequestedUsageExceedingLimit', 'BudgetExceeded']);
    });
    it('of a resource’s own subscription is measured by that resource alone', async () => {
        for (const resourceId of ['r1', 'r2'])
            await provision({
                planId: 'room',
                resourceId,
                subscriptionId: `${resourceId} of ${customerId}`,
                budget: { limit: 1, hasSoftLimit: false },
            });
        await report(9, { resourceId: 'r1' });
        await report(9, { resourceId: 'r2' });
        expect([await check('calls', { resourceId: 'r1' }), await check('calls', { resourceId: 'r2' })]).to.deep.equal(['granted', 'granted']);
        await report(1, { resourceId: 'r2' });
        expect([await check('calls', { resourceId: 'r1' }), await check('calls', { resourceId: 'r2' })]).to.deep.equal([
            'granted',
            'BudgetExceeded',
        ]);
    });
    it('counts what was used before it was agreed, at the agreed prices, as the next invoice does', async () => {
        await provision({
            priceOverrides: [{ featureId: 'calls', tiers: [{ upTo: 10, unitPrice: { amount: 1 } }, { unitPrice: { amount: 0.333 } }] }],
        });
        for (const value of [3, 4.5, 8])
            await report(value);
        await report(20, { updateBehavior: 'SET' });
        await report(2.25);
        const { lines } = await ask('mutation($input: PreviewNextInvoiceInput!) { previewNextInvoice(input: $input) { lines { type amount { amount } } } }', {
            input: { subscriptionId: `metered of ${customerId}` },
        });
        const usage = lines.filter(({ type }) => type === 'PayAsYouGoCharge' || type === 'TierCharge');
        const spent = usage.reduce((sum, { amount }) => sum + amount.amount, 0);
        expect(spent).to.equal(14.08);
        expect(await update({ budget: { limit: spent, hasSoftLimit: false } })).to.deep.equal({ budgetExceeded: true });
        expect(await update({ budget: { limit: spent + 0.01, hasSoftLimit: false } })).to.deep.equal({ budgetExceeded: false });
    });
    it('holds in a billing period that nobody has recorded yet', async () => {
        await provision({ budget: { limit: 1, hasSoftLimit: false } });
        await report(20);
        expect(await check()).to.equal('BudgetExceeded');
        // As if it had begun 32 days ago, and every worker had been down since the first period was over.
        await platform.pool.query(`UPDATE subscription SET billing_anchor = billing_anchor - interval '32 days', current_period_start = current_period_start - interval '32 days',
         current_period_end = current_period_start - interval '1 day', due_at = NULL
       WHERE ref_id = $1`, [`metered of ${customerId}`]);
        await platform.pool.query(`UPDATE usage_measurement SET occurred_at = occurred_at - interval '32 days' WHERE customer_id = (SELECT id FROM customer WHERE ref_id = $1)`, [customerId]);
        await platform.pool.query(`DELETE FROM usage_counter WHERE series_id IN (SELECT id FROM usage_series WHERE customer_id = (SELECT id FROM customer WHERE ref_id = $1))`, [customerId]);
        await ask('mutation($input: UpdateCustomerInput!) { updateOneCustomer(input: $input) { id } }', {
            input: { customerId, billingInformation: { timezone: 'Etc/UTC' } },
        });
        expect(await check()).to.equal('granted');
        await report(9);
        expect(await check()).to.equal('granted');
        await report(1);
        expect([await check(), await isExceeded()]).to.deep.equal(['BudgetExceeded', true]);
    });
    it('is new with each billing period, at its instant', async () => {
        const clocked = await platform.createEnvironment('clocked', catalog);
        await platform.prisma.environment.update({ where: { id: clocked.id }, data: { isTest: true } });
        await ask('mutation($input: TestClockInput!) { createTestClock(input: $input) { frozenTime } }', { input: { frozenTime: '2044-01-10T00:00:00Z' } }, clocked);
        const advance = (frozenTime) => ask('mutation($input: TestClockInput!) { advanceTestClock(input: $input) { frozenTime } }', { input: { frozenTime } }, clocked);
        const subscriptionId = 'clocked';
        await ask('mutation($input: ProvisionCustomerInput!) { provisionCustomer(input: $input) { customer { id } } }', { input: { customerId } }, clocked);
        await provision({ budget: { limit: 1, hasSoftLimit: false }, subscriptionId }, clocked);
        await report(9, {}, clocked);
        await advance('2044-02-09T23:59:59Z');
        // The entitlement's usage starts anew each day, the budget does not.
        expect(await report(1, {}, clocked)).to.deep.equal({ currentUsage: 1 });
        expect([await check('calls', { of: clocked }), await isExceeded(subscriptionId, clocked)]).to.deep.equal(['BudgetExceeded', true]);
        await advance('2044-02-10T00:00:00Z');
        expect([await check('calls', { of: clocked }), await isExceeded(subscriptionId, clocked)]).to.deep.equal(['granted', false]);
        await report(9, {}, clocked);
        expect(await check('calls', { of: clocked })).to.equal('granted');
        await report(1, {}, clocked);
        expect(await check('calls', { of: clocked })).to.equal('BudgetExceeded');
    });
});
//# sourceMappingURL=budget.test.js.map