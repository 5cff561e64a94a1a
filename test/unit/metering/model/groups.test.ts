import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import { memberHash } from '../../../../src/metering/model/aggregate.js'
import { BucketGroups, GroupLines, type GroupShare, groupValues } from '../../../../src/metering/model/groups.js'
import type { HistoryPlan } from '../../../../src/metering/model/history.js'
import type { Aggregation } from '../../../../src/metering/model/meter.js'

const d = decimal.fromNumber

describe('the values of a group', () => {
  it('are those of its dimensions as text, and "" for what is not there', () => {
    const dimensions = { model: 'large', size: 0, cached: false, none: null }
    expect(groupValues(dimensions, ['size', 'model', 'cached', 'none', 'gone', 'toString'])).to.deep.equal([
      '0',
      'large',
      'false',
      '',
      '',
      '',
    ])
    expect(groupValues(dimensions, [])).to.deep.equal([])
  })
})

describe('what groups have in a bucket', () => {
  it('is added up for each combination of values', () => {
    const groups = new BucketGroups('SUM')
    for (const [values, share] of [
      [['a', 'b'], 1],
      [['ab', ''], 2],
      [['a', 'b'], 3],
    ] as const)
      groups.add([...values], d(share))
    expect(groups).to.include({ size: 2, isLevel: false })
    expect(groups.toShares()).to.deep.equal([
      { values: ['a', 'b'], usage: '4', events: 2, members: [] },
      { values: ['ab', ''], usage: '2', events: 1, members: [] },
    ])
  })
  it('is replaced as a whole when it is set', () => {
    const groups = new BucketGroups('SUM')
    groups.add(['a'], d(1))
    groups.set(['b'], d(5))
    groups.add(['b'], d(2))
    expect(groups.isLevel).to.equal(true)
    expect(groups.toShares()).to.deep.equal([{ values: ['b'], usage: '7', events: 2, members: [] }])
  })
  it('names members by their hash, each once', () => {
    const groups = new BucketGroups('UNIQUE')
    for (const member of ['x', 'y', 'x']) groups.add(['a'], member)
    const members = ['x', 'y'].map((member) => memberHash(member).toString('base64'))
    expect(groups.toShares()).to.deep.equal([{ values: ['a'], usage: '0', events: 3, members }])
  })
})

describe('the lines of groups', () => {
  /** Usage starts again with the third slice. */
  const plan: HistoryPlan = {
    slices: [0, 0, 1, 1].map((period, index) => ({ start: index * 100, isReset: index === 2, period })),
    end: 400,
    from: 0,
    resets: [0, 200],
  }
  const cuts = [0, 100, 200, 300]
  const share = (name: string, usage: number, events = 1, members: string[] = []): GroupShare => ({
    values: [name],
    usage: d(usage),
    events,
    members,
  })
  const linesOf = (aggregation: Aggregation, ...buckets: [part: string, bucket: number, groups: GroupShare[], isLevel?: boolean][]) => {
    const lines = new GroupLines(plan, cuts, aggregation)
    for (const [part, bucket, groups, isLevel = false] of buckets) lines.add({ part, bucket, isLevel, groups })
    const drawn = lines.lines(['name'])
    expect(lines.size).to.equal(drawn.length)
    return Object.fromEntries(drawn.map(({ tags, points }) => [tags[0]!.value, points.map(({ value }) => Number(value))]))
  }

  it('tell where each stood at the end of a slice since usage last started again', () => {
    expect(
      linesOf(
        'SUM',
        ['p', 0, [share('a', 1), share('b', 10)]],
        ['q', 50, [share('a', 2)]],
        ['p', 100, [share('a', 4)]],
        ['p', 300, [share('a', 8)]],
      ),
    ).to.deep.equal({ a: [3, 7, 0, 8], b: [10, 10, 0, 0] })
  })
  it('begin with what was before the first slice, and go on where nothing happens', () => {
    expect(linesOf('SUM', ['p', -50, [share('a', 5)]])).to.deep.equal({ a: [5, 5, 0, 0] })
    expect(linesOf('SUM', ['p', -50, [share('a', 5)]], ['p', 199, [share('b', 1)]], ['p', 200, [share('a', 2)]])).to.deep.equal({
      a: [5, 5, 2, 2],
      b: [0, 1, 0, 0],
    })
    expect(linesOf('SUM')).to.deep.equal({})
  })
  it('have their tags and the cuts of the plan', () => {
    const lines = new GroupLines(plan, cuts, 'SUM')
    lines.add({ part: 'p', bucket: 0, isLevel: false, groups: [{ values: ['x', 'y'], usage: d(1), events: 1, members: [] }] })
    const [line] = lines.lines(['first', 'second'])
    expect(line!.tags).to.deep.equal([
      { key: 'first', value: 'x' },
      { key: 'second', value: 'y' },
    ])
    expect(line!.points.map(({ at, isReset }) => [at, isReset])).to.deep.equal([
      [0, false],
      [100, false],
      [200, true],
      [300, false],
    ])
  })
  it('forget what a part had when its usage is set, and nothing of other parts', () => {
    expect(linesOf('SUM', ['p', 0, [share('a', 1)]], ['q', 0, [share('a', 2)]], ['p', 100, [share('b', 7)], true])).to.deep.equal({
      a: [3, 2, 0, 0],
      b: [0, 7, 0, 0],
    })
  })
  it('have the largest, the smallest, the average and the members of all parts', () => {
    const buckets: Parameters<typeof linesOf>[1][] = [
      ['p', 0, [share('a', 4, 2, ['x', 'y'])]],
      ['q', 0, [share('a', 9, 1, ['y'])]],
      ['p', 100, [share('a', 3, 1, ['z'])]],
      ['q', 110, [share('a', 5, 1, ['x'])]],
    ]
    expect(linesOf('MAX', ...buckets).a).to.deep.equal([9, 9, 0, 0])
    expect(linesOf('MIN', ...buckets).a).to.deep.equal([4, 3, 0, 0])
    expect(linesOf('AVG', ...buckets).a).to.deep.equal([decimal.toNumber(decimal.divide(d(13), d(3))), 21 / 5, 0, 0])
    expect(linesOf('UNIQUE', ...buckets).a).to.deep.equal([2, 3, 0, 0])
    expect(linesOf('COUNT', ...buckets).a).to.deep.equal([13, 21, 0, 0])
  })
})
