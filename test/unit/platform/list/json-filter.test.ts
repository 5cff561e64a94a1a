import { expect } from 'chai'
import type { Columns } from '../../../../src/platform/list/columns.js'
import { column } from '../../../../src/platform/list/columns.js'
import { readJsonFilter } from '../../../../src/platform/list/json-filter.js'

const columns: Columns = {
  name: column('text', 'name'),
  size: column('integer', 'size'),
  at: column('time', 'at'),
  isOpen: column('boolean', 'is_open'),
}

describe('a filter that was sent as JSON', () => {
  it('is read as the schema would read it', () => {
    const json = {
      name: { in: ['a', 'b'], isNot: null },
      at: { between: { lower: '2026-01-31T00:00:00Z', upper: '2026-02-01T00:00:00+01:00' } },
      or: [{ size: { gte: 1 } }, { and: [{ isOpen: { is: true } }] }],
    }
    expect(readJsonFilter(json, columns)).to.deep.equal({
      name: { in: ['a', 'b'], isNot: null },
      at: { between: { lower: Date.UTC(2026, 0, 31), upper: Date.UTC(2026, 0, 31, 23) } },
      or: [{ size: { gte: 1 } }, { and: [{ isOpen: { is: true } }] }],
    })
  })

  for (const [title, json] of [
    ['a text', 'name'],
    ['a list', [{ name: { eq: 'a' } }]],
    ['an unknown field', { colour: { eq: 'red' } }],
    ['a field that every object has', { constructor: { eq: 'red' } }],
    ['a time that no database has', { at: { gt: '0000-01-01T00:00:00Z' } }],
    ['a number that no column has', { size: { gt: 1e15 } }],
    ['a value in place of a comparison', { name: 'a' }],
    ['a number for a text', { name: { eq: 1 } }],
    ['an object for a text', { name: { eq: { $ne: '' } } }],
    ['a text for a number', { size: { gt: '1' } }],
    ['a text that is no time', { at: { gt: 'yesterday' } }],
    ['half a range', { at: { between: { lower: '2026-01-31T00:00:00Z' } } }],
    ['a value in place of a list', { name: { in: 'a' } }],
    ['truth that is neither', { isOpen: { is: 'yes' } }],
    ['endless nesting', JSON.parse(`${'{"and":['.repeat(50)}{}${']}'.repeat(50)}`)],
  ] as [string, unknown][]) {
    it(`is refused when it is or has ${title}`, () => {
      expect(() => readJsonFilter(json, columns))
        .to.throw()
        .with.property('reason', 'BAD_USER_INPUT')
    })
  }
})
