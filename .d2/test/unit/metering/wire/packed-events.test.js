import { expect } from 'chai';
import fc from 'fast-check';
import { packEvents, unpackEvents } from '../../../../src/metering/wire/packed-events.js';
describe('packed events', () => {
    it('are unpacked as they were, also after the way as JSON', () => {
        const anyText = fc.constantFrom('a', 'b', 'login', 'c');
        const anyEvent = fc.record({
            customerId: anyText,
            resourceId: fc.option(anyText),
            eventName: anyText,
            idempotencyKey: anyText,
            timestamp: fc.option(fc.integer({ min: 0 })),
            dimensions: fc.dictionary(anyText, fc.oneof(anyText, fc.integer(), fc.boolean(), fc.constant(null)), { noNullPrototype: true }),
        });
        fc.assert(fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
            const travelled = JSON.parse(JSON.stringify(packEvents(events)));
            expect(unpackEvents(travelled)).to.deep.equal(events);
        }));
    });
    it('carry what all have in common once', () => {
        const event = (key) => {
            return { customerId: 'acme', resourceId: null, eventName: 'login', idempotencyKey: key, timestamp: null, dimensions: {} };
        };
        expect(packEvents([event('1'), event('2')]))
            .to.include({ resources: null, named: null, times: null })
            .and.to.have.property('names')
            .that.deep.equals(['login']);
    });
});
//# sourceMappingURL=packed-events.test.js.map