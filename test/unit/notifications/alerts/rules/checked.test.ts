import { expect } from 'chai'
import * as decimal from '../../../../../src/kernel/decimal.js'
import { Problem } from '../../../../../src/kernel/problem.js'
import type { Threshold } from '../../../../../src/notifications/alerts/rules/alert.js'
import { checkedThresholds, checkSettings } from '../../../../../src/notifications/alerts/rules/checked.js'

const share = (value: string): Threshold => ({ kind: 'SHARE', value: decimal.fromText(value) })
const amount = (value: string): Threshold => ({ kind: 'AMOUNT', value: decimal.fromText(value) })
const shares = (count: number) => Array.from({ length: count }, (_, index) => share(String(index + 1)))

/** Which input is refused; null: none. */
function refusedPath(check: () => unknown): unknown {
  try {
    check()
    return null
  } catch (error) {
    const problem = Problem.from(error)
    expect(problem.code).to.equal('INVALID_ARGUMENT')
    return problem.details.path
  }
}

describe('thresholds of an alert', () => {
  const taken: [what: string, Threshold[]][] = [
    ['one', shares(1)],
    ['ten', shares(10)],
    ['a share with two decimals', [share('99.99')]],
    ['the smallest share', [share('0.01')]],
    ['ten times the limit', [share('1000')]],
    ['an amount above the greatest share', [amount('1001')]],
    ['the smallest amount', [amount('0.000000001')]],
    ['the greatest amount', [amount('9007199254740991')]],
    ['a share and an amount of the same number', [share('80'), amount('80')]],
  ]
  for (const [what, thresholds] of taken) it(`may be ${what}`, () => expect(checkedThresholds(thresholds)).to.have.deep.members(thresholds))

  const refused: [what: string, Threshold[]][] = [
    ['none', []],
    ['eleven', shares(11)],
    ['a share of nothing', [share('0')]],
    ['a share below nothing', [share('-1')]],
    ['an amount of nothing', [amount('0')]],
    ['a share with three decimals', [share('99.999')]],
    ['more than ten times the limit', [share('1000.01')]],
    ['an amount beyond what a double counts', [amount('9007199254740991.000000001')]],
    ['the same twice', [share('80'), share('80.0')]],
  ]
  for (const [what, thresholds] of refused)
    it(`are not ${what}`, () => expect(refusedPath(() => checkedThresholds(thresholds))).to.equal('thresholds'))

  it('are kept shares first, and the lowest first, whatever the order in which they were given', () => {
    const given = [amount('20'), share('100'), amount('3'), share('9.5')]
    const kept = [share('9.5'), share('100'), amount('3'), amount('20')]
    expect(checkedThresholds(given)).to.deep.equal(kept)
    expect(checkedThresholds([...given].reverse())).to.deep.equal(kept)
    expect(given[0], 'the argument is not changed').to.deep.equal(amount('20'))
  })
})

describe('settings of an alert', () => {
  for (const settings of [
    {},
    { hysteresisPercent: 0 },
    { hysteresisPercent: 99 },
    { description: null },
    { description: 'x'.repeat(1_000) },
  ])
    it(`may be ${JSON.stringify(settings).slice(0, 40)}`, () => expect(refusedPath(() => checkSettings(settings))).to.equal(null))

  for (const hysteresisPercent of [-1, 0.5, 100, Number.NaN])
    it(`are no hysteresis of ${hysteresisPercent}`, () =>
      expect(refusedPath(() => checkSettings({ hysteresisPercent }))).to.equal('hysteresisPercent'))

  it('are no description of more than a thousand characters', () =>
    expect(refusedPath(() => checkSettings({ description: 'x'.repeat(1_001) }))).to.equal('description'))
})
