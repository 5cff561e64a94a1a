import { expect } from 'chai'
import { ApiClock } from '../../../../src/reader/api/clock.js'

const told = (aheadMs: number) => String(Date.now() + aheadMs)

describe('clock of the API', () => {
  it("is this machine's while nothing is known", () => {
    const clock = new ApiClock()
    for (const nothing of [undefined, '', '0', '-1', 'no time', '1e400']) clock.learn(nothing, performance.now())
    expect(clock.now() - Date.now()).to.be.within(-50, 50)
  })

  it('corrects this machine by hours as well as by parts of a second, forwards and backwards, and when it is right again', () => {
    const clock = new ApiClock()
    for (const aheadMs of [3_600_000, -3_600_000, 5_000, 300, -300, 0]) {
      clock.learn(told(aheadMs), performance.now())
      expect(clock.now() - Date.now(), String(aheadMs)).to.be.within(aheadMs - 50, aheadMs + 5)
    }
  })

  it('learns little from an answer that took long, and nothing where it knew better', () => {
    const clock = new ApiClock()
    clock.learn(told(0), performance.now())
    clock.learn(told(-8_000), performance.now() - 10_000)
    expect(clock.now() - Date.now()).to.be.within(-50, 5)
  })
})
