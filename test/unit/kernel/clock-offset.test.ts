import { expect } from 'chai'
import fc from 'fast-check'
import { ClockOffset } from '../../../src/kernel/clock-offset.js'

/** How a question went: when it was asked, how long question and answer took. */
const exchange = fc.record({
  afterMs: fc.double({ min: 0, max: 10_000, noNaN: true }),
  outMs: fc.double({ min: 0, max: 500, noNaN: true }),
  backMs: fc.double({ min: 0, max: 500, noNaN: true }),
})

/** Asks a clock that is `difference` ahead of the steady one, in steps of `stepMs`. Answers when the last answer came. */
function ask(
  offset: ClockOffset,
  exchanges: readonly { afterMs: number; outMs: number; backMs: number }[],
  { difference, stepMs, from = 0 }: { difference: number; stepMs: number; from?: number },
): number {
  let now = from
  for (const { afterMs, outMs, backMs } of exchanges) {
    const askedAt = now + afterMs
    const answeredAt = askedAt + outMs + backMs
    const time = Math.floor((askedAt + outMs + difference) / stepMs) * stepMs
    offset.learn({ time, stepMs, askedAt, answeredAt })
    now = answeredAt
  }
  return now
}

const differences = fc.double({ min: -1e12, max: 2e12, noNaN: true })
const exchanges = fc.array(exchange, { minLength: 1, maxLength: 30 })
/** What doubles of that size cannot tell apart. */
const tiny = 1e-3

describe('the offset to another clock', () => {
  it('without a guess is never ahead of it, and behind by no more than the last answer took', () => {
    fc.assert(
      fc.property(differences, exchanges, fc.constantFrom(1, 1_000), (difference, all, stepMs) => {
        const offset = new ClockOffset()
        ask(offset, all, { difference, stepMs })
        const { outMs, backMs } = all.at(-1)!
        expect(offset.value).to.be.at.most(difference + tiny)
        expect(offset.value).to.be.at.least(difference - outMs - backMs - stepMs - tiny)
      }),
    )
  })

  it('keeps a guess that nothing contradicts, and is as wrong as one answer may be when something does', () => {
    fc.assert(
      fc.property(differences, fc.double({ min: -7_200_000, max: 7_200_000, noNaN: true }), exchanges, (difference, wrongBy, all) => {
        const offset = new ClockOffset(difference + wrongBy)
        ask(offset, all, { difference, stepMs: 1_000 })
        const { outMs, backMs } = all.at(-1)!
        expect(Math.abs(offset.value - difference)).to.be.at.most(Math.min(Math.abs(wrongBy), 1_000 + outMs + backMs) + tiny)
      }),
    )
  })

  it('tells fractions of a second after some answers in whole seconds', () => {
    const offset = new ClockOffset()
    const difference = 1_764_000_000_123
    const fast = Array.from({ length: 20 }, (_, n) => ({ afterMs: 337 + n, outMs: 1, backMs: 1 }))
    ask(offset, fast, { difference, stepMs: 1_000 })
    expect(Math.abs(offset.value - difference)).to.be.below(100)
  })

  it('follows a clock that is set, or another that answers instead, with the first answer', () => {
    fc.assert(
      fc.property(differences, fc.constantFrom(-60_000, 3_600_000), exchanges, exchange, (difference, jump, before, after) => {
        const offset = new ClockOffset()
        const from = ask(offset, before, { difference, stepMs: 1 })
        ask(offset, [after], { difference: difference + jump, stepMs: 1, from })
        const { afterMs, outMs, backMs } = after
        expect(offset.value).to.be.at.most(difference + jump + tiny)
        expect(offset.value).to.be.at.least(difference + jump - outMs - backMs - afterMs - 1 - tiny)
      }),
    )
  })

  it('follows one that drifts', () => {
    const offset = new ClockOffset()
    for (let minute = 1; minute <= 600; minute++) {
      // Slower by 200 ms in 1,000 s.
      const difference = -minute * 60_000 * 200e-6
      ask(offset, [{ afterMs: 0, outMs: 1, backMs: 1 }], { difference, stepMs: 1, from: minute * 60_000 })
      expect(offset.value).to.be.within(difference - 4, difference + tiny)
    }
  })
})
