import { expect } from 'chai';
import { Redis } from 'ioredis';
import { toWritableState } from '../../../src/updates/external-cache/state-json.js';
import { ExternalCacheWriter } from '../../../src/updates/external-cache/writer.js';
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js';
import { boolean, deniedFor, enumerated, FakeApi, holding, metered, numeric } from './fake-api.js';
import { errorOf, runSidecar } from './harness.js';
const apiCalls = holding(metered('api-calls', { usageLimit: 10, currentUsage: 4 }));
const everything = holding(metered('api-calls'), boolean('sso'), numeric('projects', 25), enumerated('region', ['eu', 'us']));
const reason = {
    unknown: 1,
    archived: 2,
    noCustomer: 3,
    noResource: 4,
    noSubscription: 6,
    notHeld: 7,
    overLimit: 8,
    valuesMismatch: 10,
    typeMismatch: 11,
    revoked: 13,
};
const cases = [
    {
        title: 'grants below the limit',
        held: apiCalls,
        request: { options: { requested_usage: 6 } },
        answer: { has_access: true, requested_usage: 6 },
        entitlement: { usage_limit: 10, current_usage: 4, reset_period: 3 },
    },
    {
        title: 'denies above the limit and says so',
        held: apiCalls,
        request: { options: { requested_usage: 6.5 } },
        answer: { has_access: false, requested_usage: 6.5, access_denied_reason: reason.overLimit },
        entitlement: { current_usage: 4 },
    },
    {
        title: 'compares tenths exactly',
        held: holding(metered('api-calls', { usageLimit: 1, currentUsage: 0.9 })),
        request: { options: { requested_usage: 0.1 } },
        answer: { has_access: true, requested_usage: 0.1 },
    },
    {
        title: 'grants at the limit when nothing is requested',
        held: holding(metered('api-calls', { usageLimit: 1, currentUsage: 1 })),
        answer: { has_access: true },
    },
    {
        title: 'grants above a soft limit',
        held: holding(metered('api-calls', { hasSoftLimit: true, currentUsage: 500 })),
        request: { options: { requested_usage: 1 } },
        answer: { has_access: true, requested_usage: 1 },
        entitlement: { has_soft_limit: true },
    },
    {
        title: 'grants whatever is unlimited, without a limit in the answer',
        held: holding(metered('api-calls', { hasUnlimitedUsage: true, usageLimit: 5, currentUsage: 500 })),
        answer: { has_access: true },
        entitlement: { is_unlimited: true, usage_limit: undefined },
    },
    {
        title: 'counts usage of a past period as none',
        held: holding(metered('api-calls', { currentUsage: 10, usagePeriodEnd: '2026-01-02T00:00:00.000Z' })),
        request: { options: { requested_usage: 10 } },
        answer: { has_access: true, requested_usage: 10 },
        entitlement: { current_usage: 0 },
    },
    {
        title: 'counts seats of a past period all the same',
        held: holding(metered('api-calls', {
            currentUsage: 10,
            usagePeriodEnd: '2026-01-02T00:00:00.000Z',
            feature: { refId: 'api-calls', featureType: 'NUMBER', meterType: 'Fluctuating', featureUnits: null, featureUnitsPlural: null },
        })),
        request: { options: { requested_usage: 1 } },
        answer: { has_access: false, requested_usage: 1, access_denied_reason: reason.overLimit },
    },
    {
        title: 'decides by itself, whatever the API said about no request',
        held: holding(metered('api-calls', { usageLimit: 10, currentUsage: 12, isGranted: false, accessDeniedReason: 'RequestedUsageExceedingLimit' })),
        answer: { has_access: false, access_denied_reason: reason.overLimit },
        entitlement: { current_usage: 12 },
    },
    {
        title: 'denies what is revoked',
        held: holding(metered('api-calls', { isGranted: false, accessDeniedReason: 'Revoked' })),
        answer: { has_access: false, access_denied_reason: reason.revoked },
    },
    {
        title: 'answers a boolean',
        method: 'GetBooleanEntitlement',
        held: everything,
        request: { feature_id: 'sso' },
        answer: { has_access: true },
        entitlement: { feature: { id: 'sso', feature_type: 1, meter_type: 1 } },
    },
    {
        title: 'answers the value of a numeric',
        method: 'GetNumericEntitlement',
        held: everything,
        request: { feature_id: 'projects' },
        answer: { has_access: true },
        entitlement: { value: 25 },
    },
    {
        title: 'answers an enum and echoes what was requested',
        method: 'GetEnumEntitlement',
        held: everything,
        request: { feature_id: 'region', options: { requested_values: ['us'] } },
        answer: { has_access: true, requested_values: ['us'] },
        entitlement: { enum_values: ['eu', 'us'] },
    },
    {
        title: 'denies an enum value that is not held',
        method: 'GetEnumEntitlement',
        held: everything,
        request: { feature_id: 'region', options: { requested_values: ['us', 'ap'] } },
        answer: { has_access: false, access_denied_reason: reason.valuesMismatch, requested_values: ['us', 'ap'] },
    },
    {
        title: 'answers a feature of any type',
        method: 'GetEntitlement',
        held: everything,
        request: { feature_id: 'api-calls', options: { requested_usage: 11 } },
        answer: { has_access: false, access_denied_reason: reason.overLimit },
    },
    { title: 'denies what is not held', held: holding(boolean('sso')), answer: { has_access: false, access_denied_reason: reason.notHeld } },
    {
        title: 'denies an unknown customer, and uses no fallback for it',
        held: deniedFor('CustomerNotFound'),
        request: { options: { fallback: { has_access: true } } },
        answer: { has_access: false, access_denied_reason: reason.noCustomer },
    },
    {
        title: 'denies an archived customer',
        held: deniedFor('CustomerIsArchived'),
        answer: { has_access: false, access_denied_reason: reason.archived },
    },
    {
        title: 'denies an unknown resource',
        held: deniedFor('CustomerResourceNotFound'),
        answer: { has_access: false, access_denied_reason: reason.noResource },
    },
    {
        title: 'denies a customer without subscription',
        held: deniedFor('NoActiveSubscription'),
        answer: { has_access: false, access_denied_reason: reason.noSubscription },
    },
    {
        title: 'falls back when the feature is of another type',
        method: 'GetBooleanEntitlement',
        held: everything,
        request: { feature_id: 'api-calls', options: { fallback: { has_access: true } } },
        answer: { has_access: true, is_fallback: true, access_denied_reason: reason.typeMismatch },
    },
    {
        title: 'denies another type when there is no fallback',
        method: 'GetNumericEntitlement',
        held: everything,
        request: { feature_id: 'sso' },
        answer: { has_access: false, is_fallback: true, access_denied_reason: reason.typeMismatch },
    },
    {
        title: 'answers from the cache while the API hangs',
        cached: apiCalls,
        api: 'hangs',
        answer: { has_access: true },
        entitlement: { current_usage: 4 },
    },
    { title: 'answers from the cache while the API breaks connections', cached: apiCalls, api: 'breaks', answer: { has_access: true } },
    {
        title: 'falls back to the request when the API breaks',
        api: 'breaks',
        request: { options: { requested_usage: 3, fallback: { has_access: true, usage_limit: 7 } } },
        answer: { has_access: true, is_fallback: true, requested_usage: 3 },
        entitlement: { usage_limit: 7 },
    },
    {
        title: 'falls back to the global one when the API hangs',
        api: 'hangs',
        answer: { has_access: true, is_fallback: true },
        entitlement: { usage_limit: 100 },
    },
    {
        title: 'merges nothing of the global fallback into that of the request',
        api: { status: 502 },
        request: { options: { fallback: { has_access: false } } },
        answer: { has_access: false, is_fallback: true, access_denied_reason: reason.unknown },
        entitlement: { usage_limit: undefined },
    },
    {
        title: 'denies without any fallback when the API fails',
        api: { code: 'InternalServerError' },
        request: { feature_id: 'other' },
        answer: { has_access: false, is_fallback: true, access_denied_reason: reason.unknown },
    },
    { title: 'falls back when the API refuses the key', api: { code: 'Unauthenticated' }, answer: { has_access: true, is_fallback: true } },
    {
        title: 'falls back past validUntil when the API cannot tell more',
        cached: holding(metered('api-calls', { validUntil: 1 })),
        api: 'breaks',
        answer: { has_access: true, is_fallback: true },
    },
];
const redisPrefix = testRedisPrefix();
const modes = [
    {
        name: 'memory',
        env: () => ({ WS_ENABLED: 'FALSE' }),
        fill: (sidecar, customerId) => sidecar.call('GetEntitlements', { customer_id: customerId }),
    },
    {
        name: 'external cache',
        env: () => {
            const { hostname, port, pathname } = new URL(testRedisUrl());
            return { REDIS_ENVIRONMENT_PREFIX: redisPrefix, REDIS_HOST: hostname, REDIS_PORT: port, REDIS_DB: pathname.slice(1) || '0' };
        },
        // As the persistent-cache-service does, without the sidecar's knowledge.
        fill: async (_sidecar, customerId, held) => {
            const redis = new Redis(testRedisUrl());
            try {
                const writer = new ExternalCacheWriter({ redis, prefix: redisPrefix, ttlSeconds: 60 });
                expect(await writer.writeState(toWritableState({ customerId, resourceId: null }, 1, held))).to.equal(true);
            }
            finally {
                redis.disconnect();
            }
        },
    },
];
const globalFallback = { hasAccess: true, usageLimit: 100 };
const fallbacks = JSON.stringify({ 'api-calls': globalFallback });
for (const { name, env, fill } of modes) {
    describe(`sidecar checks with a cache in ${name}`, () => {
        let api;
        let sidecar;
        before(async () => {
            api = await FakeApi.start();
            const common = { SERVER_API_KEY: api.acceptedKey, API_URL: api.url, REQUEST_TIMEOUT_MS: '300', ENTITLEMENTS_FALLBACK: fallbacks };
            sidecar = await runSidecar({ ...common, ...env() });
        });
        after(async () => {
            await sidecar.stop();
            await api.stop();
        });
        afterEach(async () => {
            api.behaviour = 'ok';
            await untilReadsWork(api, sidecar);
        });
        for (const [index, { title, method = 'GetMeteredEntitlement', cached, held, api: behaviour = 'ok', request, ...expected },] of cases.entries()) {
            it(title, async () => {
                const customerId = `customer-${index}`;
                if (cached ?? held)
                    api.states.set(customerId, (cached ?? held));
                if (cached)
                    await fill(sidecar, customerId, cached);
                api.behaviour = behaviour;
                expectAnswer(await sidecar.call(method, { customer_id: customerId, feature_id: 'api-calls', ...request }), expected);
            });
        }
    });
}
describe('sidecar checks offline', () => {
    let api;
    let sidecar;
    before(async () => {
        api = await FakeApi.start();
        sidecar = await runSidecar({ OFFLINE: 'TRUE', API_URL: api.url, ENTITLEMENTS_FALLBACK: fallbacks });
    });
    after(async () => {
        await sidecar.stop();
        await api.stop();
    });
    for (const { title, method = 'GetMeteredEntitlement', cached, held, request = {} } of cases) {
        it(`${title}: answered by the fallback, whatever the platform knows`, async () => {
            api.states.set('c', cached ?? held ?? holding());
            const question = { customer_id: 'c', feature_id: 'api-calls', ...request };
            const fallback = question.options?.fallback;
            const hasAccess = fallback ? fallback.has_access : question.feature_id === 'api-calls' && globalFallback.hasAccess;
            const { requested_usage, requested_values } = question.options ?? {};
            expectAnswer(await sidecar.call(method, question), {
                answer: {
                    has_access: hasAccess,
                    is_fallback: true,
                    ...(hasAccess ? {} : { access_denied_reason: reason.unknown }),
                    ...(method === 'GetMeteredEntitlement' && requested_usage ? { requested_usage } : {}),
                    ...(requested_values ? { requested_values } : {}),
                },
            });
            expect(api.connections).to.equal(0);
        });
    }
});
function expectAnswer(answered, { answer, entitlement }) {
    const { entitlement: got, boolean, numeric, metered, enum: enumerated, ...rest } = answered;
    expect(withoutZeros(rest)).to.deep.equal(withoutZeros(answer));
    const shown = got ?? boolean ?? numeric ?? metered ?? enumerated;
    for (const [field, value] of Object.entries(entitlement ?? {})) {
        const name = `${field} of ${JSON.stringify(shown)}`;
        if (typeof value === 'object' && !Array.isArray(value))
            expect(shown?.[field], name).to.include(value);
        else
            expect(shown?.[field] ?? (value === 0 ? 0 : undefined), name).to.deep.equal(value);
    }
}
/** After an outage reads fail at once for a while: the next case needs the API. */
async function untilReadsWork(api, sidecar) {
    api.states.set('nobody', holding());
    for (;;)
        if ((await sidecar.call('ReloadEntitlements', { customer_id: 'nobody' }).catch(() => null)) !== null)
            return;
}
describe('sidecar questions', () => {
    let api;
    let sidecar;
    before(async () => {
        api = await FakeApi.start();
        sidecar = await runSidecar({ SERVER_API_KEY: api.acceptedKey, API_URL: api.url, WS_ENABLED: 'FALSE', REQUEST_TIMEOUT_MS: '300' });
    });
    after(async () => {
        await sidecar.stop();
        await api.stop();
    });
    afterEach(async () => {
        api.behaviour = 'ok';
        await untilReadsWork(api, sidecar);
    });
    const refusals = [
        { title: 'an empty customer identifier', request: { customer_id: '', feature_id: 'f' } },
        { title: 'an absent feature identifier', request: { customer_id: 'c' } },
        { title: 'an empty resource identifier', request: { customer_id: 'c', feature_id: 'f', resource_id: '' } },
        { title: 'a control character in an identifier', request: { customer_id: 'a\u0000b', feature_id: 'f' } },
        { title: 'a negative requested usage', request: { customer_id: 'c', feature_id: 'f', options: { requested_usage: -1 } } },
        {
            title: 'a requested usage that is not a number',
            request: { customer_id: 'c', feature_id: 'f', options: { requested_usage: Number.NaN } },
        },
        {
            title: 'an infinite requested usage',
            request: { customer_id: 'c', feature_id: 'f', options: { requested_usage: Number.POSITIVE_INFINITY } },
        },
    ];
    for (const { title, request } of refusals) {
        it(`refuses ${title}, and asks nobody`, async () => {
            const asked = api.operations.length;
            const error = await errorOf(sidecar.call('GetMeteredEntitlement', request));
            expect(error.code).to.equal(3);
            expect(api.operations.filter(({ variables }) => variables.query?.customerId !== 'nobody')).to.have.length.at.most(asked);
        });
    }
    it('refuses an empty feature identifier of a cached customer too', async () => {
        api.states.set('cached', apiCalls);
        await sidecar.call('GetEntitlements', { customer_id: 'cached' });
        expect((await errorOf(sidecar.call('GetMeteredEntitlement', { customer_id: 'cached', feature_id: '' }))).code).to.equal(3);
    });
    it('lists all entitlements, but not revoked ones', async () => {
        api.states.set('all', holding(...(everything.entitlements ?? []), boolean('gone', { isGranted: false, accessDeniedReason: 'Revoked' })));
        const { entitlements } = await sidecar.call('GetEntitlements', { customer_id: 'all' });
        const listed = entitlements;
        expect(listed.map((e) => [Object.keys(e)[0], Object.values(e)[0].feature.id])).to.deep.equal([
            ['metered', 'api-calls'],
            ['boolean', 'sso'],
            ['numeric', 'projects'],
            ['enum', 'region'],
        ]);
    });
    it('says why a list is empty', async () => {
        const answer = await sidecar.call('GetEntitlements', { customer_id: 'never-heard-of' });
        expect(answer).to.deep.include({ entitlements: [], access_denied_reason: reason.noCustomer });
    });
    it('answers an error instead of an empty list when the API is away', async () => {
        api.behaviour = 'breaks';
        expect((await errorOf(sidecar.call('GetEntitlements', { customer_id: 'unread' }))).code).to.equal(14);
    });
    it('keeps a customer apart from its resources', async () => {
        api.states.set('a/b', holding(boolean('of-resource')));
        api.states.set('a', holding(boolean('of-customer')));
        const ask = (request) => sidecar.call('GetBooleanEntitlement', request);
        expect((await ask({ customer_id: 'a', resource_id: 'b', feature_id: 'of-resource' })).has_access).to.equal(true);
        expect((await ask({ customer_id: 'a', feature_id: 'of-resource' })).has_access ?? false).to.equal(false);
        expect((await ask({ customer_id: 'a', feature_id: 'of-customer' })).has_access).to.equal(true);
    });
});
/** An absent scalar and its zero are the same in proto3. */
function withoutZeros(answer) {
    return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== false && value !== 0 && !(Array.isArray(value) && value.length === 0)));
}
//# sourceMappingURL=checks.test.js.map