import { expect } from 'chai'
import fc from 'fast-check'
import { currencies } from '../../../src/catalog/model/currency.js'
import * as decimal from '../../../src/kernel/decimal.js'
import { allocate, exactly, minorDigits, product, round, share } from '../../../src/kernel/money.js'

const d = decimal.fromText

describe('money', () => {
  const rounded: [amount: string, currency: string, expected: string][] = [
    ['12.345', 'USD', '12.35'],
    ['-12.345', 'USD', '-12.35'],
    ['12.344999999', 'USD', '12.34'],
    ['0.5', 'JPY', '1'],
    ['-0.5', 'JPY', '-1'],
    ['1.0005', 'KWD', '1.001'],
    ['0.004999999', 'EUR', '0'],
  ]
  for (const [amount, currency, expected] of rounded) {
    it(`rounds ${amount} ${currency} to ${expected}`, () => expect(round(exactly(d(amount)), currency)).to.equal(expected))
  }

  it('keeps unit prices below a minor unit exact until the line is rounded', () => {
    expect(round(product(d('12345'), d('0.0001')), 'USD')).to.equal('1.23')
    // In two roundings this would be 0.01: 0.0049999999995 is 0.005 with 9 digits.
    expect(round(product(d('0.999999999'), d('0.005')), 'USD')).to.equal('0')
  })

  it('knows the minor unit of every currency that a price can have', () => {
    const whole = currencies.filter((currency) => minorDigits(currency) === 0)
    expect(whole).to.include.members(['JPY', 'KRW', 'VND', 'XOF'])
    expect(whole).not.to.include.members(['USD'])
    for (const currency of ['USD', 'EUR', 'DZD', 'MGA', 'SLL']) expect(minorDigits(currency)).to.equal(2)
    expect(minorDigits('KWD')).to.equal(3)
  })

  it('rounds a share once, where its decimals have no end', () => {
    expect(share(d('10'), 1n, 3n, 'USD')).to.equal('3.33')
    expect(share(d('-20'), 1n, 3n, 'USD')).to.equal('-6.67')
    expect(share(d('0.01'), 1n, 2n, 'USD')).to.equal('0.01')
    expect(share(d('1000'), 1n, 3n, 'JPY')).to.equal('333')
  })

  it('loses no minor unit when an amount is divided', () => {
    const minorAmount = fc.integer({ min: -1e9, max: 1e9 })
    const weights = fc.array(fc.integer({ min: 0, max: 1e7 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(minorAmount, weights, fc.constantFrom('JPY', 'USD', 'KWD'), (minor, ratios, currency) => {
        const amount = share(decimal.fromNumber(minor), 1n, 10n ** BigInt(minorDigits(currency)), currency)
        const parts = allocate(
          amount,
          ratios.map((ratio) => decimal.fromNumber(ratio)),
          currency,
        )
        expect(parts.reduce(decimal.add, decimal.zero)).to.equal(amount)
      }),
    )
  })

  it('gives nothing to a weight of 0', () => {
    expect(allocate(d('1'), [d('0'), d('1'), d('2')], 'USD')).to.deep.equal(['0', '0.33', '0.67'])
  })

  it('takes a share of more than one part', () => {
    expect(share(d('10'), 2n, 3n, 'USD')).to.equal('6.67')
    expect(share(d('0'), 2n, 3n, 'USD')).to.equal('0')
  })

  it('gives all to the first when no weight is above 0, and divides nothing among none', () => {
    expect(allocate(d('5'), [d('0'), d('0')], 'USD')).to.deep.equal(['5', '0'])
    expect(allocate(d('0'), [], 'USD')).to.deep.equal([])
  })
})
