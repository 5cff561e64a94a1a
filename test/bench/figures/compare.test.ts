import { expect } from 'chai'
import { compare } from './compare.js'

/** A side that answers the given values in turn and notes when it ran. */
const side = (name: string, values: number[], order: string[]) => async () => {
  order.push(name)
  return { rate: values.shift()! }
}
const plan = { measures: { rate: { name: 'checks', unit: 'calls/s' } }, rounds: 4, seconds: 60, onRound: () => {} }

describe('comparison of a subject with a reference', () => {
  it('takes turns, so that neither side always runs first', async () => {
    const order: string[] = []
    await compare({ ...plan, subject: side('A', [1, 1, 1, 1], order), reference: side('B', [1, 1, 1, 1], order) })
    expect(order.join('')).to.equal('ABBAABBA')
  })

  it('compares the two runs of a round, whatever the machine does between rounds', async () => {
    const subject = side('A', [90, 45, 9, 180], [])
    const reference = side('B', [100, 50, 10, 200], [])
    const comparisons = await compare({ ...plan, subject, reference })
    expect(comparisons).to.deep.equal([{ name: 'checks', subject: 67.5, reference: 75, ratio: 0.9, unit: 'calls/s', spread: 0 }])
  })

  it('tells how far the ratios of the rounds lie apart, which one outlier hardly changes', async () => {
    // quartiles of 0.8 0.9 1.0 1.1 9.0: 0.9 and 1.1
    const subject = side('A', [8, 9, 10, 11, 90], [])
    const reference = side('B', [10, 10, 10, 10, 10], [])
    const [comparison] = await compare({ ...plan, rounds: 5, subject, reference })
    expect(comparison).to.include({ ratio: 1, spread: 0.1 })
  })

  it('begins no round for which there is no time, but has three at least', async () => {
    const order: string[] = []
    const values = () => Array.from({ length: 10 }, () => 1)
    await compare({ ...plan, rounds: 10, seconds: 0, subject: side('A', values(), order), reference: side('B', values(), order) })
    expect(order).to.have.length(6)
  })
})
