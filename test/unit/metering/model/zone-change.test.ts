import { expect } from 'chai'
import fc from 'fast-check'
import { usagePeriodAt } from '../../../../src/metering/model/usage-period.js'
import { cutToStretch, type FormerZone, zoneStretchAt } from '../../../../src/metering/model/zone-change.js'

const at = (text: string) => Date.parse(text)
const daily = { period: 'DAY', rule: 'SubscriptionStart', anchor: at('2026-01-01T00:00:00Z') } as const

/** The period that contains an instant, whatever zone it follows. */
function periodAt(
  series: { period: 'DAY' | 'WEEK' | 'MONTH'; rule: 'SubscriptionStart'; anchor: number; timeZone: string; former: FormerZone[] },
  instant: number,
) {
  const stretch = zoneStretchAt({ ...series, at: instant })
  return cutToStretch(usagePeriodAt({ ...series, timeZone: stretch.timeZone, at: instant }), stretch, instant)
}

describe('a new time zone', () => {
  const former = [{ timeZone: 'UTC', until: at('2026-03-10T13:00:00Z') }]
  const series = { ...daily, timeZone: 'America/New_York', former }

  it('takes effect where the period ends that was begun in the old one', () => {
    expect(periodAt(series, at('2026-03-10T20:00:00Z'))).to.deep.equal({
      start: at('2026-03-10T00:00:00Z'),
      end: at('2026-03-11T00:00:00Z'),
    })
    // The anchor is 19:00 in New York, in summer an hour earlier in UTC.
    expect(periodAt(series, at('2026-03-11T00:00:00Z'))).to.deep.equal({
      start: at('2026-03-11T00:00:00Z'),
      end: at('2026-03-11T23:00:00Z'),
    })
    expect(periodAt(series, at('2026-03-12T05:00:00Z')).start).to.equal(at('2026-03-11T23:00:00Z'))
  })

  it('that is replaced before it took effect never did', () => {
    const twice = {
      ...daily,
      timeZone: 'Asia/Tokyo',
      former: [...former, { timeZone: 'America/New_York', until: at('2026-03-10T15:00:00Z') }],
    }
    expect(zoneStretchAt({ ...twice, at: at('2026-03-10T16:00:00Z') })).to.deep.equal({
      timeZone: 'UTC',
      from: null,
      until: at('2026-03-11T00:00:00Z'),
    })
    // A day in New York ends at 23:00, but none was begun there.
    expect(zoneStretchAt({ ...twice, at: at('2026-03-10T23:30:00Z') }).timeZone).to.equal('UTC')
    expect(zoneStretchAt({ ...twice, at: at('2026-03-11T00:00:00Z') }).timeZone).to.equal('Asia/Tokyo')
  })

  it('that is replaced at the instant at which it took effect counts the period that begins there', () => {
    const replaced = {
      ...daily,
      timeZone: 'Asia/Tokyo',
      former: [...former, { timeZone: 'America/New_York', until: at('2026-03-11T00:00:00Z') }],
    }
    expect(zoneStretchAt({ ...replaced, at: at('2026-03-11T12:00:00Z') })).to.deep.equal({
      timeZone: 'America/New_York',
      from: at('2026-03-11T00:00:00Z'),
      until: at('2026-03-11T23:00:00Z'),
    })
  })

  it('leaves no instant in no period and none in two, however often it changes', () => {
    const zones = ['UTC', 'America/New_York', 'Asia/Tokyo', 'Pacific/Auckland', 'Australia/Lord_Howe']
    const instant = fc.integer({ min: at('2026-01-02T00:00:00Z'), max: at('2026-12-01T00:00:00Z') })
    const changes = fc
      .array(fc.record({ timeZone: fc.constantFrom(...zones), until: instant }), { maxLength: 5 })
      .map((former) => former.sort((a, b) => a.until - b.until))
    const period = fc.constantFrom('DAY' as const, 'WEEK' as const, 'MONTH' as const)
    fc.assert(
      fc.property(period, fc.constantFrom(...zones), changes, instant, (wanted, timeZone, former, now) => {
        const any = { ...daily, period: wanted, timeZone, former }
        const { start, end } = periodAt(any, now)
        expect(start).to.be.at.most(now)
        expect(end).to.be.above(now)
        expect(periodAt(any, start)).to.deep.equal({ start, end })
        expect(periodAt(any, end - 1)).to.deep.equal({ start, end })
        expect(periodAt(any, end).start).to.equal(end)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a period at the border of a stretch', () => {
  const period = { start: 100, end: 200 }
  const cut = (from: number | null, until: number | null, at: number) => {
    const { start, end } = cutToStretch(period, { from, until }, at)
    return [start, end]
  }

  it('begins and ends with the stretch that the instant is in, and at most where it did', () => {
    const cases: [from: number | null, until: number | null, at: number, expected: number[]][] = [
      [null, null, 150, [100, 200]],
      // Within, and beyond either end.
      [120, null, 150, [120, 200]],
      [120, null, 120, [120, 200]],
      [120, null, 119, [100, 120]],
      [50, null, 150, [100, 200]],
      [250, null, 150, [100, 200]],
      [null, 180, 150, [100, 180]],
      [null, 180, 179, [100, 180]],
      [null, 180, 180, [100, 200]],
      [null, 180, 190, [100, 200]],
      [null, 250, 150, [100, 200]],
      [120, 180, 150, [120, 180]],
    ]
    for (const [from, until, at, expected] of cases) expect(cut(from, until, at), `${from} ${until} ${at}`).to.deep.equal(expected)
  })

  it('stays without bounds where it has none', () => {
    for (const open of [
      { start: null, end: null },
      { start: 100, end: null },
      { start: null, end: 200 },
    ])
      expect(cutToStretch(open, { from: 120, until: 180 }, 150)).to.deep.equal(open)
  })
})
