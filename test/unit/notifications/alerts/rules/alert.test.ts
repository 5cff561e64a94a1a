import { expect } from 'chai'
import { knownThresholds } from '../../../../../src/notifications/alerts/rules/alert.js'

describe('thresholds as they are stored', () => {
  const share = { kind: 'SHARE', value: '99.99' }
  const amount = { kind: 'AMOUNT', value: '0.5' }

  it('are those of this release', () => expect(knownThresholds([share, amount])).to.deep.equal([share, amount]))

  it('are without those that only a later release can read', () => {
    const others = [
      { kind: 'RATE', value: '1' },
      { kind: 'SHARE' },
      { kind: 'SHARE', value: 80 },
      { kind: 'AMOUNT', value: 'all' },
      null,
      'SHARE',
      [],
    ]
    expect(knownThresholds([...others, amount])).to.deep.equal([amount])
  })

  for (const stored of [null, {}, { poison: [1] }, 'SHARE', 1])
    it(`are none where the list is ${JSON.stringify(stored)}`, () => expect(knownThresholds(stored)).to.deep.equal([]))
})
