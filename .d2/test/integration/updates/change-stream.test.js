import { expect } from 'chai';
import { Redis } from 'ioredis';
import { ChangeStream, isReached } from '../../../src/updates/stream/change-stream.js';
import { changeChannel } from '../../../src/updates/wire/change-message.js';
import { message } from '../../contract/cache/held.js';
import { eventually } from '../../support/eventually.js';
import { testRedisPrefix, testRedisUrl } from '../../support/redis.js';
describe('change stream', () => {
    let redis;
    let prefix;
    let stream;
    before(() => {
        redis = new Redis(testRedisUrl());
    });
    after(() => redis.disconnect());
    beforeEach(() => {
        prefix = testRedisPrefix();
        stream = new ChangeStream({ redis, prefix });
    });
    afterEach(async () => {
        const keys = await redis.keys(`${prefix}:*`);
        if (keys.length > 0)
            await redis.del(keys);
    });
    const change = (customerId, version, differing = {}) => message('entitlements', version, { customerId, ...differing });
    const position = async () => (await stream.since('environment', null)).position;
    const missed = async (after) => (await stream.since('environment', after)).missed.map(({ customerId, resourceId, version }) => [customerId, resourceId, version]);
    it('knows a position before the first change, to which one can come back', async () => {
        const first = await position();
        await stream.append([change('a', 1)]);
        const { isGap, missed: found } = await stream.since('environment', first);
        expect(isGap).to.equal(false);
        expect(found.map(({ customerId }) => customerId)).to.deep.equal(['a']);
    });
    it('tells what came after a position, each customer and resource once and in the order of their last changes', async () => {
        const first = await position();
        await stream.append([change('a', 1), change('b', 2), change('a', 3, { resourceId: 'r' }), change('a', 4)]);
        expect(await missed(first)).to.deep.equal([
            ['b', null, 2],
            ['a', 'r', 3],
            ['a', null, 4],
        ]);
        expect(await missed(await position())).to.deep.equal([]);
    });
    it('keeps environments apart', async () => {
        const first = await position();
        await stream.append([change('a', 1, { environmentId: 'another' })]);
        expect(await missed(first)).to.deep.equal([]);
    });
    it('tells a gap when the position was trimmed away', async () => {
        const first = await position();
        await stream.append(Array.from({ length: 12_000 }, (_, n) => change(`c${n}`, n)));
        const { isGap, missed: found, position: last } = await stream.since('environment', first);
        expect({ isGap, found: found.length }).to.deep.equal({ isGap: true, found: 0 });
        expect(isReached(first, last)).to.equal(true);
        const [key] = await redis.keys(`${prefix}:change-stream:*`);
        expect(await redis.xlen(key)).to.be.below(11_000);
    });
    it('tells a gap when the stream was lost, and when the position is none of it', async () => {
        const first = await position();
        await stream.append([change('a', 1)]);
        const keys = await redis.keys(`${prefix}:*`);
        await redis.del(keys);
        // Positions begin with the time: a stream that was lost is not there again in the millisecond that it began in.
        await eventually('a later millisecond', () => Date.now() > Number(first.split('-')[0]) + 1);
        await stream.append([change('b', 2)]);
        for (const after of [first, 'nonsense', '0-0', '99999999999999-0']) {
            const { isGap } = await stream.since('environment', after);
            expect(isGap, after).to.equal(true);
        }
    });
    it('publishes each message whole, with its position, in the order of the positions', async () => {
        const subscriber = redis.duplicate();
        try {
            const heard = [];
            subscriber.on('message', (_channel, text) => heard.push(JSON.parse(text)));
            await subscriber.subscribe(changeChannel(prefix, 'environment'));
            const sent = [change('a', 1), change('b', 2, { resourceId: 'r' })];
            await stream.append(sent);
            await eventually('both messages', () => heard.length === 2);
            expect(heard.map(({ position: _, ...rest }) => rest)).to.deep.equal(sent);
            const [one, other] = heard.map(({ position: at }) => at);
            expect(isReached(one, other) && !isReached(other, one)).to.equal(true);
            expect((await stream.since('environment', one)).missed.map(({ customerId }) => customerId)).to.deep.equal(['b']);
        }
        finally {
            subscriber.disconnect();
        }
    });
    it('takes a few hundred bytes for each change, however large the state in its message', async () => {
        await stream.append(Array.from({ length: 1_000 }, (_, n) => change(`customer-${n}`, n, { state: { padding: 'x'.repeat(5_000) } })));
        const [key] = await redis.keys(`${prefix}:change-stream:*`);
        expect(Number(await redis.memory('USAGE', key)) / 1_000).to.be.below(300);
    });
});
//# sourceMappingURL=change-stream.test.js.map