import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { checkTimestamp } from '../../../../src/metering/model/timestamp.js'

const cases: { now: string; refused: string[]; accepted: string[] } = JSON.parse(readFileSync('test/cases/refused.json', 'utf8')).timestamps
const now = Date.parse(cases.now)

describe('time window', () => {
  const refused = [
    ...cases.refused,
    '',
    '2026-01-15',
    '2026-01-14T10:00:00',
    '2026-01-14 10:00:00Z',
    '2026-01-00T10:00:00Z',
    '2026-01-32T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-01-14T24:00:00Z',
    '2026-01-14T10:60:00Z',
    '2026-01-14T10:00:00+0100',
    'Wed Jan 14 2026 10:00:00 GMT',
    '+002026-01-14T10:00:00Z',
  ]
  for (const timestamp of refused) {
    it(`refuses '${timestamp}'`, () => {
      expect(() => checkTimestamp(timestamp, now, 'events[0].timestamp'))
        .to.throw(Problem, 'events[0].timestamp')
        .with.property('code', 'INVALID_ARGUMENT')
    })
  }

  for (const timestamp of cases.accepted) {
    it(`takes ${timestamp}`, () => expect(checkTimestamp(timestamp, now)).to.equal(new Date(timestamp).getTime()))
  }

  it('reads zones, missing seconds and fractions of any length', () => {
    expect(checkTimestamp('2026-01-14T10:30-05:30', now)).to.equal(Date.UTC(2026, 0, 14, 16))
    expect(checkTimestamp('2026-01-14T10:00:00.1Z', now)).to.equal(Date.UTC(2026, 0, 14, 10, 0, 0, 100))
    expect(checkTimestamp('2026-01-14T10:00:00.123999999Z', now)).to.equal(Date.UTC(2026, 0, 14, 10, 0, 0, 123))
  })

  it('takes any time of what was reported before, and nothing that is none', () => {
    for (const year of ['1970', '2025', '2030'])
      expect(checkTimestamp(`${year}-01-14T10:00:00Z`, null)).to.equal(Date.UTC(Number(year), 0, 14, 10))
    expect(() => checkTimestamp('2026-02-30T10:00:00Z', null)).to.throw(Problem)
  })

  it('knows the leap days', () => {
    const march2028 = Date.UTC(2028, 2, 1)
    expect(checkTimestamp('2028-02-29T00:00:00Z', march2028)).to.equal(Date.UTC(2028, 1, 29))
    expect(() => checkTimestamp('2027-02-29T00:00:00Z', Date.UTC(2027, 2, 1))).to.throw(Problem, 'ISO 8601')
    expect(() => checkTimestamp('2100-02-29T00:00:00Z', Date.UTC(2100, 2, 1))).to.throw(Problem, 'ISO 8601')
  })

  it('takes a Date and epoch milliseconds alike, and refuses an invalid one', () => {
    expect(checkTimestamp(new Date(now), now)).to.equal(now)
    expect(checkTimestamp(now - 1.5, now)).to.equal(now - 2)
    expect(() => checkTimestamp(new Date('no date'), now)).to.throw(Problem)
    expect(() => checkTimestamp(Number.NaN, now)).to.throw(Problem)
  })

  it('knows how many days each month has', () => {
    const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    const two = (number: number) => String(number).padStart(2, '0')
    for (const [index, count] of days.entries()) {
      const of = (day: number) => `2027-${two(index + 1)}-${two(day)}T00:00:00Z`
      const last = Date.UTC(2027, index, count)
      expect(checkTimestamp(of(count), last)).to.equal(last)
      expect(() => checkTimestamp(of(count + 1), last), of(count + 1)).to.throw(Problem, 'ISO 8601')
      expect(() => checkTimestamp(of(0), last), of(0)).to.throw(Problem, 'ISO 8601')
    }
    for (const month of ['00', '13'])
      expect(() => checkTimestamp(`2027-${month}-10T00:00:00Z`, Date.UTC(2027, 0, 10))).to.throw(Problem, 'ISO 8601')
    expect(checkTimestamp('2000-02-29T00:00:00Z', Date.UTC(2000, 2, 1))).to.equal(Date.UTC(2000, 1, 29))
  })

  it('names the place of what it refuses', () => {
    for (const timestamp of ['never', now + 3_600_000, now - 3_650 * 86_400_000]) {
      const refused = (path?: string) => {
        try {
          checkTimestamp(timestamp, now, path)
        } catch (error) {
          return [(error as Problem).details.path, (error as Problem).message.split(' ')[0]]
        }
        return null
      }
      expect(refused()).to.deep.equal(['timestamp', 'timestamp'])
      expect(refused('usages[2].timestamp')).to.deep.equal(['usages[2].timestamp', 'usages[2].timestamp'])
    }
  })
})
