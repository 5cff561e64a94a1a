import { expect } from 'chai';
import { Redis } from 'ioredis';
import { applyChange } from '../../../src/updates/external-cache/apply.js';
import { ExternalCacheWriter } from '../../../src/updates/external-cache/writer.js';
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js';
import { boolean, message, metered, state, stateMessage, usage, usageMessage } from './held.js';
import { read } from './reader.js';
const onSite = { resourceId: 'site-1' };
const calls = (value, updatedAt) => metered('calls', usage(value, updatedAt));
const cases = [
    { title: 'nothing was told', messages: [], customer: 'miss' },
    {
        title: 'the newer state replaces the older one as a whole',
        messages: [stateMessage(state(5, [boolean('sso'), calls(1, 5)])), stateMessage(state(6, [boolean('audit')]))],
        customer: { audit: null },
    },
    {
        title: 'the reason why nothing is held is replaced with the state',
        messages: [stateMessage(state(5, [], { deniedReason: 'NoActiveSubscription' })), stateMessage(state(6, [boolean('sso')]))],
        customer: { sso: null },
    },
    {
        title: 'nothing is held, for a reason',
        messages: [stateMessage(state(5, [boolean('sso')])), stateMessage(state(6, [], { deniedReason: 'CustomerIsArchived' }))],
        customer: 'CustomerIsArchived',
    },
    {
        title: 'a usage overrides that of the state',
        messages: [stateMessage(state(5, [calls(1, 5)])), usageMessage('calls', usage(2, 6))],
        customer: { calls: 2 },
    },
    {
        title: 'a newer usage outlives a state that was built before it',
        messages: [usageMessage('calls', usage(3, 9)), stateMessage(state(5, [calls(1, 5)])), stateMessage(state(6, [calls(2, 6)]))],
        customer: { calls: 3 },
    },
    {
        title: 'an older usage does not come back',
        messages: [stateMessage(state(5, [calls(4, 5)])), usageMessage('calls', usage(1, 3))],
        customer: { calls: 4 },
    },
    {
        title: 'new rights bring their own usage, though it was changed before that of the old ones',
        messages: [usageMessage('calls', usage(8, 6)), stateMessage(state(7, [calls(0, 2)]))],
        customer: { calls: 0 },
    },
    {
        title: 'usage that starts again in a new period replaces that of the old one',
        messages: [usageMessage('calls', usage(8, 6)), stateMessage(state(3, [calls(0, 7)], { version: 7 }))],
        customer: { calls: 0 },
    },
    {
        title: 'a usage without a state is no answer',
        messages: [usageMessage('calls', usage(8, 6))],
        customer: 'miss',
    },
    {
        title: 'a usage does not make the entries of resources look old',
        messages: [
            stateMessage(state(5, [calls(1, 5)])),
            stateMessage(state(5, [calls(1, 5)], onSite)),
            usageMessage('calls', usage(2, 6)),
            stateMessage(state(5, [calls(2, 6)], { version: 6 })),
        ],
        customer: { calls: 2 },
        resource: { calls: 1 },
    },
    {
        title: 'a change of the customer makes older entries of its resources misses',
        messages: [stateMessage(state(5, [calls(1, 5)], onSite)), stateMessage(state(6, [calls(1, 5)]))],
        customer: { calls: 1 },
        resource: 'miss',
    },
    {
        title: 'the usage of a resource is its own',
        messages: [
            stateMessage(state(5, [calls(1, 5)])),
            stateMessage(state(5, [calls(1, 5)], onSite)),
            usageMessage('calls', usage(7, 6), 'site-1'),
        ],
        customer: { calls: 1 },
        resource: { calls: 7 },
    },
    {
        title: 'a purge takes the customer and its resources',
        messages: [
            stateMessage(state(5, [calls(1, 5)])),
            stateMessage(state(5, [calls(1, 5)], onSite)),
            usageMessage('calls', usage(2, 6)),
            usageMessage('calls', usage(2, 6), 'site-1'),
            message('purge', 7),
        ],
        customer: 'miss',
        resource: 'miss',
    },
    {
        title: 'a purge of a resource leaves its customer',
        messages: [stateMessage(state(5, [calls(1, 5)])), stateMessage(state(5, [calls(1, 5)], onSite)), message('purge', 7, onSite)],
        customer: { calls: 1 },
        resource: 'miss',
    },
    {
        title: 'a customer that comes back after a purge starts anew',
        messages: [
            stateMessage(state(5, [calls(1, 5)])),
            usageMessage('calls', usage(9, 6)),
            message('purge', 7),
            stateMessage(state(8, [calls(0, 8)])),
        ],
        customer: { calls: 0 },
    },
    {
        title: 'published packages change nothing by themselves',
        messages: [stateMessage(state(5, [calls(1, 5)])), message('package', 9, { customerId: '' })],
        customer: { calls: 1 },
    },
];
function seen(reading) {
    if (reading === null)
        return 'miss';
    if (reading.accessDeniedReason !== null)
        return reading.accessDeniedReason;
    return Object.fromEntries(Object.entries(reading.features).map(([refId, { usage: held }]) => [refId, held?.currentUsage ?? null]));
}
describe('what readers see in the external cache', () => {
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
    for (const { title, messages, customer, resource } of cases) {
        for (const [order, ordered] of [
            ['', messages],
            [', told backwards', messages.toReversed()],
            [', told twice', [...messages, ...messages]],
        ]) {
            it(title + order, async () => {
                const cache = new ExternalCacheWriter({ redis, prefix, ttlSeconds: 600 });
                const fetchState = () => Promise.reject(new Error('every message has its state'));
                for (const told of ordered)
                    await applyChange(told, { cache, fetchState, signal: new AbortController().signal });
                if (customer !== undefined)
                    expect(seen(await read(redis, prefix, 'acme'))).to.deep.equal(customer);
                if (resource !== undefined)
                    expect(seen(await read(redis, prefix, 'acme', 'site-1'))).to.deep.equal(resource);
            });
        }
    }
});
//# sourceMappingURL=reads.test.js.map