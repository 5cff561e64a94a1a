import { expect } from 'chai';
import * as decimal from '../../../../src/kernel/decimal.js';
import { Problem } from '../../../../src/kernel/problem.js';
import { checkEvent, checkReport, eventIdentity, reportBody, reportIdentity, } from '../../../../src/metering/model/report.js';
const now = Date.parse('2026-01-15T00:00:00.000Z');
const event = { customerId: 'c', resourceId: null, eventName: 'e', idempotencyKey: 'k', timestamp: null, dimensions: {} };
const report = {
    id: 'id',
    customerId: 'c',
    resourceId: null,
    featureId: 'f',
    value: decimal.fromNumber(1),
    behavior: 'DELTA',
    timestamp: null,
    idempotencyKey: 'k',
    dimensions: null,
};
const hex = (hash) => hash.toString('hex');
describe('the identity of usage', () => {
    it('differs in every part of an event but its dimensions', () => {
        const others = [
            { customerId: 'd' },
            { resourceId: '' },
            { eventName: 'f' },
            { idempotencyKey: 'l' },
            { timestamp: 0 },
            { timestamp: 1 },
        ];
        const hashes = [event, ...others.map((change) => ({ ...event, ...change }))].map((e) => hex(eventIdentity('env', e)));
        expect(new Set([...hashes, hex(eventIdentity('other', event))]).size).to.equal(others.length + 2);
        expect(hex(eventIdentity('env', { ...event, dimensions: { a: 1 } }))).to.equal(hashes[0]);
    });
    it('never mistakes the border between two parts', () => {
        const of = (customerId, eventName) => hex(eventIdentity('env', { ...event, customerId, eventName }));
        expect(of('ab', 'c')).not.to.equal(of('a', 'bc'));
        expect(of('1:a', 'b')).not.to.equal(of('1', 'a1:b'));
        expect(hex(reportIdentity('env', 'k'))).not.to.equal(hex(reportIdentity('en', 'vk')));
    });
    it('of a report is its key; its body is everything else that the caller sent', () => {
        const others = [
            { customerId: 'd' },
            { resourceId: 'r' },
            { featureId: 'g' },
            { value: decimal.zero },
            { behavior: 'SET' },
            { timestamp: 1 },
            { dimensions: {} },
        ];
        const bodies = [report, ...others.map((change) => ({ ...report, ...change }))].map((r) => hex(reportBody(r)));
        expect(new Set(bodies).size).to.equal(others.length + 1);
        expect(hex(reportBody({ ...report, id: 'another' }))).to.equal(bodies[0]);
        const dimensions = (entries) => hex(reportBody({ ...report, dimensions: Object.fromEntries(entries) }));
        expect(dimensions([
            ['a', 1],
            ['b', 2],
        ])).to.equal(dimensions([
            ['b', 2],
            ['a', 1],
        ]));
    });
});
describe('usage at the door', () => {
    const refusals = [
        ['an empty identifier', { customerId: '' }],
        ['a blank event name', { eventName: ' ' }],
        ['a control character in a key', { idempotencyKey: 'a\nb' }],
        ['an empty resource', { resourceId: '' }],
        ['a time beyond the window', { timestamp: now + 5 * 60_000 + 1 }],
        ['dimensions that are a list', { dimensions: [] }],
        ['a dimension that is an object', { dimensions: { a: {} } }],
        ['a dimension that is not a number', { dimensions: { a: Number.NaN } }],
        ['text that PostgreSQL cannot hold', { dimensions: { a: 'a\u0000b' } }],
        ['half a character', { dimensions: { a: '\ud800' } }],
        ['more than 1 MB', { dimensions: { a: 'x'.repeat(1_000_001) } }],
    ];
    for (const [title, change] of refusals) {
        it(`refuses ${title}`, () => {
            expect(() => checkEvent({ ...event, ...change }, now))
                .to.throw(Problem)
                .with.property('code', 'INVALID_ARGUMENT');
        });
    }
    it('keeps 0, false and "" as values, and null as a missing one', () => {
        const dimensions = { zero: 0, no: false, empty: '', missing: null, word: '客户 🙂' };
        expect(checkEvent({ ...event, dimensions, timestamp: new Date(now) }, now)).to.deep.include({ dimensions, timestamp: now });
    });
    it('refuses a value that cannot be kept', () => {
        expect(() => checkReport({ ...report, value: decimal.fromText('1e15') }, 'id', now)).to.throw(Problem);
        expect(checkReport({ ...report, value: decimal.fromText('-999999999999999') }, 'id', now)).to.deep.include({
            id: 'id',
            timestamp: null,
        });
    });
});
//# sourceMappingURL=report.test.js.map