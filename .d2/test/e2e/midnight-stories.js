/** Customers to each of whom something happens at one instant, and what is true of them before and after. */
import { Temporal } from 'temporal-polyfill';
export const catalog = `
features:
  - { refId: sso, type: BOOLEAN }
  - { refId: calls, type: NUMBER, meter: Incremental }
  - { refId: pings, type: NUMBER, meter: Incremental }
  - { refId: seats, type: NUMBER, meter: Fluctuating }
  - { refId: storage, type: NUMBER }
  - { refId: regions, type: ENUM, enumValues: [eu, us] }
products:
  - { refId: desk, settings: { endOfSubscription: DOWNGRADE_TO_FREE, downgradePlan: free } }
  - { refId: tools }
plans:
  - { refId: free, product: desk, entitlements: [{ feature: calls, limit: 10, resetPeriod: DAY }, { feature: seats, limit: 1 }] }
  - refId: basic
    product: desk
    entitlements:
      - { feature: calls, limit: 100, resetPeriod: DAY }
      - { feature: pings, limit: 50, resetPeriod: HOUR }
      - { feature: seats, limit: 5 }
      - { feature: storage, limit: 20 }
      - { feature: regions, values: [eu] }
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 10 }]
  - refId: pro
    product: desk
    entitlements:
      - { feature: calls, limit: 1000, resetPeriod: DAY }
      - { feature: seats, unlimited: true }
      - { feature: sso }
      - { feature: storage, limit: 200 }
      - { feature: regions, values: [eu, us] }
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 50 }]
  - refId: kit
    product: tools
    entitlements: [{ feature: calls, limit: 300, resetPeriod: DAY }, { feature: seats, limit: 2 }]
    prices: [{ billingModel: FLAT_FEE, billingPeriod: MONTHLY, currency: USD, amount: 5 }]
`;
export function openMidnight(api, at) {
    return {
        at,
        async customer(customerId) {
            await api.call('mutation ($input: CustomerInput!) { createCustomer: createOneCustomer(input: $input) { customerId } }', {
                input: { customerId },
            });
        },
        async subscribe(customerId, planId, more = {}) {
            const { provisioned } = await api.call(`mutation ($input: ProvisionSubscriptionInput!) {
          provisioned: provisionSubscriptionV2(input: $input) { subscription { subscriptionId } } }`, { input: { customerId, planId, ...more } });
            return provisioned.subscription.subscriptionId;
        },
        async cancel(subscriptionRefId) {
            await api.call('mutation ($input: SubscriptionCancellationInput!) { cancelSubscription(input: $input) { subscriptionId } }', {
                input: { subscriptionRefId, subscriptionCancellationTime: 'SPECIFIC_DATE', endDate: new Date(at).toISOString() },
            });
        },
        async promote(customerId, featureId) {
            const grant = { featureId, period: 'CUSTOM', customEndDate: new Date(at).toISOString() };
            await api.call('mutation ($input: GrantPromotionalEntitlementsInput!) { grantPromotionalEntitlements(input: $input) { id } }', {
                input: { customerId, promotionalEntitlements: [grant] },
            });
        },
        async report(customerId, featureId, value) {
            const { reported } = await api.call('mutation ($input: ReportUsageInput!) { reported: reportUsage(input: $input) { currentUsage } }', { input: { customerId, featureId, value } });
            return reported.currentUsage;
        },
        wholeMonthsBefore() {
            const instant = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('UTC');
            for (let months = 1;; months += 1) {
                const start = instant.subtract({ months });
                if (start.add({ months }).equals(instant))
                    return start.toInstant().toString();
            }
        },
    };
}
const [noSubscription, notHeld, overLimit] = ['denied 6', 'denied 7', 'denied 8'];
const hour = 3_600_000;
const stays = (answer) => ({ before: answer, after: answer });
const iso = (at) => new Date(at).toISOString();
const trial = (at, trialEndBehavior) => ({
    trialOverrideConfiguration: { isTrial: true, trialEndDate: iso(at), trialEndBehavior },
});
export const stories = [
    {
        customerId: 'trial that ends',
        async given({ at, customer, subscribe, report }, id) {
            await customer(id);
            await subscribe(id, 'pro', trial(at, 'CANCEL_SUBSCRIPTION'));
            await report(id, 'calls', 7);
            await report(id, 'seats', 2);
        },
        expected: {
            calls: { before: '7 of 1000', after: '0 of 10' },
            seats: { before: '2 of any', after: overLimit },
            sso: { before: 'yes', after: notHeld },
            regions: { before: 'eu,us', after: notHeld },
            pings: stays(notHeld),
        },
        recorded: ['pro EXPIRED TrialEnded', 'free ACTIVE'],
        isTold: true,
    },
    {
        customerId: 'trial that converts',
        async given({ at, customer, subscribe, report }, id) {
            await customer(id);
            await subscribe(id, 'pro', trial(at, 'CONVERT_TO_PAID'));
            await report(id, 'calls', 7);
            await report(id, 'seats', 2);
        },
        expected: { calls: { before: '7 of 1000', after: '0 of 1000' }, seats: stays('2 of any'), sso: stays('yes') },
        recorded: ['pro ACTIVE'],
        isTold: true,
    },
    {
        customerId: 'canceled',
        async given({ customer, subscribe, cancel, report }, id) {
            await customer(id);
            await cancel(await subscribe(id, 'kit'));
            await report(id, 'calls', 299);
        },
        expected: { calls: { before: '299 of 300', after: noSubscription }, sso: { before: notHeld, after: noSubscription } },
        recorded: ['kit CANCELED ScheduledCancellation'],
        isTold: true,
    },
    {
        customerId: 'downgraded',
        async given({ customer, subscribe, wholeMonthsBefore, report }, id) {
            await customer(id);
            await subscribe(id, 'pro', { startDate: wholeMonthsBefore() });
            await subscribe(id, 'basic', { scheduleStrategy: 'END_OF_BILLING_PERIOD' });
            await report(id, 'calls', 400);
            await report(id, 'seats', 3);
        },
        expected: {
            calls: { before: '400 of 1000', after: '0 of 100' },
            pings: { before: notHeld, after: '0 of 50' },
            seats: { before: '3 of any', after: '3 of 5' },
            sso: { before: 'yes', after: notHeld },
            storage: { before: '200', after: '20' },
            regions: { before: 'eu,us', after: 'eu' },
        },
        recorded: ['basic ACTIVE'],
        isRenewed: true,
        isTold: true,
    },
    {
        customerId: 'reset',
        async given({ at, customer, subscribe, report }, id) {
            await customer(id);
            await subscribe(id, 'basic', { startDate: iso(at - 3 * 24 * hour) });
            await report(id, 'calls', 100);
            await report(id, 'pings', 50);
        },
        expected: {
            calls: { before: '100 of 100', after: '0 of 100' },
            pings: { before: '50 of 50', after: '0 of 50' },
            seats: stays('0 of 5'),
        },
        recorded: ['basic ACTIVE'],
    },
    {
        customerId: 'promoted',
        async given({ customer, subscribe, promote, report }, id) {
            await customer(id);
            await subscribe(id, 'free');
            await promote(id, 'sso');
            await report(id, 'calls', 3);
        },
        expected: { sso: { before: 'yes', after: notHeld }, calls: stays('3 of 10'), storage: stays(notHeld) },
        recorded: ['free ACTIVE'],
        isTold: true,
    },
    {
        customerId: 'promoted only',
        async given({ customer, promote }, id) {
            await customer(id);
            await promote(id, 'sso');
        },
        expected: { sso: { before: 'yes', after: noSubscription }, calls: { before: notHeld, after: noSubscription } },
        recorded: [],
        isTold: true,
    },
    {
        customerId: 'about to start',
        async given({ at, customer, subscribe }, id) {
            await customer(id);
            await subscribe(id, 'kit', { startDate: iso(at) });
        },
        expected: { calls: { before: noSubscription, after: '0 of 300' }, sso: { before: noSubscription, after: notHeld } },
        recorded: ['kit ACTIVE'],
        isTold: true,
    },
    {
        customerId: 'renewed',
        async given({ customer, subscribe, wholeMonthsBefore, report }, id) {
            await customer(id);
            await subscribe(id, 'basic', { startDate: wholeMonthsBefore() });
            await report(id, 'seats', 4);
        },
        expected: { seats: stays('4 of 5'), calls: stays('0 of 100'), regions: stays('eu') },
        recorded: ['basic ACTIVE'],
        isRenewed: true,
    },
    {
        customerId: 'unconcerned',
        async given({ customer, subscribe, report }, id) {
            await customer(id);
            await subscribe(id, 'free');
            await report(id, 'calls', 4);
        },
        expected: { calls: stays('4 of 10'), seats: stays('0 of 1'), sso: stays(notHeld) },
        recorded: ['free ACTIVE'],
        isFollowed: true,
    },
];
//# sourceMappingURL=midnight-stories.js.map