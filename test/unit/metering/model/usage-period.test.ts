import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { type ResetPeriod, type ResetRule, resetRules, usagePeriodAt } from '../../../../src/metering/model/usage-period.js'

interface PeriodCase {
  anchor?: string
  timezone: string
  resetPeriod: ResetPeriod
  accordingTo?: ResetRule
  at: string
  start: string
  end: string
}

const cases: PeriodCase[] = JSON.parse(readFileSync('test/cases/usage-periods.json', 'utf8'))
const iso = (at: number): string => new Date(at).toISOString()
const ms = (text: string): number => Temporal.Instant.from(text).epochMilliseconds

/** Zones with everything clocks do: half-hour steps, gaps at and across midnight, a skipped day, no changes at all. */
const zones = [
  'UTC',
  'America/New_York',
  'Europe/London',
  'Asia/Tokyo',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'America/Havana',
  'Asia/Beirut',
  'America/Nuuk',
  'Pacific/Apia',
  'Etc/GMT+12',
]
const rulesOfPeriods = (Object.keys(resetRules) as ResetPeriod[]).flatMap((period) => resetRules[period].map((rule) => ({ period, rule })))
const anyInstant = fc.integer({ min: ms('1995-01-01T00:00:00Z'), max: ms('2060-01-01T00:00:00Z') })
const anySeries = fc
  .record({ periodAndRule: fc.constantFrom(...rulesOfPeriods), timeZone: fc.constantFrom(...zones), anchor: anyInstant })
  .map(({ periodAndRule, ...series }) => ({ ...periodAndRule, ...series }))

describe('usage period', () => {
  for (const { anchor, timezone, resetPeriod, accordingTo, at, start, end } of cases) {
    it(`${resetPeriod} ${accordingTo ?? `from ${anchor}`} in ${timezone}: ${at} is in [${start}, ${end})`, () => {
      const found = usagePeriodAt({
        period: resetPeriod,
        rule: accordingTo ?? 'SubscriptionStart',
        anchor: ms(anchor ?? '2020-05-05T05:05:05Z'),
        timeZone: timezone,
        at: ms(at),
      })
      expect([iso(found.start), iso(found.end)]).to.deep.equal([start, end])
    })
  }

  it('tiles: every instant is in its period, whose end is the start of the next and whose start is the end of the one before', () => {
    fc.assert(
      fc.property(anySeries, anyInstant, (series, at) => {
        const { start, end } = usagePeriodAt({ ...series, at })
        expect(start).to.be.at.most(at)
        expect(end).to.be.above(at)
        expect(usagePeriodAt({ ...series, at: start })).to.deep.equal({ start, end })
        expect(usagePeriodAt({ ...series, at: end - 1 })).to.deep.equal({ start, end })
        expect(usagePeriodAt({ ...series, at: end }).start).to.equal(end)
        expect(usagePeriodAt({ ...series, at: start - 1 }).end).to.equal(start)
      }),
      { numRuns: 300 },
    )
  }).timeout(20_000)

  it('starts a period exactly at the anchor, also in an hour that exists twice', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<ResetPeriod>('HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'),
        fc.constantFrom(...zones),
        anyInstant,
        (period, timeZone, anchor) => {
          expect(usagePeriodAt({ period, rule: 'SubscriptionStart', anchor, timeZone, at: anchor }).start).to.equal(anchor)
        },
      ),
    )
    const secondHalfPastOne = ms('2026-11-01T06:30:00Z')
    const day = { period: 'DAY', rule: 'SubscriptionStart', anchor: secondHalfPastOne, timeZone: 'America/New_York' } as const
    expect(usagePeriodAt({ ...day, at: secondHalfPastOne - 1 }).start).to.equal(ms('2026-10-31T05:30:00Z'))
    expect(usagePeriodAt({ ...day, at: secondHalfPastOne }).end).to.equal(ms('2026-11-02T06:30:00Z'))
  })

  it('lays monthly and yearly periods out as Temporal adds months to the anchor, near and far, before and after', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        anyInstant,
        fc.integer({ min: -1200, max: 1200 }),
        fc.boolean(),
        (timeZone, anchor, n, isYearly) => {
          const months = isYearly ? n * 12 : n
          const start = Temporal.Instant.fromEpochMilliseconds(anchor).toZonedDateTimeISO(timeZone).add({ months }).epochMilliseconds
          const period = isYearly ? 'YEAR' : 'MONTH'
          expect(usagePeriodAt({ period, rule: 'SubscriptionStart', anchor, timeZone, at: start }).start).to.equal(start)
        },
      ),
    )
  })

  it('comes back to the 31st after every shorter month', () => {
    let at = ms('2026-01-31T10:00:00Z')
    const days: string[] = []
    for (let n = 0; n < 12; n += 1) {
      at = usagePeriodAt({ period: 'MONTH', rule: 'SubscriptionStart', anchor: ms('2026-01-31T10:00:00Z'), timeZone: 'UTC', at }).end
      days.push(iso(at).slice(5, 10))
    }
    expect(days.join(' ')).to.equal('02-28 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31 01-31')
  })

  for (const timeZone of ['America/New_York', 'Australia/Lord_Howe', 'America/Havana', 'Asia/Beirut', 'Europe/London']) {
    for (const time of ['00:00', '00:30', '01:30', '02:15', '02:30', '23:30']) {
      it(`resets daily usage exactly once on each local day at ${time} in ${timeZone}`, () => {
        const anchor = Temporal.ZonedDateTime.from(`2025-07-01T${time}[${timeZone}]`).epochMilliseconds
        let at = anchor
        for (let n = 1; n <= 400; n += 1) {
          at = usagePeriodAt({ period: 'DAY', rule: 'SubscriptionStart', anchor, timeZone, at }).end
          const day = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate()
          expect(day.toString()).to.equal(Temporal.PlainDate.from('2025-07-01').add({ days: n }).toString())
        }
      })
    }
  }

  it('passes over a day that a zone skipped', () => {
    const series = { period: 'DAY', rule: 'SubscriptionStart', anchor: ms('2011-12-25T20:00:00Z'), timeZone: 'Pacific/Apia' } as const
    // Local 2011-12-30 does not exist: its reset falls on the one of the 31st, 24 hours after that of the 29th.
    expect(usagePeriodAt({ ...series, at: ms('2011-12-30T00:00:00Z') })).to.deep.equal({
      start: ms('2011-12-29T20:00:00Z'),
      end: ms('2011-12-30T20:00:00Z'),
    })
    expect(usagePeriodAt({ ...series, at: ms('2011-12-30T20:00:00Z') }).end).to.equal(ms('2011-12-31T20:00:00Z'))
  })

  it('starts weeks at local midnight of the weekday, and months on the first, whatever the anchor', () => {
    fc.assert(
      fc.property(fc.constantFrom(...resetRules.WEEK.slice(1)), anyInstant, anyInstant, (rule, anchor, at) => {
        const { start } = usagePeriodAt({ period: 'WEEK', rule, anchor, timeZone: 'America/New_York', at })
        const local = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO('America/New_York')
        expect(`Every${['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'][local.dayOfWeek - 1]}`).to.equal(rule)
        expect(local.toPlainTime().toString()).to.equal('00:00:00')
        const month = usagePeriodAt({ period: 'MONTH', rule: 'StartOfTheMonth', anchor, timeZone: 'Asia/Tokyo', at })
        const first = Temporal.Instant.fromEpochMilliseconds(month.start).toZonedDateTimeISO('Asia/Tokyo')
        expect([first.day, first.toPlainTime().toString()]).to.deep.equal([1, '00:00:00'])
      }),
    )
  })

  it('does so also in the period that the count begins with, whatever the anchor', () => {
    const at = ms('1970-01-05T12:00:00Z')
    const of = (period: ResetPeriod, rule: ResetRule) =>
      usagePeriodAt({ period, rule, anchor: ms('2026-05-05T05:05:05Z'), timeZone: 'UTC', at })
    expect(of('WEEK', 'EverySunday')).to.deep.equal({ start: ms('1970-01-04T00:00:00Z'), end: ms('1970-01-11T00:00:00Z') })
    expect(of('MONTH', 'StartOfTheMonth')).to.deep.equal({ start: 0, end: ms('1970-02-01T00:00:00Z') })
  })

  it('counts hours from the anchor, whatever the clocks do', () => {
    const series = { period: 'HOUR', rule: 'SubscriptionStart', anchor: ms('2026-11-01T04:15:00Z'), timeZone: 'America/New_York' } as const
    expect(usagePeriodAt({ ...series, at: ms('2026-11-01T06:14:59.999Z') })).to.deep.equal({
      start: ms('2026-11-01T05:15:00Z'),
      end: ms('2026-11-01T06:15:00Z'),
    })
  })

  it('fails on a rule that is not one of the period, and on an unknown time zone', () => {
    const at = ms('2026-01-01T00:00:00Z')
    expect(() => usagePeriodAt({ period: 'DAY', rule: 'EveryMonday', anchor: at, timeZone: 'UTC', at })).to.throw(RangeError, 'EveryMonday')
    expect(() => usagePeriodAt({ period: 'DAY', rule: 'SubscriptionStart', anchor: at, timeZone: 'Mars/Olympus', at })).to.throw(RangeError)
  })
})
