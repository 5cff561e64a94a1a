import { expect } from 'chai';
import fc from 'fast-check';
import { fromText } from '../../../../src/kernel/decimal.js';
import { packAnswer, packCall, unpackAnswer, unpackCall } from '../../../../src/metering/wire/packed-reports.js';
const anyText = fc.constantFrom('a', 'b', '', '0');
const anyValue = fc.integer().map((value) => fromText(String(value)));
const anyTime = fc.integer({ min: 0 });
const anyReport = fc.record({
    id: anyText,
    customerId: anyText,
    featureId: anyText,
    value: anyValue,
    behavior: fc.constantFrom('DELTA', 'SET'),
    resourceId: fc.option(anyText),
    timestamp: fc.option(anyTime),
    idempotencyKey: fc.option(anyText),
    dimensions: fc.option(fc.dictionary(anyText, fc.oneof(anyText, fc.integer(), fc.boolean(), fc.constant(null)), { noNullPrototype: true })),
});
const travelled = (value) => JSON.parse(JSON.stringify(value));
describe('packed reports', () => {
    it('are unpacked as they were, also after the way as JSON', () => {
        fc.assert(fc.property(anyTime, fc.array(anyReport, { maxLength: 5 }), (deadline, items) => {
            expect(unpackCall(travelled(packCall({ deadline, items })))).to.deep.equal({ deadline, items });
        }));
    });
    it('have their answers unpacked as they were, with what the reports say', () => {
        const anyUsage = fc.record({
            id: anyText,
            currentUsage: anyValue,
            periodStart: fc.option(anyTime),
            periodEnd: fc.option(anyTime),
            timestamp: anyTime,
        });
        const anyCounted = fc.array(fc.record({ report: anyReport, usage: anyUsage }), { maxLength: 5 });
        fc.assert(fc.property(anyCounted, (counted) => {
            const usages = counted.map(({ report: { customerId, resourceId, featureId }, usage }) => ({
                customerId,
                resourceId,
                featureId,
                ...usage,
            }));
            const reports = counted.map(({ report }) => report);
            expect(unpackAnswer(travelled(packAnswer({ usages })), reports)).to.deep.equal({ usages });
        }));
    });
    it('have a problem for an answer as it is', () => {
        const answer = { problem: { code: 'NOT_FOUND', reason: 'CUSTOMER_NOT_FOUND', message: 'none', details: {} } };
        expect(unpackAnswer(travelled(packAnswer(answer)), [])).to.deep.equal(answer);
    });
    it('leave out what most reports do not have', () => {
        const plain = { behavior: 'DELTA', resourceId: null, timestamp: null, idempotencyKey: null, dimensions: null };
        const report = { id: 'id', customerId: 'acme', featureId: 'calls', value: fromText('1'), ...plain };
        expect(packCall({ deadline: 1, items: [report] })).to.deep.equal([1, ['id', 'acme', 'calls', '1']]);
    });
});
//# sourceMappingURL=packed-reports.test.js.map