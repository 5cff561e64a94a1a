import { inspect } from 'node:util'
import { expect } from 'chai'
import fc from 'fast-check'
import { checkRequestedUsage, decide } from '../../../../src/entitlement/rules/evaluate.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { heldAt } from '../../../../src/reader/states/rights.js'
import { answerHeld, entitlementOfFallback, type HeldMeter, heldType, listHeld, toReason } from '../../../../src/sdk/server/answers.js'
import type * as sdk from '../../../../src/sdk/types.js'
import { forgetRights, type Held, held, state } from '../../reader/states.js'

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
  beforeEach(forgetRights)

  it('are what the platform decides, whatever is held and asked', () => {
    const types = fc.constantFrom('boolean' as const, 'numeric' as const, 'metered' as const, 'enum' as const)
    fc.assert(
      fc.property(
        entitlement,
        types,
        fc.option(amount, { nil: undefined }),
        fc.subarray(['a', 'b', 'd']),
        (right, type, requestedUsage, values) => {
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

  const unmetered = (featureType: 'BOOLEAN' | 'NUMBER' | 'ENUM', changes: Partial<Held> = {}): Held => {
    const base = held(featureType, 0, 1)
    return { ...base, feature: { ...base.feature, featureType, meterType: 'None' }, ...changes }
  }
  const calls = held('calls', 8, 1)
  const feature = (id: string, featureType: string, meterType = 'NONE') => ({
    id,
    featureType,
    meterType,
    isMetered: meterType !== 'NONE',
    units: null,
    unitsPlural: null,
  })
  const noPeriod = { resetPeriod: null, usagePeriodAnchor: null, usagePeriodStart: null, usagePeriodEnd: null }
  const period = { resetPeriod: 'MONTH' as const, usage: { ...calls.usage, periodStart: 5, periodEnd: now + 1, anchor: 7 } }
  const metered = {
    feature: feature('calls', 'NUMBER', 'INCREMENTAL'),
    usageLimit: 10,
    isUnlimited: false,
    hasSoftLimit: false,
    currentUsage: 8,
    ...noPeriod,
    usagePeriodStart: new Date(0),
  }

  it('say why a feature gives no access, and show what is held of it', () => {
    const denied = (reason: string) => ({ hasAccess: false, isFallback: false, accessDeniedReason: reason, entitlement: null })
    expect(answerHeld('boolean', { featureId: 'g' }, state(1, [calls]), 0, now)).to.deep.equal(
      denied('NO_FEATURE_ENTITLEMENT_IN_SUBSCRIPTION'),
    )
    const archived = state(1, [calls], { deniedReason: 'CustomerIsArchived' })
    expect(answerHeld('metered', { featureId: 'calls' }, archived, 0, now)).to.deep.equal(denied('CUSTOMER_IS_ARCHIVED'))
    const { entitlement, ...answer } = answerHeld('metered', { featureId: 'calls', requestedUsage: 3 }, state(1, [calls]), 0, now)!
    expect({ ...answer, entitlement: (entitlement as HeldMeter).toJSON() }).to.deep.equal({
      ...denied('REQUESTED_USAGE_EXCEEDING_LIMIT'),
      entitlement: metered,
    })
    const regions = state(1, [unmetered('ENUM', { enumValues: ['eu'] })])
    expect(answerHeld('enum', { featureId: 'ENUM', requestedValues: ['us'] }, regions, 0, now)).to.deep.equal({
      ...denied('REQUESTED_VALUES_MISMATCH'),
      entitlement: { feature: feature('ENUM', 'ENUM'), enumValues: ['eu'] },
    })
  })

  it('count what is being reported, and what is used not below 0', () => {
    const used = (pending: number, of = calls) =>
      (answerHeld('metered', { featureId: 'calls' }, state(1, [of]), pending, now)!.entitlement as { currentUsage: number }).currentUsage
    expect([used(0), used(1.5), used(-3), used(-9)]).to.deep.equal([8, 9.5, 5, 0])
    const below = { ...calls, usage: { ...calls.usage, currentUsage: decimal.fromNumber(-4) } }
    expect([used(0, below), used(3, below)]).to.deep.equal([0, 3])
    const over = { ...calls, usage: { ...calls.usage, periodEnd: now } }
    expect([used(0, over), used(3, over)]).to.deep.equal([0, 3])
    expect(answerHeld('metered', { featureId: 'calls', requestedUsage: 2 }, state(1, [calls]), 1, now)).to.include({ hasAccess: false })
  })

  it('know of which type a feature is that is held', () => {
    const of = [unmetered('BOOLEAN'), unmetered('NUMBER'), unmetered('ENUM'), calls]
    const types = (changes = {}) => ['BOOLEAN', 'NUMBER', 'ENUM', 'calls', 'other'].map((id) => heldType(state(1, of, changes), id))
    expect(types()).to.deep.equal(['boolean', 'numeric', 'enum', 'metered', null])
    expect(types({ deniedReason: 'CustomerIsArchived' })).to.deep.equal([null, null, null, null, null])
  })

  it('list all that gives access, each as its type has it', () => {
    const of = [
      unmetered('BOOLEAN'),
      unmetered('NUMBER'),
      unmetered('ENUM', { enumValues: ['eu'] }),
      { ...calls, ...period, hasSoftLimit: true },
      held('seats', 3, 1, { feature: { ...held('seats', 0, 1).feature, meterType: 'Fluctuating' }, hasUnlimitedUsage: true }),
      held('gone', 0, 1, { deniedReason: 'Revoked' }),
      held('none', 0, 1, { usageLimit: null }),
    ]
    expect(listHeld(state(1, of), (featureId) => (featureId === 'calls' ? 1 : 0), now)).to.deep.equal([
      { type: 'boolean', feature: feature('BOOLEAN', 'BOOLEAN') },
      { type: 'numeric', feature: feature('NUMBER', 'NUMBER'), value: 10, isUnlimited: false },
      { type: 'enum', feature: feature('ENUM', 'ENUM'), enumValues: ['eu'] },
      {
        ...metered,
        type: 'metered',
        hasSoftLimit: true,
        currentUsage: 9,
        resetPeriod: 'MONTH',
        usagePeriodAnchor: new Date(7),
        usagePeriodStart: new Date(5),
        usagePeriodEnd: new Date(now + 1),
      },
      {
        ...metered,
        type: 'metered',
        feature: feature('seats', 'NUMBER', 'FLUCTUATING'),
        usageLimit: null,
        isUnlimited: true,
        currentUsage: 3,
      },
      { ...metered, type: 'metered', feature: feature('none', 'NUMBER', 'INCREMENTAL'), usageLimit: null, currentUsage: 0 },
    ])
    expect(listHeld(state(1, of, { deniedReason: 'CustomerIsArchived' }), () => 0, now)).to.deep.equal([])
  })

  it('tell of a fallback what it says, and of no feature', () => {
    const fallback = { hasAccess: true, usageLimit: 5, isUnlimited: true, enumValues: ['eu'] }
    expect(entitlementOfFallback('boolean', fallback)).to.deep.equal({ feature: null })
    expect(entitlementOfFallback('numeric', fallback)).to.deep.equal({ feature: null, value: 5, isUnlimited: true })
    expect(entitlementOfFallback('enum', fallback)).to.deep.equal({ feature: null, enumValues: ['eu'] })
    expect(entitlementOfFallback('metered', fallback)).to.deep.equal({
      feature: null,
      usageLimit: 5,
      isUnlimited: true,
      hasSoftLimit: false,
      currentUsage: 0,
      ...noPeriod,
    })
  })
})
