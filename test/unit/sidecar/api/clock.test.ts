import { expect } from 'chai'
import { ApiClock } from '../../../../src/sidecar/api/clock.js'

const header = (at: number) => new Date(at).toUTCString()

describe('clock of the API', () => {
  it("is this machine's while nothing is known, and where the two agree as far as a second can tell", () => {
    const clock = new ApiClock()
    expect(clock.now() - Date.now()).to.be.within(-50, 50)
    for (let answers = 0; answers < 5; answers++) clock.learn(header(Date.now()), performance.now() - 20)
    expect(clock.now() - Date.now()).to.be.within(-50, 50)
  })

  it('corrects this machine by hours as well as by seconds, forwards and backwards, and when it is right again', () => {
    const clock = new ApiClock()
    for (const aheadMs of [3_600_000, -3_600_000, 5_000, -5_000, 0]) {
      clock.learn(header(Date.now() + aheadMs), performance.now())
      expect(clock.now() - Date.now(), String(aheadMs)).to.be.within(aheadMs - 1_100, aheadMs + 1_100)
    }
  })

  it('learns nothing from an answer that took longer than it is off, or that tells no time', () => {
    const clock = new ApiClock()
    clock.learn(header(Date.now() - 8_000), performance.now() - 10_000)
    clock.learn(undefined, performance.now())
    clock.learn('no date', performance.now())
    expect(clock.now() - Date.now()).to.be.within(-50, 50)
  })
})
