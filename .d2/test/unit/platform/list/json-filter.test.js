import { expect } from 'chai';
import { column } from '../../../../src/platform/list/columns.js';
import { readJsonFilter } from '../../../../src/platform/list/json-filter.js';
const columns = {
    name: column('text', 'name'),
    size: column('integer', 'size'),
    at: column('time', 'at'),
    isOpen: column('boolean', 'is_open'),
};
describe('a filter that was sent as JSON', () => {
    it('is read as the schema would read it', () => {
        const json = {
            name: { in: ['a', 'b'], isNot: null },
            at: { between: { lower: '2026-01-31T00:00:00Z', upper: '2026-02-01T00:00:00+01:00' } },
            or: [{ size: { gte: 1 } }, { and: [{ isOpen: { is: true } }] }],
        };
        expect(readJsonFilter(json, columns)).to.deep.equal({
            name: { in: ['a', 'b'], isNot: null },
            at: { between: { lower: Date.UTC(2026, 0, 31), upper: Date.UTC(2026, 0, 31, 23) } },
            or: [{ size: { gte: 1 } }, { and: [{ isOpen: { is: true } }] }],
        });
    });
    for (const [title, json] of [
        ['a text', 'name'],
        ['a list', [{ name: { eq: 'a' } }]],
        ['an unknown field', { colour: { eq: 'red' } }],
        ['a value in place of a comparison', { name: 'a' }],
        ['a number for a text', { name: { eq: 1 } }],
        ['an object for a text', { name: { eq: { $ne: '' } } }],
        ['a text for a number', { size: { gt: '1' } }],
        ['a text that is no time', { at: { gt: 'yesterday' } }],
        ['half a range', { at: { between: { lower: '2026-01-31T00:00:00Z' } } }],
        ['a value in place of a list', { name: { in: 'a' } }],
        ['truth that is neither', { isOpen: { is: 'yes' } }],
        ['endless nesting', JSON.parse(`${'{"and":['.repeat(50)}{}${']}'.repeat(50)}`)],
    ]) {
        it(`is refused when it is or has ${title}`, () => {
            expect(() => readJsonFilter(json, columns))
                .to.throw()
                .with.property('reason', 'BAD_USER_INPUT');
        });
    }
});
//# sourceMappingURL=json-filter.test.js.map