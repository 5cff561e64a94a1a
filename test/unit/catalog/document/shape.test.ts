import { expect } from 'chai'
import { documentWith, planWith, pricing, refusals } from '../documents.js'

const price = (amount: unknown) => pricing({ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 'USD', amount })
const condition = (given: object) =>
  documentWith({
    features: [
      { refId: 'tokens', type: 'NUMBER', meter: 'Incremental', events: { aggregation: 'COUNT', filters: [[{ field: 'plan', ...given }]] } },
    ],
  })
const isTaken = (input: unknown) => refusals(input).length === 0

describe('a value in a catalog document', () => {
  it('is an amount of at most nine digits after the point, whatever zeros are behind', () => {
    for (const amount of [0, 1e-9, '1.500000000000000', '0.123456789', 2 ** 53 - 1, 120])
      expect(isTaken(price(amount)), String(amount)).to.equal(true)
    for (const amount of [1e-10, '0.1234567891', 2 ** 53, '9007199254740991.5', -1, '-1', 'x', true])
      expect(isTaken(price(amount)), String(amount)).to.equal(false)
  })

  it('is text with something in it that can be stored', () => {
    for (const text of ['', '  ', '\ud800'])
      expect(isTaken(documentWith({ plans: [planWith({ displayName: text })] })), JSON.stringify(text)).to.equal(false)
    expect(isTaken(documentWith({ plans: [planWith({ refId: '\ud800' })] }))).to.equal(false)
  })

  it('is a condition with what its operation takes', () => {
    for (const given of [{ operation: 'IN', values: ['a'] }, { operation: 'IS_NULL' }, { operation: 'IS_NOT_NULL' }])
      expect(isTaken(condition(given)), JSON.stringify(given)).to.equal(true)
    const wrong = [
      { operation: 'IN', value: 'a', values: ['a'] },
      { operation: 'IN' },
      { operation: 'IN', values: [] },
      { operation: 'IS_NULL', value: 'a' },
      { operation: 'IS_NOT_NULL', value: 'a' },
      { operation: 'IS_NOT_NULL', values: ['a'] },
    ]
    for (const given of wrong) expect(isTaken(condition(given)), JSON.stringify(given)).to.equal(false)
  })
})
