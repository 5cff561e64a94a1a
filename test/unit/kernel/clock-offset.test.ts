import { expect } from 'chai'
import fc from 'fast-check'
import { ClockOffset } from '../../../src/kernel/clock-offset.js'

/** How a question went: when it was asked, how long question and answer took. */
const exchange = fc.record({
  afterMs: fc.double({ min: 0, max: 10_000, noNaN: true }),
  outMs: fc.double({ min: 0, max: 500, noNaN: true }),
  backMs: fc.double({ min: 0, max: 500, noNaN: true }),
})

/** Asks a clock that is `difference` ahead of the steady one. Answers when the last answer came. */
function ask(
  offset: ClockOffset,
  exchanges: readonly { afterMs: number; outMs: number; backMs: number }[],
  { difference, from = 0 }: { difference: number; from?: number },
): number {
  let now = from
  for (const { afterMs, outMs, backMs } of exchanges) {
    const askedAt = now + afterMs
    const answeredAt = askedAt + outMs + backMs
    offset.learn({ time: Math.floor(askedAt + outMs + difference), askedAt, answeredAt })
    now = answeredAt
  }
  return now
}

const differences = fc.double({ min: -1e12, max: 2e12, noNaN: true })
const exchanges = fc.array(exchange, { minLength: 1, maxLength: 30 })
/** What doubles of that size cannot tell apart. */
const tiny = 1e-3

describe('the offset to another clock', () => {
  it('is never ahead of it, and behind by no more than the last answer took to come', () => {
    fc.assert(
      fc.property(differences, exchanges, (difference, all) => {
        const offset = new ClockOffset()
        ask(offset, all, { difference })
        expect(offset.value).to.be.at.most(difference + tiny)
        expect(offset.value).to.be.at.least(difference - all.at(-1)!.backMs - 1 - tiny)
      }),
    )
  })

  it('is as good as the best of several answers', () => {
    const offset = new ClockOffset()
    const times = [400, 3, 250, 90].map((backMs) => ({ afterMs: 1_000, outMs: 20, backMs }))
    ask(offset, times, { difference: 1_764_000_000_123 })
    expect(1_764_000_000_123 - offset.value).to.be.within(0, 6)
  })

  it('follows a clock that is set, or another that answers instead, with the first answer', () => {
    fc.assert(
      fc.property(differences, fc.constantFrom(-60_000, 3_600_000), exchanges, exchange, (difference, jump, before, after) => {
        const offset = new ClockOffset()
        const from = ask(offset, before, { difference })
        ask(offset, [after], { difference: difference + jump, from })
        expect(offset.value).to.be.at.most(difference + jump + tiny)
        expect(offset.value).to.be.at.least(difference + jump - after.backMs - 1 - tiny)
      }),
    )
  })

  it('follows one that drifts', () => {
    const offset = new ClockOffset()
    for (let minute = 1; minute <= 600; minute++) {
      // Slower by 200 ms in 1,000 s.
      const difference = -minute * 60_000 * 200e-6
      ask(offset, [{ afterMs: 0, outMs: 1, backMs: 1 }], { difference, from: minute * 60_000 })
      expect(offset.value).to.be.within(difference - 3, difference + tiny)
    }
  })

  const afterTenSeconds: [what: string, told: { time: number; askedAt: number }, value: number][] = [
    // It can have lost 5 ms since.
    ['that was long under way', { time: 10_990, askedAt: 9_000 }, 995],
    ['that is the last to agree with what was known', { time: 10_994, askedAt: 10_000 }, 995],
    ['that contradicts it', { time: 10_993, askedAt: 10_000 }, 993],
    ['that tells more', { time: 11_003, askedAt: 10_000 }, 1_003],
  ]
  for (const [what, told, value] of afterTenSeconds) {
    it(`is ${value} after an answer ${what}`, () => {
      const offset = new ClockOffset()
      offset.learn({ time: 1_000, askedAt: 0, answeredAt: 0 })
      expect(offset.value).to.equal(1_000)
      offset.learn({ ...told, answeredAt: 10_000 })
      expect(offset.value).to.equal(value)
    })
  }

  it('does not take an answer that was overtaken for one of the future', () => {
    const offset = new ClockOffset()
    offset.learn({ time: 11_000, askedAt: 10_000, answeredAt: 10_000 })
    offset.learn({ time: 6_000, askedAt: 4_990, answeredAt: 5_010 })
    expect(offset.value).to.equal(1_000)
  })
})
