import { inspect } from 'node:util'
import { expect } from 'chai'
import fc from 'fast-check'
import { checkRequestedUsage, decide } from '../../../../src/entitlement/rules/evaluate.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { heldAt } from '../../../../src/reader/states/rights.js'
import { answerHeld, listHeld, toReason } from '../../../../src/sdk/server/answers.js'
import type * as sdk from '../../../../src/sdk/types.js'
import { type Held, held, state } from '../../reader/states.js'

const now = 1_000_000

const amount = fc.oneof(
  fc.integer({ min: 0, max: 20 }),
  fc.double({ min: 0, max: 20, noNaN: true }).map((value) => Number(decimal.fromNumber(value))),
  fc.constantFrom(0.1, 0.2, 0.3, 0.1 + 0.2, 9.7, 2 ** 53 - 1, 1e15),
)
const entitlement = fc
  .record({
    used: fc.oneof(amount, fc.integer({ min: -5, max: 0 })),
    usageLimit: fc.option(amount.map((value) => decimal.fromNumber(value))),
    hasUnlimitedUsage: fc.boolean(),
    hasSoftLimit: fc.boolean(),
    deniedReason: fc.constantFrom(null, null, null, 'Revoked' as const, 'BudgetExceeded' as const),
    kind: fc.constantFrom('BOOLEAN', 'ENUM', 'None', 'Fluctuating', 'Incremental'),
    enumValues: fc.subarray(['a', 'b', 'c']),
    periodEnd: fc.constantFrom(null, now - 1, now, now + 1),
  })
  .map(({ used, kind, periodEnd, ...changes }): Held => {
    const base = held('f', used, 1)
    const meterType = kind === 'Fluctuating' || kind === 'Incremental' ? kind : ('None' as const)
    const featureType = kind === 'BOOLEAN' || kind === 'ENUM' ? kind : ('NUMBER' as const)
    return { ...base, ...changes, feature: { ...base.feature, featureType, meterType }, usage: { ...base.usage, periodEnd } }
  })

describe('answers of the server SDK', () => {
  it('are what the platform decides, whatever is held and asked', () => {
    const types = fc.constantFrom('boolean' as const, 'numeric' as const, 'metered' as const, 'enum' as const)
    fc.assert(
      fc.property(
        entitlement,
        types,
        fc.option(amount, { nil: undefined }),
        fc.subarray(['a', 'b', 'd']),
        (right, type, requestedUsage, values) => {
          // The usages of a state are of those with a meter.
          const of = state(1, [right])
          const decided = decide(heldAt(of, 0), {
            requestedUsage: checkRequestedUsage(requestedUsage),
            requestedValues: values,
            expectedType: type,
            now,
          })
          const answer = answerHeld(
            type,
            { featureId: 'f', requestedValues: values, ...(requestedUsage === undefined ? {} : { requestedUsage }) },
            of,
            0,
            now,
          )
          if (!decided.granted && decided.reason === 'FeatureTypeMismatch') return void expect(answer).to.equal(null)
          expect(answer).to.deep.include({
            hasAccess: decided.granted,
            isFallback: false,
            accessDeniedReason: decided.granted ? null : toReason(decided.reason),
          })
          if (type === 'metered')
            expect((answer!.entitlement as { currentUsage: number }).currentUsage).to.equal(
              Number(decided.entitlement!.usage!.currentUsage),
            )
        },
      ),
      { numRuns: 2_000 },
    )
  }).timeout(20_000)

  it('refuse a requested usage that is no amount', () => {
    const of = state(1, [held('f', 1, 1)])
    for (const requestedUsage of [-1, Number.NaN, Number.POSITIVE_INFINITY, 1e-12])
      expect(() => answerHeld('metered', { featureId: 'f', requestedUsage }, of, 0, now)).to.throw('requestedUsage')
  })

  it('cannot be changed by who is given them, where many are given the same', () => {
    const base = held('f', 0, 1)
    const of = state(1, [{ ...base, feature: { ...base.feature, featureType: 'ENUM', meterType: 'None' }, enumValues: ['a'] }])
    const answer = () => answerHeld('enum', { featureId: 'f' }, of, 0, now)!
    expect(() => Object.assign(answer(), { hasAccess: false })).to.throw(TypeError)
    expect(() => (answer().entitlement as { enumValues: string[] }).enumValues.push('b')).to.throw(TypeError)
    expect(answer()).to.deep.include({ hasAccess: true })
  })

  it("show all of a metered entitlement, whose dates are each caller's own", () => {
    const base = held('f', 3, 1)
    const of = state(1, [{ ...base, usage: { ...base.usage, periodStart: 1_000, periodEnd: now + 1 } }])
    const entitlement = answerHeld('metered', { featureId: 'f' }, of, 0, now)!.entitlement as sdk.MeteredEntitlement
    expect(entitlement).to.include({ currentUsage: 3, usagePeriodAnchor: null })
    entitlement.usagePeriodEnd!.setTime(0)
    expect(entitlement.usagePeriodEnd).to.deep.equal(new Date(now + 1))
    const text = JSON.parse(JSON.stringify(entitlement)) as Record<string, unknown>
    expect(text).to.include({ currentUsage: 3, usagePeriodAnchor: null, usagePeriodStart: '1970-01-01T00:00:01.000Z' })
    expect(Object.keys(text)).to.have.members(Object.keys(listHeld(of, () => 0, now)[0]!).filter((key) => key !== 'type'))
    expect(inspect(entitlement)).to.include('usagePeriodStart: 1970-01-01T00:00:01.000Z')
  })
})
