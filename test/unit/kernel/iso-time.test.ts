import { expect } from 'chai'
import fc from 'fast-check'
import { isoOrNull, isoTime } from '../../../src/kernel/iso-time.js'

const byPlatform = (at: number) => new Date(at).toISOString()
const dayMs = 86_400_000
const [first, last] = [0, Date.UTC(9999, 11, 31)]

describe('a time as JSON has it', () => {
  it('is ISO 8601 in UTC, with milliseconds, and null of none', () => {
    expect([isoOrNull(0), isoOrNull(1_803_893_400_007), isoOrNull(null)]).to.deep.equal([
      '1970-01-01T00:00:00.000Z',
      '2027-03-01T09:30:00.007Z',
      null,
    ])
  })

  it('is what the platform makes of it, on each day of 400 years and on those about the ends of longer ones', () => {
    const days = Array.from({ length: 146_098 }, (_, day) => day * dayMs)
    const ends = Array.from({ length: 80 }, (_, n) => Date.UTC(2000 + n * 100, 2, 1)).flatMap((at) => [at - dayMs, at])
    for (const at of [...days, ...ends, last]) expect(isoTime(at)).to.equal(byPlatform(at))
  })

  it('is so at any instant, before 1970 and after 9999 too', () => {
    const near = fc.double({ min: first, max: last + dayMs, noNaN: true })
    const far = fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true })
    fc.assert(fc.property(fc.oneof(near, far), (at) => isoTime(at) === byPlatform(at)))
    for (const at of [-1, 0, last + dayMs - 1, last + dayMs, 951_782_399_999, 951_782_400_000]) expect(isoTime(at)).to.equal(byPlatform(at))
  })

  it('fails for what is no time', () => {
    expect(() => isoTime(Number.NaN)).to.throw(RangeError)
    expect(() => isoTime(8.64e15 + 1)).to.throw(RangeError)
  })
})
