import { expect } from 'chai'
import fc from 'fast-check'
import * as decimal from '../../../src/kernel/decimal.js'
import { Problem } from '../../../src/kernel/problem.js'

/** Decimals of every size that arithmetic treats differently: short whole numbers, long ones, fractions. */
const anyDecimal = fc
  .tuple(
    fc.oneof(fc.bigInt(-1000n, 1000n), fc.bigInt(-(10n ** 18n), 10n ** 18n), fc.bigInt(-(10n ** 30n), 10n ** 30n)),
    fc.integer({ min: 0, max: 9 }),
  )
  .map(([digits, fraction]) => decimal.fromText(`${digits}e-${fraction}`))

/** The value as a whole number of billionths, computed another way than the code under test does. */
function billionths(value: decimal.Decimal): bigint {
  const [whole = '', fraction = ''] = value.replace('-', '').split('.')
  const magnitude = BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
  return value.startsWith('-') ? -magnitude : magnitude
}

describe('decimal', () => {
  const texts: [text: string, canonical: string][] = [
    ['0', '0'],
    ['-0', '0'],
    ['-0.0000000001', '0'],
    ['10.500', '10.5'],
    ['007', '7'],
    ['+.5', '0.5'],
    ['5.', '5'],
    ['1e3', '1000'],
    ['1.5E-3', '0.0015'],
    ['-12', '-12'],
    ['0.0000000005', '0.000000001'],
    ['-0.0000000005', '-0.000000001'],
    ['0.00000000049', '0'],
    ['0.9999999995', '1'],
    ['123456789012345678901234567890.123456789', '123456789012345678901234567890.123456789'],
    ['1e-999999', '0'],
    ['0e400', '0'],
    ['1e-9', '0.000000001'],
    [`0.${'0'.repeat(997)}1`, '0'],
    [`${'0'.repeat(998)}12`, '12'],
    [`0.${'5'.repeat(998)}`, '0.555555556'],
  ]
  for (const [text, canonical] of texts) {
    it(`reads ${text} as ${canonical}`, () => expect(decimal.fromText(text)).to.equal(canonical))
  }

  for (const text of [
    '',
    '.',
    '-',
    'e5',
    '1,5',
    ' 1',
    '1 ',
    '0x10',
    'NaN',
    'Infinity',
    '1e',
    '1.2.3',
    '1e401',
    '1e99999999999',
    '1'.repeat(1001),
  ]) {
    it(`refuses '${text.slice(0, 20)}' as text`, () => {
      expect(() => decimal.fromText(text))
        .to.throw(Problem)
        .with.property('code', 'INVALID_ARGUMENT')
    })
  }

  const numbers: [number: number, canonical: string][] = [
    [0.1 + 0.2, '0.3'],
    [1 / 3, '0.333333333'],
    [-0, '0'],
    [1e3, '1000'],
    [1e-9, '0.000000001'],
    [5e-10, '0.000000001'],
    [-5e-10, '-0.000000001'],
    [4.9e-10, '0'],
    [1e-7, '0.0000001'],
    [2 ** 53 - 1, '9007199254740991'],
    [1e21, '1000000000000000000000'],
    [-1.5, '-1.5'],
  ]
  for (const [number, canonical] of numbers) {
    it(`takes the double ${number} as ${canonical}`, () => expect(decimal.fromNumber(number)).to.equal(canonical))
  }

  for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    it(`refuses the double ${number}`, () => {
      expect(() => decimal.fromNumber(number))
        .to.throw(Problem)
        .with.property('code', 'INVALID_ARGUMENT')
    })
  }

  it('adds a tenth ten times to exactly one', () => {
    let sum = decimal.zero
    for (let i = 0; i < 10; i += 1) sum = decimal.add(sum, decimal.fromNumber(0.1))
    expect(sum).to.equal('1')
  })

  it('adds and subtracts whole numbers beyond what doubles carry', () => {
    const large = decimal.fromText('9007199254740992')
    expect(decimal.add(large, decimal.fromNumber(1))).to.equal('9007199254740993')
    expect(decimal.subtract(decimal.negate(large), decimal.fromNumber(1))).to.equal('-9007199254740993')
  })

  it('rounds a product half away from zero', () => {
    expect(decimal.multiply(decimal.fromText('0.000000001'), decimal.fromText('0.5'))).to.equal('0.000000001')
    expect(decimal.multiply(decimal.fromText('-0.000000001'), decimal.fromText('0.5'))).to.equal('-0.000000001')
    expect(decimal.multiply(decimal.fromText('2.5'), decimal.fromText('4'))).to.equal('10')
  })

  it('keeps every result canonical, so that equal values are equal strings', () => {
    fc.assert(
      fc.property(anyDecimal, anyDecimal, (a, b) => {
        for (const result of [a, decimal.add(a, b), decimal.subtract(a, b), decimal.multiply(a, b), decimal.negate(a), decimal.max(a, b)]) {
          expect(result).to.match(/^(0|-?[1-9]\d*|-?(0|[1-9]\d*)\.\d{0,8}[1-9])$/)
          expect(decimal.fromText(result)).to.equal(result)
        }
      }),
    )
  })

  it('has one zero: what is nothing is not negative', () => {
    const { fromNumber, multiply, negate, subtract, zero } = decimal
    for (const none of [negate(zero), negate(fromNumber(-0)), subtract(fromNumber(0.1), fromNumber(0.1)), multiply(fromNumber(-3), zero)])
      expect(none).to.equal('0')
    expect(negate(fromNumber(-2))).to.equal('2')
  })

  it('adds, subtracts, negates and compares exactly', () => {
    fc.assert(
      fc.property(anyDecimal, anyDecimal, (a, b) => {
        const [x, y] = [billionths(a), billionths(b)]
        expect(billionths(decimal.add(a, b))).to.equal(x + y)
        expect(billionths(decimal.subtract(a, b))).to.equal(x - y)
        expect(billionths(decimal.negate(a))).to.equal(-x)
        expect(decimal.compare(a, b)).to.equal(x < y ? -1 : x > y ? 1 : 0)
        expect(decimal.compare(a, decimal.add(a, decimal.fromNumber(1e-9)))).to.equal(-1)
        expect(decimal.max(a, b)).to.equal(decimal.compare(a, b) === 1 ? a : b)
      }),
    )
  })

  it('gives a double back as it was, up to 9 decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 52), max: 2 ** 52 }), fc.integer({ min: 0, max: 9 }), (digits, fraction) => {
        const number = digits / 10 ** fraction
        expect(decimal.toNumber(decimal.fromNumber(number))).to.equal(number + 0)
      }),
    )
  })

  it('takes any finite double, large and tiny ones too', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const back = decimal.toNumber(decimal.fromNumber(number))
        expect(Math.abs(back - number)).to.be.at.most(5e-10 + Math.abs(number) * 2 ** -52)
      }),
    )
  })

  it('says no more than the beginning of a text that it refuses', () => {
    expect(() => decimal.fromText(`${'1'.repeat(40)}x${'1'.repeat(100)}`)).to.throw(Problem, `'${'1'.repeat(40)}'`)
  })

  const quotients: [a: string, b: string, quotient: string, up: string, down: string][] = [
    ['1', '3', '0.333333333', '1', '0'],
    ['2', '3', '0.666666667', '1', '0'],
    ['-2', '3', '-0.666666667', '0', '-1'],
    ['2', '-3', '-0.666666667', '0', '-1'],
    ['-2', '-3', '0.666666667', '1', '0'],
    ['7', '2', '3.5', '4', '3'],
    ['-7', '2', '-3.5', '-3', '-4'],
    ['6', '2', '3', '3', '3'],
    ['-6', '2', '-3', '-3', '-3'],
    ['0', '-5', '0', '0', '0'],
    ['0.3', '0.1', '3', '3', '3'],
  ]
  for (const [a, b, quotient, up, down] of quotients) {
    it(`divides ${a} by ${b}`, () => {
      const [x, y] = [decimal.fromText(a), decimal.fromText(b)]
      expect(decimal.divide(x, y)).to.equal(quotient)
      expect(decimal.divideToWhole(x, y, 'UP')).to.equal(up)
      expect(decimal.divideToWhole(x, y, 'DOWN')).to.equal(down)
    })
  }

  it('refuses to divide by 0', () => {
    const one = decimal.fromNumber(1)
    for (const dividing of [decimal.divide, (a: decimal.Decimal, b: decimal.Decimal) => decimal.divideToWhole(a, b, 'UP')])
      expect(() => dividing(one, decimal.zero))
        .to.throw(Problem, 'divided by 0')
        .with.property('code', 'INVALID_ARGUMENT')
  })

  it('subtracts short numbers, and compares those that doubles cannot tell apart', () => {
    expect(decimal.subtract(decimal.fromText('5'), decimal.fromText('7'))).to.equal('-2')
    const [a, b] = [decimal.fromText('9007199254740992'), decimal.fromText('9007199254740993')]
    expect([decimal.compare(a, b), decimal.compare(b, a), decimal.compare(a, a)]).to.deep.equal([-1, 1, 0])
    const [huge, huger] = [decimal.fromText('1e399'), decimal.fromText('1e400')]
    expect([decimal.compare(huge, huger), decimal.compare(huger, huge)]).to.deep.equal([-1, 1])
  })
})
