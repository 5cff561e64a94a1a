import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Feature } from '../../../../src/catalog/model/feature.js'
import {
  checkRequestedUsage,
  decide,
  type EntitlementType,
  entitlementAt,
  evaluate,
  fitsLimit,
} from '../../../../src/entitlement/rules/evaluate.js'
import type { Entitlement, EntitlementState } from '../../../../src/entitlement/rules/state.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import { Problem } from '../../../../src/kernel/problem.js'
import type { MeterType } from '../../../../src/metering/model/meter.js'

interface DecisionCase {
  name: string
  type: EntitlementType
  meter?: MeterType
  usageLimit?: number | null
  unlimited?: boolean
  softLimit?: boolean
  currentUsage?: number
  usagePeriodEnd?: string
  now?: string
  requestedUsage?: number
  enumValues?: string[]
  requestedValues?: string[]
  granted?: boolean
  reason?: string
  value?: number
  answeredUsage?: number
  error?: string
}

const cases: DecisionCase[] = JSON.parse(readFileSync('test/cases/decisions.json', 'utf8')).cases
const ms = (text: string): number => Date.parse(text)
const now = ms('2026-02-15T00:00:00Z')

const features: Record<EntitlementType, Pick<Feature, 'featureType' | 'meterType'>> = {
  boolean: { featureType: 'BOOLEAN', meterType: 'None' },
  numeric: { featureType: 'NUMBER', meterType: 'None' },
  metered: { featureType: 'NUMBER', meterType: 'Incremental' },
  enum: { featureType: 'ENUM', meterType: 'None' },
}

function held(type: EntitlementType, more: Partial<Omit<Entitlement, 'feature'>> & { meterType?: MeterType } = {}): Entitlement {
  const { meterType, ...rest } = more
  const naming = { id: '0', refId: type, displayName: type, description: null, units: null, unitsPlural: null, unitTransformation: null }
  return {
    feature: { ...naming, ...features[type], ...(meterType === undefined ? {} : { meterType }) },
    usageLimit: null,
    hasUnlimitedUsage: false,
    hasSoftLimit: false,
    enumValues: [],
    reset: null,
    usage: null,
    usageRestartsAt: null,
    deniedReason: null,
    validUntil: null,
    ...rest,
  }
}

const usageOf = (currentUsage: string, periodEnd: string | null = null) => ({
  currentUsage: decimal.fromText(currentUsage),
  periodStart: periodEnd === null ? null : ms(periodEnd) - 28 * 86_400_000,
  periodEnd: periodEnd === null ? null : ms(periodEnd),
  updatedAt: 1,
})

const stateOf = (entitlements: Entitlement[], deniedReason: EntitlementState['deniedReason'] = null): EntitlementState => ({
  environmentId: 'e',
  customerId: 'c',
  resourceId: null,
  version: 1,
  accessVersion: 1,
  deniedReason,
  entitlements,
})

const limited = (usageLimit: string, currentUsage: string, more: Parameters<typeof held>[1] = {}) =>
  held('metered', { usageLimit: decimal.fromText(usageLimit), usage: usageOf(currentUsage), ...more })

describe('evaluate', () => {
  for (const example of cases) {
    it(example.name, () => {
      const entitlement = held(example.type, {
        ...(example.meter === undefined ? {} : { meterType: example.meter }),
        usageLimit: typeof example.usageLimit === 'number' ? decimal.fromNumber(example.usageLimit) : null,
        hasUnlimitedUsage: example.unlimited ?? false,
        hasSoftLimit: example.softLimit ?? false,
        enumValues: example.enumValues ?? [],
        usage: example.currentUsage === undefined ? null : usageOf(String(example.currentUsage), example.usagePeriodEnd ?? null),
      })
      const ask = () =>
        evaluate({
          state: stateOf([held('boolean'), entitlement]),
          featureId: example.type,
          requestedUsage: checkRequestedUsage(example.requestedUsage),
          requestedValues: example.requestedValues ?? [],
          expectedType: example.type,
          now: example.now === undefined ? now : ms(example.now),
        })
      if (example.error !== undefined) {
        expect(ask).to.throw(Problem).with.property('code', 'INVALID_ARGUMENT')
        return
      }
      const decision = ask()
      expect(decision.granted).to.equal(example.granted)
      expect(decision.granted ? undefined : decision.reason).to.equal(example.reason)
      if (example.value !== undefined) expect(decision.entitlement?.usageLimit).to.equal(String(example.value))
      if (example.answeredUsage !== undefined) expect(decision.entitlement?.usage?.currentUsage).to.equal(String(example.answeredUsage))
    })
  }

  it('grants a tenth ten times against a limit of 1 and denies the eleventh', () => {
    const tenth = checkRequestedUsage(0.1)
    let currentUsage = decimal.zero
    const answers: boolean[] = []
    for (let i = 0; i < 11; i += 1) {
      answers.push(decide(limited('1', currentUsage), { requestedUsage: tenth, now }).granted)
      currentUsage = decimal.add(currentUsage, tenth)
    }
    expect(answers).to.deep.equal([...Array(10).fill(true), false])
    expect(decide(limited('1', '1'), { now }).granted).to.equal(true)
  })

  describe('the order of reasons', () => {
    for (const reason of ['CustomerNotFound', 'CustomerIsArchived', 'CustomerResourceNotFound', 'NoActiveSubscription'] as const) {
      it(`answers ${reason} of the state before anything about the feature`, () => {
        const decision = evaluate({ state: stateOf([held('boolean')], reason), featureId: 'boolean', now })
        expect(decision).to.deep.equal({ granted: false, reason, entitlement: null, isStale: false })
      })
    }

    it('answers NoFeatureEntitlementInSubscription for a feature that is not held', () => {
      const decision = evaluate({ state: stateOf([held('boolean')]), featureId: 'Boolean', now })
      expect(decision).to.deep.equal({ granted: false, reason: 'NoFeatureEntitlementInSubscription', entitlement: null, isStale: false })
    })

    for (const deniedReason of ['BudgetExceeded', 'Revoked'] as const) {
      it(`answers ${deniedReason} before the limit, even when unlimited, and shows the entitlement`, () => {
        const entitlement = limited('5', '9', { hasUnlimitedUsage: true, deniedReason })
        expect(decide(entitlement, { now })).to.deep.equal({ granted: false, reason: deniedReason, entitlement, isStale: false })
        expect(decide(held('boolean', { deniedReason }), { now }).granted).to.equal(false)
      })
    }

    it('answers FeatureTypeMismatch exactly when the feature is of another type than expected', () => {
      const types = Object.keys(features) as EntitlementType[]
      for (const type of types) {
        for (const expectedType of types) {
          const decision = decide(held(type, { deniedReason: 'Revoked' }), { expectedType, now })
          expect(decision).to.include({ granted: false, reason: type === expectedType ? 'Revoked' : 'FeatureTypeMismatch' })
        }
      }
      expect(decide(held('metered', { meterType: 'Fluctuating' }), { expectedType: 'metered', now }).granted).to.equal(true)
    })

    it('refuses a negative request whatever the state', () => {
      const requestedUsage = decimal.fromNumber(-1)
      for (const state of [stateOf([], 'CustomerNotFound'), stateOf([]), stateOf([held('metered', { hasUnlimitedUsage: true })])]) {
        expect(() => evaluate({ state, featureId: 'metered', requestedUsage, now })).to.throw(Problem, 'requestedUsage')
      }
      expect(() => decide(held('boolean'), { requestedUsage, now })).to.throw(Problem, 'requestedUsage')
    })
  })

  describe('requested usage', () => {
    for (const requested of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -1e-12, 1e-10]) {
      it(`refuses ${requested}`, () => {
        expect(() => checkRequestedUsage(requested))
          .to.throw(Problem, 'requestedUsage')
          .that.deep.includes({ code: 'INVALID_ARGUMENT', details: { path: 'requestedUsage' } })
      })
    }

    it('is refused below 0 as a number and as a text', () => {
      for (const requestedUsage of [-1, -0.5, decimal.fromNumber(-1)])
        expect(() => decide(limited('9', '0'), { requestedUsage, now }))
          .to.throw(Problem)
          .that.deep.includes({ details: { path: 'requestedUsage' } })
      expect(decide(limited('9', '0'), { requestedUsage: 9, now }).granted).to.equal(true)
    })

    it('is nothing to a feature without a meter, and values that are not asked for are held', () => {
      for (const type of ['boolean', 'numeric', 'enum'] as const)
        expect(decide(held(type), { requestedUsage: 5, now }).granted, type).to.equal(true)
      expect(decide(held('enum'), { requestedValues: ['eu'], now }).granted).to.equal(false)
    })

    it('is 0 when absent, and may be larger than any report', () => {
      expect(checkRequestedUsage(undefined)).to.equal('0')
      expect(checkRequestedUsage(null)).to.equal('0')
      expect(checkRequestedUsage(-0)).to.equal('0')
      expect(decide(limited('9', '0'), { requestedUsage: checkRequestedUsage(1e300), now }).granted).to.equal(false)
    })
  })

  describe('time', () => {
    const monthly = { period: 'MONTH', rule: 'SubscriptionStart', anchor: ms('2026-01-31T10:00:00Z'), timeZone: 'UTC' } as const

    it('answers usage 0 in the period that contains now once the period is over, and says so', () => {
      const entitlement = limited('5', '5', { reset: monthly, usage: usageOf('5', '2026-02-28T10:00:00Z') })
      const before = decide(entitlement, { requestedUsage: decimal.fromNumber(1), now: ms('2026-02-28T09:59:59.999Z') })
      expect(before).to.include({ granted: false, isStale: false })
      expect(before.entitlement).to.equal(entitlement)
      const after = decide(entitlement, { requestedUsage: decimal.fromNumber(5), now: ms('2026-04-01T00:00:00Z') })
      expect(after).to.include({ granted: true, isStale: true })
      expect(after.entitlement?.usage).to.deep.equal({
        currentUsage: '0',
        periodStart: ms('2026-03-31T10:00:00Z'),
        periodEnd: ms('2026-04-30T10:00:00Z'),
        updatedAt: 1,
      })
      expect(entitlement.usage?.currentUsage).to.equal('5')
    })

    it('keeps the past period when the state does not tell how usage is reset', () => {
      const usage = usageOf('5', '2026-02-28T10:00:00Z')
      expect(entitlementAt(limited('5', '5', { usage }), ms('2026-03-05T00:00:00Z')).usage).to.deep.equal({ ...usage, currentUsage: '0' })
    })

    it('restarts usage at the end of a converting trial, and lays the periods out from there', () => {
      const usageRestartsAt = ms('2026-02-10T00:00:00Z')
      const entitlement = limited('5', '5', { reset: monthly, usageRestartsAt, usage: usageOf('5', '2026-02-10T00:00:00Z') })
      expect(decide(entitlement, { requestedUsage: decimal.fromNumber(1), now: usageRestartsAt - 1 }).granted).to.equal(false)
      const after = entitlementAt(entitlement, usageRestartsAt)
      expect(after.usage).to.deep.include({ currentUsage: '0', periodStart: usageRestartsAt, periodEnd: ms('2026-03-10T00:00:00Z') })
      expect(after).to.deep.include({ reset: { ...monthly, anchor: usageRestartsAt }, usageRestartsAt: null })
    })

    it('cuts a period short in which usage will restart', () => {
      const usageRestartsAt = ms('2026-03-10T00:00:00Z')
      const entitlement = limited('5', '5', { reset: monthly, usageRestartsAt, usage: usageOf('5', '2026-02-28T10:00:00Z') })
      const later = entitlementAt(entitlement, ms('2026-03-01T00:00:00Z'))
      expect(later.usage).to.deep.include({ periodStart: ms('2026-02-28T10:00:00Z'), periodEnd: usageRestartsAt })
      expect(later.usageRestartsAt).to.equal(usageRestartsAt)
    })

    it('never resets seats, even with a period in the entry', () => {
      const seats = limited('5', '5', { meterType: 'Fluctuating', reset: monthly, usage: usageOf('5', '2026-02-01T00:00:00Z') })
      expect(decide(seats, { requestedUsage: decimal.fromNumber(1), now })).to.include({ granted: false, isStale: false })
    })

    it('keeps the other fields of a reader, and copies nothing when nothing changes', () => {
      const entry = { ...limited('5', '-2'), fetchedAt: 7 }
      const decision = decide(entry, { now })
      expect(decision.entitlement?.fetchedAt).to.equal(7)
      expect(decision.entitlement?.usage?.currentUsage).to.equal('0')
      const unchanged = { ...limited('5', '2'), fetchedAt: 7 }
      expect(decide(unchanged, { now }).entitlement).to.equal(unchanged)
    })
  })

  it('compares exactly where doubles are all but equal, as numbers and as texts', () => {
    const cases: [used: number | string, requested: number | string, limit: number | string, fits: boolean][] = [
      [0.1, 0.2, 0.3, true],
      [0.1, 0.2, '0.299999999', false],
      [2 ** 51, 0, 2 ** 51, true],
      [2 ** 51, 1, 2 ** 51, false],
      ['2251799813685248', '1', '2251799813685248', false],
      [2 ** 52, '0.1', '4503599627370496.2', true],
      [2 ** 52, '0.3', '4503599627370496.2', false],
      ['4503599627370496.4', 0, 2 ** 52, false],
      ['4503599627370496.4', 0, '4503599627370496.4', true],
    ]
    const amount = (value: number | string) => (typeof value === 'number' ? value : decimal.fromText(value))
    for (const [used, requested, limit, fits] of cases)
      expect(
        fitsLimit({ currentUsage: amount(used), requestedUsage: amount(requested), usageLimit: amount(limit) }),
        `${used} + ${requested} of ${limit}`,
      ).to.equal(fits)
  })

  it('compares with the limit exactly, near and far from it', () => {
    const anyBillionths = fc.oneof(fc.bigInt(0n, 10n ** 10n), fc.bigInt(0n, 10n ** 25n))
    const fromBillionths = (units: bigint) => decimal.fromText(`${units}e-9`)
    fc.assert(
      fc.property(
        fc.oneof(anyBillionths, fc.bigInt(-100n, 0n)),
        anyBillionths,
        fc.oneof(fc.bigInt(-3n, 3n), fc.bigInt(-(10n ** 24n), 10n ** 24n)),
        (used, requested, room) => {
          const limit = (used > 0n ? used : 0n) + requested + room
          const question = {
            currentUsage: fromBillionths(used),
            requestedUsage: fromBillionths(requested),
            usageLimit: fromBillionths(limit),
          }
          expect(fitsLimit(question)).to.equal(room >= 0n)
        },
      ),
      { numRuns: 1000 },
    )
    expect(fitsLimit({ currentUsage: decimal.zero, requestedUsage: decimal.zero, usageLimit: null })).to.equal(true)
  }).timeout(20_000)
})
