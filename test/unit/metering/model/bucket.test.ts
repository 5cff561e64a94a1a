import { expect } from 'chai'
import fc from 'fast-check'
import { bucketMs, splitByBuckets, type TimeRange } from '../../../../src/metering/model/bucket.js'

const at = (quarters: number) => quarters * bucketMs

describe('a range by quarters of an hour', () => {
  for (const [title, range, since, expected] of [
    ['on boundaries', [1, 3], null, { whole: [1, 3], rest: [] }],
    [
      'between them',
      [0.5, 3.25],
      null,
      {
        whole: [1, 3],
        rest: [
          [0.5, 1],
          [3, 3.25],
        ],
      },
    ],
    ['within one', [1.25, 1.75], null, { whole: null, rest: [[1.25, 1.75]] }],
    ['over one boundary only', [1.5, 2.5], null, { whole: null, rest: [[1.5, 2.5]] }],
    ['without a beginning', [null, 2.5], null, { whole: [null, 2], rest: [[2, 2.5]] }],
    ['without an end', [0.5, null], null, { whole: [1, null], rest: [[0.5, 1]] }],
    ['without either', [null, null], null, { whole: [null, null], rest: [] }],
    ['whose first buckets are not to be had', [0.5, 4], 1.5, { whole: [2, 4], rest: [[0.5, 2]] }],
    ['without a beginning, whose first buckets are not to be had', [null, 4], 2, { whole: [2, 4], rest: [[null, 2]] }],
    ['whose buckets are not to be had', [0.5, 4], 9, { whole: null, rest: [[0.5, 4]] }],
  ] as const)
    it(title, () => {
      const toRange = ([from, to]: readonly [number | null, number | null]) => ({
        from: from === null ? null : at(from),
        to: to === null ? null : at(to),
      })
      expect(splitByBuckets(toRange(range), since === null ? null : at(since))).to.deep.equal({
        whole: expected.whole && toRange(expected.whole),
        rest: expected.rest.map(toRange),
      })
    })

  it('has each instant once, and whole buckets only in the middle', () => {
    const time = fc.option(fc.integer({ min: 0, max: 20 * bucketMs }))
    fc.assert(
      fc.property(time, time, time, fc.integer({ min: 0, max: 20 * bucketMs }), (from, to, since, instant) => {
        fc.pre(from === null || to === null || from < to)
        const contains = (range: TimeRange) => (range.from === null || range.from <= instant) && (range.to === null || instant < range.to)
        const { whole, rest } = splitByBuckets({ from, to }, since)
        const parts = whole ? [whole, ...rest] : rest
        expect(parts.filter(contains).length).to.equal(contains({ from, to }) ? 1 : 0)
        for (const bound of [whole?.from, whole?.to]) if (typeof bound === 'number') expect(bound % bucketMs).to.equal(0)
        if (whole && since !== null) expect(whole.from).to.be.at.least(since)
      }),
    )
  })
})
