import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { lineCursor, pageOfLines, sortLines } from '../../../../src/metering/model/history-paging.js'

describe('a page of lines', () => {
  const groupBy = ['model', 'region']
  const lines = sortLines(
    ['a', 'b', 'c'].flatMap((model) =>
      ['', 'eu', 'us'].map((region) => ({
        tags: [
          { key: 'model', value: model },
          { key: 'region', value: region },
        ],
      })),
    ),
  )
  const named = (shown: typeof lines) => shown.map(({ tags }) => tags.map(({ value }) => value).join('/'))
  const page = (paging: object) => named(pageOfLines(lines, { first: null, last: null, after: null, before: null, ...paging }, groupBy))
  const at = (index: number) => lineCursor(lines[index]!)

  it('walks forwards and backwards, and meets each line once', () => {
    expect(page({ first: 4 })).to.deep.equal(['a/', 'a/eu', 'a/us', 'b/'])
    expect(page({ first: 4, after: at(3) })).to.deep.equal(['b/eu', 'b/us', 'c/', 'c/eu'])
    expect(page({ first: 4, after: at(7) })).to.deep.equal(['c/us'])
    expect(page({ last: 2 })).to.deep.equal(['c/eu', 'c/us'])
    expect(page({ last: 2, before: at(7) })).to.deep.equal(['b/us', 'c/'])
    expect(page({ before: at(2) })).to.deep.equal(['a/', 'a/eu'])
    expect(page({ first: 5, after: at(0), before: at(3) })).to.deep.equal(['a/eu', 'a/us'])
    expect(page({})).to.have.length(9)
  })

  it('goes on behind a line that is gone', () => {
    const gone = lineCursor({
      tags: [
        { key: 'model', value: 'aa' },
        { key: 'region', value: 'x' },
      ],
    })
    expect(page({ first: 1, after: gone })).to.deep.equal(['b/'])
  })

  it('refuses sizes that are not served, and cursors of another grouping', () => {
    const other = lineCursor({ tags: [{ key: 'region', value: 'eu' }] })
    for (const paging of [{ first: 1, last: 1 }, { first: 101 }, { last: -1 }, { after: 'nonsense' }, { after: other }, { before: other }])
      expect(() => page(paging), JSON.stringify(paging)).to.throw()
  })

  it('is of ten lines unless more are asked for, at the end before which it is to stop', () => {
    const many = sortLines(Array.from({ length: 120 }, (_, index) => ({ tags: [{ key: 'n', value: String(index).padStart(3, '0') }] })))
    const shown = (paging: object) => {
      const page = pageOfLines(many, { first: null, last: null, after: null, before: null, ...paging }, ['n'])
      const names = page.map(({ tags }) => tags[0]!.value)
      return [names.length, names[0], names.at(-1)]
    }
    const at = (index: number) => lineCursor(many[index]!)
    const cases: [object, unknown[]][] = [
      [{}, [10, '000', '009']],
      [{ before: at(50) }, [10, '040', '049']],
      [{ after: at(50) }, [10, '051', '060']],
      [{ after: at(20), before: at(50) }, [10, '021', '030']],
      [{ first: 2, before: at(50) }, [2, '000', '001']],
      [{ last: 2, after: at(50) }, [2, '118', '119']],
      [{ last: 2, after: at(20), before: at(50) }, [2, '048', '049']],
      [{ first: 100 }, [100, '000', '099']],
      [{ last: 100 }, [100, '020', '119']],
      [{ first: 0 }, [0, undefined, undefined]],
    ]
    for (const [paging, expected] of cases) expect(shown(paging), JSON.stringify(paging)).to.deep.equal(expected)
    const backwards = sortLines([...many].reverse())
    expect(backwards).to.deep.equal(many)
  })

  it('is refused with the place of what is wrong', () => {
    const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const region = ['region', 'eu']
    const wrong = [
      { first: 1, last: 1 },
      { first: -1 },
      { last: 101 },
      { first: 1.5 },
      ...[
        null,
        7,
        {},
        [],
        [7],
        [[], []],
        [['model', 'a'], 7],
        [['model', 'a']],
        [region, ['model', 'a']],
        [['model', 'a'], region, region],
        [
          ['model', 'a'],
          ['region', 7],
        ],
        [
          ['model', 'a'],
          ['x', 'eu'],
        ],
        [['x', 'a'], region],
      ].map((value) => ({ after: cursorOf(value) })),
      { before: '{' },
    ]
    for (const paging of wrong)
      expect(() => page(paging), JSON.stringify(paging))
        .to.throw(Problem)
        .with.nested.property('details.path', 'paging')
    expect(() => page({ first: 101 }))
      .to.throw(Problem)
      .with.nested.property('details.limit', 100)
    expect(
      page({
        after: cursorOf([
          ['model', 'b'],
          ['region', 'us'],
        ]),
      }),
    ).to.deep.equal(['c/', 'c/eu', 'c/us'])
  })
})
