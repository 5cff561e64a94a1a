import { expect } from 'chai'
import { differenceOf, hidden, joined } from '../../../../src/audit/model/difference.js'

describe('what an entry of the audit log says', () => {
  const changed = { changed: true }

  it('is the fields that are different, before and after, whatever order they come in', () => {
    expect(differenceOf({ before: { a: 1, b: { x: 1, y: [1, 2] }, c: null }, after: { a: 2, b: { y: [1, 2], x: 1 } } })).to.deep.equal({
      before: { a: 1 },
      after: { a: 2 },
    })
    expect(differenceOf({ before: { a: [1] }, after: { a: [1, 2] } })).to.deep.equal({ before: { a: [1] }, after: { a: [1, 2] } })
    expect(differenceOf({ before: { a: 'x' }, after: {} })).to.deep.equal({ before: { a: 'x' }, after: { a: null } })
  })

  const values: [before: unknown, after: unknown][] = [
    [
      [1, 2],
      [1, 3],
    ],
    [
      { x: 1, y: 1 },
      { x: 1, y: 2 },
    ],
    [{ x: 1 }, { x: 1, y: 2 }],
    [{ x: { y: [{ z: 1 }] } }, { x: { y: [{ z: 2 }] } }],
    [[], ''],
    [{}, []],
    [{}, 1],
    [0, false],
    ['1', 1],
  ]
  for (const [a, b] of values)
    it(`tells ${JSON.stringify(a)} from ${JSON.stringify(b)}, either way`, () => {
      expect(differenceOf({ before: { a }, after: { a: b } })).to.deep.equal({ before: { a }, after: { a: b } })
      expect(differenceOf({ before: { a: b }, after: { a } })).to.deep.equal({ before: { a: b }, after: { a } })
      expect(differenceOf({ before: { a, b }, after: { a: structuredClone(a), b: structuredClone(b) } })).to.equal(null)
    })

  it('is nothing when nothing is different', () => {
    expect(differenceOf({ before: { a: 1, b: null }, after: { a: 1, c: undefined } })).to.equal(null)
    expect(differenceOf({ before: null, after: null })).to.equal(null)
  })

  it('is all that there is of what was made or is gone, without what is empty', () => {
    expect(
      differenceOf({ before: null, after: { a: 1, b: null, c: [], d: false, e: 0, f: '', g: undefined, h: hidden(null) } }),
    ).to.deep.equal({
      before: null,
      after: { a: 1, d: false, e: 0, f: '' },
    })
    expect(differenceOf({ before: { a: 1, b: null }, after: null })).to.deep.equal({ before: { a: 1 }, after: null })
  })

  it('has no hidden value, at whatever depth, but that it changed', () => {
    expect(
      differenceOf({ before: { name: hidden('Ada'), email: null }, after: { name: hidden('Eve'), email: hidden('e@x') } }),
    ).to.deep.equal({
      before: { name: changed, email: null },
      after: { name: changed, email: changed },
    })
    for (const nothing of [null, undefined])
      expect(differenceOf({ before: { name: hidden('Ada') }, after: { name: hidden(nothing) } })).to.deep.equal({
        before: { name: changed },
        after: { name: null },
      })
    expect(differenceOf({ before: { name: hidden('Ada') }, after: { name: hidden('Ada') } })).to.equal(null)
    expect(differenceOf({ before: null, after: { of: [{ name: hidden('Ada') }] } })).to.deep.equal({
      before: null,
      after: { of: [{ name: changed }] },
    })
  })

  it('joins two changes of an entity to what they come to', () => {
    const [first, second] = [
      { before: { a: 1, b: 1 }, after: { a: 2, b: 1 } },
      { before: { a: 2, c: 1 }, after: { a: 3, c: 2 } },
    ]
    expect(differenceOf(joined(first, second))).to.deep.equal({ before: { a: 1, c: 1 }, after: { a: 3, c: 2 } })
    expect(differenceOf(joined({ before: null, after: { a: 1 } }, first))).to.deep.equal({ before: null, after: { a: 2, b: 1 } })
    expect(differenceOf(joined(first, { before: { a: 2 }, after: null }))).to.deep.equal({ before: { a: 1, b: 1 }, after: null })
    expect(differenceOf(joined({ before: { a: 1 }, after: { a: 2 } }, { before: { a: 2 }, after: { a: 1 } }))).to.equal(null)
  })
})
