import { expect } from 'chai'
import { ApiClock } from '../../../../src/sidecar/api/clock.js'

const header = (at: number) => new Date(at).toUTCString()

describe('clock of the API', () => {
  it("is this machine's while the two agree, as far as a second can tell", () => {
    const clock = new ApiClock()
    for (const aheadMs of [-900, -400, 0, 400, 900]) {
      clock.learn(header(Date.now() + aheadMs), Date.now() - 20)
      expect(clock.offsetMs, String(aheadMs)).to.equal(0)
    }
  })

  it('corrects this machine by hours as well as by seconds, forwards and backwards, and stops when it is right again', () => {
    const clock = new ApiClock()
    for (const aheadMs of [3_600_000, -3_600_000, 5_000, -5_000]) {
      clock.learn(header(Date.now() + aheadMs), Date.now())
      expect(clock.now() - Date.now(), String(aheadMs)).to.be.within(aheadMs - 1_500, aheadMs + 1_500)
    }
    clock.learn(header(Date.now()), Date.now())
    expect(clock.offsetMs).to.equal(0)
  })

  it('learns nothing from an answer that took longer than it is off, or that tells no time', () => {
    const clock = new ApiClock()
    clock.learn(header(Date.now() - 8_000), Date.now() - 10_000)
    clock.learn(undefined, Date.now())
    clock.learn('no date', Date.now())
    expect(clock.offsetMs).to.equal(0)
  })
})
