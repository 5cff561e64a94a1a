import { expect } from 'chai'
import * as decimal from '../../../../src/kernel/decimal.js'
import {
  calendarPeriods,
  drawLine,
  type Granularity,
  granularityOf,
  type HistoryReset,
  planHistory,
  type SliceUsage,
} from '../../../../src/metering/model/history.js'
import type { ResetPeriod } from '../../../../src/metering/model/usage-period.js'

const at = (text: string) => Date.parse(text)
const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString().slice(0, 16))
const dayMs = 86_400_000
const d = decimal.fromNumber

describe('the steps of a line', () => {
  it('are as fine as can be read', () => {
    const of = (days: number, moreMs = 0) => granularityOf(1_000, 1_000 + days * dayMs + moreMs)
    const cases: [number, number, Granularity][] = [
      [0, 1, 'HOUR'],
      [7, 0, 'HOUR'],
      [7, 1, 'DAY'],
      [200, 0, 'DAY'],
      [200, 1, 'WEEK'],
      [800, 0, 'WEEK'],
      [800, 1, 'MONTH'],
      [9_000, 0, 'MONTH'],
    ]
    for (const [days, more, granularity] of cases) expect(of(days, more), `${days} days and ${more} ms`).to.equal(granularity)
  })

  it('begin where clocks of the zone show a full hour, a midnight, a Monday, a month or a year', () => {
    // It is still 2025 in New York, and the 1st of January 2026 in Kathmandu, 5:45 hours ahead.
    const near = at('2025-12-31T22:10:00Z')
    const startOf = (period: ResetPeriod, timeZone: string) => {
      const plan = planHistory({ start: near, end: near + 1, granularity: null, timeZone }, calendarPeriods(period, timeZone, near))
      return iso(plan!.slices[0]!.start)
    }
    const table: [string, Record<ResetPeriod, string>][] = [
      [
        'America/New_York',
        {
          HOUR: '2025-12-31T22:00',
          DAY: '2025-12-31T05:00',
          WEEK: '2025-12-29T05:00',
          MONTH: '2025-12-01T05:00',
          YEAR: '2025-01-01T05:00',
        },
      ],
      [
        'Asia/Kathmandu',
        {
          HOUR: '2025-12-31T21:15',
          DAY: '2025-12-31T18:15',
          WEEK: '2025-12-28T18:15',
          MONTH: '2025-12-31T18:15',
          YEAR: '2025-12-31T18:15',
        },
      ],
    ]
    for (const [timeZone, starts] of table)
      for (const [period, start] of Object.entries(starts))
        expect(startOf(period as ResetPeriod, timeZone), `${period} ${timeZone}`).to.equal(start)
  })
})

describe('the plan of a line', () => {
  const start = at('2026-03-01T00:00:00Z')
  const reset: HistoryReset = { period: 'DAY', rule: 'SubscriptionStart', anchor: at('2026-02-27T12:00:00Z'), timeZone: 'UTC' }
  const plan = (days: number, granularity: Granularity | null, of: HistoryReset | null, from = start) =>
    planHistory({ start: from, end: from + days * dayMs, granularity, timeZone: 'UTC' }, of)

  it('has a slice for each step, from the one that the range begins in, and one period for all where usage is never reset', () => {
    const { slices, ...rest } = plan(2, 'DAY', null, start + 1)!
    expect(slices).to.deep.equal([0, 1, 2].map((day) => ({ start: start + day * dayMs, isReset: false, period: -1 })))
    expect(rest).to.deep.equal({ end: start + 1 + 2 * dayMs, from: null, resets: [] })
  })

  it('is cut where usage is reset, but not before it begins', () => {
    const half = dayMs / 2
    const { slices, from, resets } = plan(2, 'DAY', reset)!
    expect(resets).to.deep.equal([start - half, start + half, start + dayMs + half])
    expect(from).to.equal(start - half)
    expect(slices).to.deep.equal([
      { start, isReset: false, period: 0 },
      { start: start + half, isReset: true, period: 1 },
      { start: start + dayMs, isReset: false, period: 1 },
      { start: start + dayMs + half, isReset: true, period: 2 },
    ])
  })

  it('knows the period of a first slice that begins before the range, and a reset with it', () => {
    const weekly: HistoryReset = { period: 'WEEK', rule: 'EveryMonday', anchor: start, timeZone: 'UTC' }
    const { slices } = plan(10, 'WEEK', weekly, at('2026-03-04T00:00:00Z'))!
    expect(slices).to.deep.equal([
      { start: at('2026-03-02T00:00:00Z'), isReset: true, period: 0 },
      { start: at('2026-03-09T00:00:00Z'), isReset: true, period: 1 },
    ])
    // The day of the range has begun when usage was reset within it, before the range.
    const later = plan(1, 'DAY', reset, start + 0.75 * dayMs)!
    expect(later.slices.map(({ start: cut, period }) => [cut - start, period])).to.deep.equal([
      [0, 0],
      [0.5 * dayMs, 0],
      [dayMs, 0],
      [1.5 * dayMs, 1],
    ])
  })

  it('has one slice for each reset where no steps are asked for', () => {
    expect(plan(2, null, reset)!.slices.map(({ start: cut, isReset }) => [(cut - start) / dayMs, isReset])).to.deep.equal([
      [-0.5, true],
      [0.5, true],
      [1.5, true],
    ])
  })

  it('is none when it would have more than two thousand slices', () => {
    const hours = (count: number) => planHistory({ start, end: start + count * 3_600_000, granularity: 'HOUR', timeZone: 'UTC' }, null)
    expect(hours(2_000)?.slices).to.have.length(2_000)
    expect(hours(2_001)).to.equal(null)
    expect(plan(3_000, 'MONTH', reset)).to.equal(null)
    // Neither alone, but both together.
    expect(plan(1_500, 'DAY', null)?.slices).to.have.length(1_500)
    expect(plan(1_500, 'DAY', reset)).to.equal(null)
  })
})

describe('a line', () => {
  const plan = {
    slices: [0, 0, 1, 1].map((period, index) => ({ start: index * 10, isReset: index === 2, period })),
    end: 40,
    from: 0,
    resets: [0, 20],
  }
  const usage = (part: string, cut: number, period: number, value: number, events = 1): SliceUsage => ({
    part,
    cut,
    period,
    usage: d(value),
    events,
  })
  const line = (aggregation: Parameters<typeof drawLine>[1], ...usages: SliceUsage[]) =>
    drawLine(plan, aggregation, usages).map(({ value }) => Number(value))

  it('adds up what each part had last, until usage starts again', () => {
    expect(line('SUM', usage('a', 0, 0, 5), usage('b', 1, 0, 2), usage('a', 1, 0, 7), usage('b', 3, 1, 4))).to.deep.equal([5, 9, 0, 4])
    expect(drawLine(plan, 'SUM', []).map(({ at: start, isReset }) => [start, isReset])).to.deep.equal([
      [0, false],
      [10, false],
      [20, true],
      [30, false],
    ])
  })
  it('begins with what was before the first slice', () => {
    expect(line('SUM', usage('a', -1, 0, 5), usage('b', 1, 0, 1))).to.deep.equal([5, 6, 0, 0])
    expect(line('SUM', usage('a', -1, -1, 5))).to.deep.equal([0, 0, 0, 0])
  })
  it('does not go back to a period that is over, in whatever order parts are told', () => {
    expect(line('SUM', usage('a', 2, 1, 3), usage('a', 2, 0, 9))).to.deep.equal([0, 0, 3, 3])
    expect(line('SUM', usage('a', 2, 0, 9), usage('a', 2, 1, 3))).to.deep.equal([0, 0, 3, 3])
    expect(line('SUM', usage('a', 0, 0, 1), usage('a', 0, 0, 2))).to.deep.equal([2, 2, 0, 0])
  })
  it('has the largest, the smallest and the average of all that was counted', () => {
    const usages = [usage('a', 0, 0, 6, 2), usage('b', 0, 0, 2, 1), usage('c', 0, 0, -9, 0), usage('d', 1, 0, 4, 1)]
    expect(line('MAX', ...usages)).to.deep.equal([6, 6, 0, 0])
    expect(line('MIN', ...usages)).to.deep.equal([2, 2, 0, 0])
    expect(line('AVG', ...usages)).to.deep.equal([decimal.toNumber(decimal.divide(d(8), d(3))), 3, 0, 0])
    // A SUM may be below 0, and needs no events.
    expect(line('SUM', ...usages)).to.deep.equal([-1, 3, 0, 0])
    expect(line('MAX', usage('c', 0, 0, -9, 0))).to.deep.equal([0, 0, 0, 0])
    expect(line('MAX', usage('c', 0, 0, -9, 1), usage('a', 0, 0, -7, 1))).to.deep.equal([-7, -7, 0, 0])
  })
})
