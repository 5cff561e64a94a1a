import { expect } from 'chai'
import { seriesKey, seriesPeriodAt, startOfRange, type UsageSeries, unentitledSeries } from '../../../../src/metering/model/series.js'

const at = (text: string) => Date.parse(text)

describe('a usage series', () => {
  const monthly: UsageSeries = {
    customerId: 'c',
    resourceId: null,
    featureId: 'f',
    resetPeriod: 'MONTH',
    resetRule: 'SubscriptionStart',
    anchor: at('2026-01-15T00:00:00Z'),
    timeZone: 'UTC',
  }

  it('has periods where all of its rules are known, and else none', () => {
    const now = at('2026-03-20T00:00:00Z')
    expect(seriesPeriodAt(monthly, now)).to.deep.include({ start: at('2026-03-15T00:00:00Z'), end: at('2026-04-15T00:00:00Z') })
    for (const missing of ['resetPeriod', 'resetRule', 'anchor', 'timeZone'] as const)
      expect(seriesPeriodAt({ ...monthly, [missing]: null }, now), missing).to.deep.equal({ start: null, end: null })
    expect(unentitledSeries('c', 'r', 'f')).to.deep.equal({
      ...monthly,
      resourceId: 'r',
      resetPeriod: null,
      resetRule: null,
      anchor: null,
      timeZone: null,
    })
  })

  it('counts from the beginning of a period, or from its anchor where that is later', () => {
    const from = (anchor: number | null, start: number | null) => startOfRange({ anchor }, { start, end: null })
    expect([from(null, null), from(null, 5), from(7, null), from(7, 5), from(7, 7), from(7, 9)]).to.deep.equal([null, 5, 7, 7, 7, 9])
  })

  it('has a key of its own for each of its parts', () => {
    const others: Partial<UsageSeries>[] = [
      { customerId: 'd' },
      { resourceId: 'r' },
      { featureId: 'g' },
      { resetPeriod: 'DAY' },
      { resetRule: 'StartOfTheMonth' },
      { anchor: 0 },
      { timeZone: 'Asia/Tokyo' },
    ]
    expect(new Set([monthly, ...others.map((change) => ({ ...monthly, ...change }))].map(seriesKey)).size).to.equal(others.length + 1)
    expect(seriesKey({ ...monthly })).to.equal(seriesKey(monthly))
  })
})
