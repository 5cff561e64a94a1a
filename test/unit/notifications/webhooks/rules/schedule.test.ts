import { expect } from 'chai'
import {
  isGone,
  isSuccess,
  nextPauseMs,
  restMs,
  restsAfter,
  retryAfterMs,
} from '../../../../../src/notifications/webhooks/rules/schedule.js'

const at = Date.parse('2027-03-01T00:00:00Z')
const answered = (statusCode: number | null, retryAfter: string | null = null) => ({ statusCode, retryAfter })

describe('the schedule of attempts', () => {
  it('succeeds with any 2xx, and with nothing else', () => {
    for (const status of [200, 201, 204, 299]) expect(isSuccess(answered(status)), String(status)).to.equal(true)
    for (const status of [null, 100, 199, 300, 301, 302, 304, 307, 400, 404, 410, 429, 500, 503])
      expect(isSuccess(answered(status))).to.equal(false)
    expect([isGone(answered(410)), isGone(answered(404))]).to.deep.equal([true, false])
  })

  it('repeats after 5 s, 1, 5 and 30 minutes, 2, 5, 10 and 24 hours, a little spread, and then not any more', () => {
    const pauses = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 86_400]
    for (const [index, seconds] of pauses.entries()) {
      expect(nextPauseMs({ tries: index + 1, askedMs: null, random: 0 })).to.equal(seconds * 1_000)
      expect(nextPauseMs({ tries: index + 1, askedMs: null, random: 0.999 })).to.be.within(seconds * 1_190, seconds * 1_200)
    }
    expect(nextPauseMs({ tries: 9, askedMs: null, random: 0 })).to.equal(null)
  })

  it('waits as long as it is asked to, a day at most', () => {
    expect(retryAfterMs(answered(429, '120'), at)).to.equal(120_000)
    expect(retryAfterMs(answered(503, 'Mon, 01 Mar 2027 00:10:00 GMT'), at)).to.equal(600_000)
    expect(retryAfterMs(answered(429, ' 120 '), at)).to.equal(120_000)
    expect(retryAfterMs(answered(503, '2027-03-01T00:10:00Z'), at)).to.equal(600_000)
    expect(retryAfterMs(answered(503, '2027-03-02'), at)).to.equal(86_400_000)
    for (const seconds of ['86401', '999999999', '1000000000', '9'.repeat(400)])
      expect(retryAfterMs(answered(429, seconds), at), seconds).to.equal(86_400_000)
    expect(retryAfterMs(answered(429, 'Mon, 01 Mar 2021 00:10:00 GMT'), at)).to.equal(0)
    for (const text of ['', 'soon', '-5', '1e9']) expect(retryAfterMs(answered(429, text), at) ?? 0, text).to.be.within(0, 86_400_000)
    for (const nothing of [answered(200, '120'), answered(null, '120'), answered(429), answered(429, 'soon')])
      expect(retryAfterMs(nothing, at), JSON.stringify(nothing)).to.equal(null)
    expect(nextPauseMs({ tries: 1, askedMs: 120_000, random: 0 })).to.equal(120_000)
    expect(nextPauseMs({ tries: 2, askedMs: 1_000, random: 0 })).to.equal(60_000)
  })

  it('leaves an endpoint alone that answers nothing right any more, for longer and longer, a minute at most', () => {
    const rest = (failuresInRow: number) => restMs({ failuresInRow, askedMs: null })
    expect([1, 5, 6, 7, 8, 11, 12, 500].map(rest)).to.deep.equal([0, 0, 1_000, 2_000, 4_000, 32_000, 60_000, 60_000])
    expect([restsAfter(5), restsAfter(6)]).to.deep.equal([false, true])
    expect(restMs({ failuresInRow: 1, askedMs: 9_000 })).to.equal(9_000)
    expect(restMs({ failuresInRow: 1, askedMs: 86_400_000 })).to.equal(300_000)
  })
})
