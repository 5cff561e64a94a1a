import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { column } from '../../../../src/platform/list/columns.js'
import { filterCondition } from '../../../../src/platform/list/filter.js'

const columns = {
  id: column('uuid', 't.id'),
  refId: column('text', 't.ref_id'),
  at: column('time', 't.at'),
}
const texts = (count: number) => Array.from({ length: count }, (_, n) => `text-${n}`)

describe('the condition of a filter', () => {
  it('has one parameter for a list, however long it is, and compares one value by itself', () => {
    const many = filterCondition({ refId: { in: texts(1_000) } }, columns)
    expect([many.sql, many.values]).to.deep.equal(['(((t.ref_id = ANY (?::text[]))))', [texts(1_000)]])
    const none = filterCondition({ at: { notIn: [0, 86_400_000] } }, columns)
    expect([none.sql, none.values]).to.deep.equal([
      '((NOT (t.at = ANY (?::timestamptz[]))))',
      [['1970-01-01T00:00:00.000Z', '1970-01-02T00:00:00.000Z']],
    ])
    for (const comparison of [{ eq: 'a' }, { in: ['a'] }]) {
      const one = filterCondition({ refId: comparison }, columns)
      expect([one.sql, one.values]).to.deep.equal(['(((t.ref_id = ?::text)))', ['a']])
    }
    const ids = ['5f2ae3a0-0000-7000-8000-000000000001', '5f2ae3a0-0000-7000-8000-000000000002']
    expect(filterCondition({ id: { in: ['a', ...ids] } }, columns).values).to.deep.equal([ids])
    expect(filterCondition({ id: { in: ['a'] } }, columns).sql).to.equal('((FALSE))')
  })

  it('takes so many values of all its lists together', () => {
    const groups = (count: number, values: number) => ({ and: [{ or: Array(count).fill({ refId: { notIn: texts(values) } }) }] })
    expect(filterCondition(groups(100, 10), columns).values).to.have.length(100)
    for (const tooMany of [groups(66, 1_000), groups(101, 10), groups(1, 1_001)])
      expect(() => filterCondition(tooMany, columns))
        .to.throw(Problem, 'The lists of a filter may have at most 1000 values, all of them together.')
        .with.property('code', 'INVALID_ARGUMENT')
  })
})
