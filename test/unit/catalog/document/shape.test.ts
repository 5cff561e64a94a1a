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
    for (const amount of [1e-10, '0.1234567891', 2 ** 53, '9007199254740991.5', -1, '-1', 'x', true, ['5']])
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
      { operation: 'IN' },
      { operation: 'IN', values: [] },
      { operation: 'IS_NULL', value: 'a' },
      { operation: 'IS_NOT_NULL', value: 'a' },
      { operation: 'IS_NOT_NULL', values: ['a'] },
    ]
    for (const given of wrong) expect(isTaken(condition(given)), JSON.stringify(given)).to.equal(false)
  })

  const refused: [what: string, input: unknown, ...problems: string[]][] = [
    [
      'no number among choices',
      documentWith({ features: [{ refId: 'f', type: 5 }] }),
      'features[0].type: must be one of BOOLEAN, NUMBER, ENUM',
    ],
    [
      'no number among codes',
      pricing({ billingModel: 'FLAT_FEE', billingPeriod: 'MONTHLY', currency: 5, amount: 1 }),
      'plans[0].prices[0].currency: is not one of the known codes',
    ],
    [
      'no number above what is taken',
      documentWith({ plans: [planWith({ pricingType: 'CUSTOM', defaultTrial: { duration: 1001, units: 'DAY' } })] }),
      'plans[0].defaultTrial.duration: must be a whole number from 1 to 1000',
    ],
    [
      'no amount that is left out',
      { coupons: [{ refId: 'c', amountsOff: [{ currency: 'EUR' }] }] },
      'coupons[0].amountsOff[0].amount: is required',
    ],
    [
      'no single value where there are several',
      condition({ operation: 'IN', value: 'a', values: ['a'] }),
      'features[0].events.filters[0][0].value: does not go with IN: give values',
    ],
  ]
  for (const [what, input, ...problems] of refused) it(`is ${what}`, () => expect(refusals(input)).to.deep.equal(problems))
})
