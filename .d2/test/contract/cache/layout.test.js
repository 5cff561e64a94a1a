import { expect } from 'chai';
import { Redis } from 'ioredis';
import { ExternalCacheWriter } from '../../../src/updates/external-cache/writer.js';
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js';
import { boolean, enumerated, metered, numeric, state, usage } from './held.js';
import { contentOf } from './reader.js';
const month = { resetPeriod: 'MONTH', resetPeriodConfiguration: { monthlyAccordingTo: 'StartOfTheMonth' }, usagePeriodAnchor: 1_000 };
const noUsage = {
    resetPeriod: null,
    resetPeriodConfiguration: null,
    currentUsage: null,
    usagePeriodAnchor: null,
    usagePeriodStart: null,
    usagePeriodEnd: null,
};
const limits = { usageLimit: null, hasUnlimitedUsage: false, hasSoftLimit: false, enumValues: null };
const plain = { meterType: 'None', units: null, unitsPlural: null };
describe('layout of the external cache', () => {
    let redis;
    let prefix;
    before(() => {
        redis = new Redis(testRedisUrl());
    });
    after(() => redis.disconnect());
    beforeEach(() => {
        prefix = testRedisPrefix();
    });
    afterEach(async () => {
        const keys = await redis.keys(`${prefix}:*`);
        if (keys.length > 0)
            await redis.del(keys);
    });
    const writer = (ttlSeconds = 600) => new ExternalCacheWriter({ redis, prefix, ttlSeconds });
    it('holds every type of feature as readers expect it', async () => {
        await writer().writeState(state(5, [
            boolean('sso'),
            boolean('audit', { deniedReason: 'Revoked', validUntil: 9_000 }),
            numeric('projects', 25),
            enumerated('region', 'eu', 'us'),
            metered('calls', usage(0.3, 7)),
            metered('unlimited', usage(-2, 4), { hasUnlimitedUsage: true, hasSoftLimit: true }),
        ]));
        const call = { featureType: 'NUMBER', meterType: 'Incremental', units: 'call', unitsPlural: 'calls' };
        const period = { usagePeriodStart: 1_000, usagePeriodEnd: 2_000 };
        expect(await contentOf(redis, prefix)).to.deep.equal({
            c_acme: {
                sso: { calculatedEntitlement: { feature: { id: 'sso', featureType: 'BOOLEAN', ...plain }, ...limits }, featureUsage: noUsage },
                audit: {
                    calculatedEntitlement: {
                        feature: { id: 'audit', featureType: 'BOOLEAN', ...plain },
                        ...limits,
                        accessDeniedReason: 'Revoked',
                        validUntil: 9_000,
                    },
                    featureUsage: noUsage,
                },
                projects: {
                    calculatedEntitlement: { feature: { id: 'projects', featureType: 'NUMBER', ...plain }, ...limits, usageLimit: 25 },
                    featureUsage: noUsage,
                },
                region: {
                    calculatedEntitlement: { feature: { id: 'region', featureType: 'ENUM', ...plain }, ...limits, enumValues: ['eu', 'us'] },
                    featureUsage: noUsage,
                },
                calls: {
                    calculatedEntitlement: { feature: { id: 'calls', ...call }, ...limits, usageLimit: 10 },
                    featureUsage: { ...month, currentUsage: 0.3, ...period },
                },
                unlimited: {
                    calculatedEntitlement: { feature: { id: 'unlimited', ...call }, ...limits, hasUnlimitedUsage: true, hasSoftLimit: true },
                    featureUsage: { ...month, currentUsage: 0, ...period },
                },
            },
            'c_acme#timestamp': 5,
            'c_acme:metadata': null,
            'c_acme:metadata#timestamp': 5,
            'c_acme:f_calls': { currentUsage: 0.3, ...period },
            'c_acme:f_calls#timestamp': 7,
            'c_acme:f_unlimited': { currentUsage: 0, ...period },
            'c_acme:f_unlimited#timestamp': 5,
        });
    });
    it('holds a resource below its customer', async () => {
        await writer().writeState(state(5, [boolean('sso')], { resourceId: 'site-1' }));
        const content = await contentOf(redis, prefix);
        expect(Object.keys(content)).to.deep.equal([
            'c_acme:r_site-1',
            'c_acme:r_site-1#timestamp',
            'c_acme:r_site-1:metadata',
            'c_acme:r_site-1:metadata#timestamp',
        ]);
        expect(content['c_acme:r_site-1']).to.have.nested.property('sso.calculatedEntitlement.resourceId', 'site-1');
    });
    it('tells why nothing is held', async () => {
        await writer().writeState(state(5, [], { deniedReason: 'NoActiveSubscription' }));
        expect(await contentOf(redis, prefix)).to.deep.include({
            c_acme: {},
            'c_acme:metadata': { accessDeniedReason: 'NoActiveSubscription' },
        });
    });
    it('tells what periods begin at, but for hours and days', async () => {
        const resets = [
            { period: 'HOUR', rule: 'SubscriptionStart' },
            { period: 'DAY', rule: 'SubscriptionStart' },
            { period: 'WEEK', rule: 'EverySunday' },
            { period: 'YEAR', rule: 'SubscriptionStart' },
        ];
        await writer().writeState(state(5, resets.map(({ period, rule }) => metered(period, usage(1, 5), { reset: { period, rule, anchor: 1, timeZone: 'UTC' } }))));
        const entry = (await contentOf(redis, prefix)).c_acme;
        expect(resets.map(({ period }) => entry[period].featureUsage.resetPeriodConfiguration)).to.deep.equal([
            null,
            null,
            { weeklyAccordingTo: 'EverySunday' },
            { yearlyAccordingTo: 'SubscriptionStart' },
        ]);
    });
    it('survives features with the names of object members', async () => {
        await writer().writeState(state(5, [boolean('__proto__'), boolean('constructor')]));
        expect(await redis.get(`${prefix}:c_acme`)).to.include('"__proto__":{"calculatedEntitlement"');
    });
    it('keeps every key for the time given, in seconds', async () => {
        await writer(600).writeState(state(5, [metered('calls', usage(1, 5))]));
        for (const key of await redis.keys(`${prefix}:*`))
            expect(await redis.ttl(key), key).to.be.within(590, 600);
    });
    it('keeps keys for ever when the time is negative', async () => {
        await writer(-1).writeState(state(5, [metered('calls', usage(1, 5))]));
        const keys = await redis.keys(`${prefix}:*`);
        expect(keys).to.have.length(6);
        for (const key of keys)
            expect(await redis.ttl(key), key).to.equal(-1);
    });
});
//# sourceMappingURL=layout.test.js.map