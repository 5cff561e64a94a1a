import { expect } from 'chai';
import { Redis } from 'ioredis';
import { ExternalCacheWriter } from '../../../../src/updates/external-cache/writer.js';
import { metered, state, usage } from '../../../contract/cache/held.js';
import { testRedisPrefix, testRedisUrl } from '../../../support/redis.js';
const sevenDays = 7 * 86_400;
describe('purge of the external cache', () => {
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
    const values = async () => (await redis.keys(`${prefix}:*`)).filter((key) => !key.endsWith('#timestamp')).sort();
    it('takes only the customer that is meant, whatever its name', async () => {
        const cache = writer();
        for (const customerId of ['a', 'a:b', 'a*', 'ab', 'a:r_b']) {
            for (const resourceId of [null, 'r'])
                await cache.writeState(state(5, [metered('calls', usage(1, 5))], { customerId, resourceId }));
        }
        const before = await values();
        await cache.purge({ customerId: 'a*', resourceId: null }, 6);
        await cache.purge({ customerId: 'a', resourceId: null }, 6);
        const left = before.filter((key) => !/:c_a(\*)?(:r_r)?(:f_calls|:metadata)?$/.test(key));
        expect(left).to.have.length(18);
        expect(await values()).to.deep.equal(left);
    });
    it('finds usages that came before any entry, and more resources than one step of a scan', async () => {
        const cache = writer();
        await cache.writeUsage({ customerId: 'acme', resourceId: null }, { featureId: 'calls', usage: usage(1, 5) });
        await Promise.all(Array.from({ length: 1_500 }, (_, i) => cache.writeState(state(5, [metered('calls', usage(1, 5))], { customerId: 'acme', resourceId: `site-${i}` }))));
        expect(await values()).to.have.length(4_501);
        await cache.purge({ customerId: 'acme', resourceId: null }, 6);
        expect(await values()).to.deep.equal([]);
    });
    it('does not let a state or usage from before come back, not even of a resource that it did not know', async () => {
        const cache = writer();
        await cache.purge({ customerId: 'acme', resourceId: null }, 6);
        expect(await cache.writeState(state(5, [metered('calls', usage(1, 5))]))).to.equal(false);
        expect(await cache.writeState(state(5, [], { resourceId: 'site-1' }))).to.equal(false);
        expect(await cache.writeUsage({ customerId: 'acme', resourceId: 'site-1' }, { featureId: 'calls', usage: usage(1, 5) })).to.equal(false);
        expect(await values()).to.deep.equal([]);
        expect(await cache.writeState(state(7, []))).to.equal(true);
    });
    it('of one resource does not let it come back either, and leaves its customer open', async () => {
        const cache = writer();
        const calls = { featureId: 'calls', usage: usage(1, 5) };
        await cache.writeState(state(5, []));
        await cache.purge({ customerId: 'acme', resourceId: 'site-1' }, 6);
        expect(await cache.writeUsage({ customerId: 'acme', resourceId: 'site-1' }, calls)).to.equal(false);
        expect(await cache.writeUsage({ customerId: 'acme', resourceId: null }, calls)).to.equal(true);
    });
    it('leaves what is newer, and traces that go by themselves though values are kept for ever', async () => {
        const cache = writer(-1);
        await cache.writeState(state(8, [metered('calls', usage(1, 8))], { customerId: 'newer' }));
        await cache.writeState(state(5, [metered('calls', usage(1, 5))], { customerId: 'older' }));
        for (const customerId of ['newer', 'older'])
            await cache.purge({ customerId, resourceId: null }, 6);
        expect(await values()).to.deep.equal([`${prefix}:c_newer`, `${prefix}:c_newer:f_calls`, `${prefix}:c_newer:metadata`]);
        const traces = (await redis.keys(`${prefix}:c_older*`)).sort();
        expect(traces).to.have.length(3);
        for (const key of traces)
            expect(await redis.ttl(key), key).to.be.within(sevenDays - 10, sevenDays);
    });
});
//# sourceMappingURL=purge.test.js.map