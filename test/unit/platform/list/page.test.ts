import { expect } from 'chai'
import { withRecords } from '../../../../src/platform/list/page.js'

describe('a page of records', () => {
  it('leaves out what was deleted since its id was read', async () => {
    const rows = ['a', 'b', 'c'].map((item) => ({ cursor: `at ${item}`, item }))
    const page = { rows, hasNextPage: true, hasPreviousPage: false, totalCount: async () => 3 }
    const load = async (ids: string[]) => new Map(ids.filter((id) => id !== 'b').map((id) => [id, { id }]))
    const { rows: found, hasNextPage } = await withRecords(page, load)
    expect(found).to.deep.equal([
      { cursor: 'at a', item: { id: 'a' } },
      { cursor: 'at c', item: { id: 'c' } },
    ])
    expect(hasNextPage).to.equal(true)
  })
})
