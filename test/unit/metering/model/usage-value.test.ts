import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Problem } from '../../../../src/kernel/problem.js'
import { checkUsageValue } from '../../../../src/metering/model/usage-value.js'

const cases: {
  usageValueRoundsToNothing: string[]
  usageValueOutOfRange: string[]
  usageValueOverGrpc: string[]
  usageValueAccepted: [sent: string, kept: string][]
} = JSON.parse(readFileSync('test/cases/refused.json', 'utf8'))

describe('usage value', () => {
  const refused = [...cases.usageValueRoundsToNothing, ...cases.usageValueOutOfRange, ...cases.usageValueOverGrpc, '-0.0000000001']
  for (const sent of refused) {
    it(`refuses ${sent} and names the input`, () => {
      expect(() => checkUsageValue(Number(sent), 'usages[3].value'))
        .to.throw(Problem, 'usages[3].value')
        .with.property('code', 'INVALID_ARGUMENT')
    })
  }

  for (const [sent, kept] of [
    ...cases.usageValueAccepted,
    ['0', '0'],
    ['-5', '-5'],
    ['1e-9', '0.000000001'],
    ['999999999999999.9', '999999999999999.9'],
  ] as const) {
    it(`keeps ${sent} as ${kept}`, () => expect(checkUsageValue(Number(sent))).to.equal(kept))
  }

  it('names the place of what it refuses', () => {
    for (const sent of [Number.NaN, 1e15, -1e15, 1e-12]) {
      expect(() => checkUsageValue(sent))
        .to.throw(Problem)
        .with.nested.property('details.path', 'value')
      expect(() => checkUsageValue(sent, 'a.b'))
        .to.throw(Problem)
        .with.deep.property('details', { path: 'a.b' })
    }
  })
})
