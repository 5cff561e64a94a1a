import type { MessageTypeDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import type { EntitlementType } from '../../../../src/entitlement/rules/evaluate.js'
import { fromNumber, fromText } from '../../../../src/kernel/decimal.js'
import { Problem } from '../../../../src/kernel/problem.js'
import type { Fallback } from '../../../../src/reader/states/fallback.js'
import { heldAt } from '../../../../src/reader/states/rights.js'
import {
  encodeFallback,
  encodeHeld,
  fromDimensions,
  fromFallback,
  fromTimestamp,
  fromUpdateBehavior,
  toFreshness,
  toTimestamp,
} from '../../../../src/sidecar/grpc/mapping.js'
import { sidecarPackage } from '../../../../src/sidecar/grpc/proto.js'
import { forgetRights, type Held, held, state } from '../../reader/states.js'

const messageNames = {
  boolean: 'BooleanEntitlement',
  numeric: 'NumericEntitlement',
  metered: 'MeteredEntitlement',
  enum: 'EnumEntitlement',
}
const read = (type: EntitlementType, bytes: Uint8Array): Record<string, unknown> =>
  (sidecarPackage[`service.sidecar.v1.${messageNames[type]}`] as MessageTypeDefinition<object, Record<string, unknown>>).deserialize(
    Buffer.from(bytes),
  )

const calls = held('calls', 0, 1)
const encode = (type: EntitlementType, right: Held) => read(type, encodeHeld(heldAt(state(1, [right]), 0)))
const numeric = (changes: Partial<Held>) => encode('numeric', { ...calls, feature: { ...calls.feature, meterType: 'None' }, ...changes })

const refusal = (act: () => unknown) => {
  try {
    act()
    return null
  } catch (error) {
    return Problem.from(error).details.path
  }
}

describe('messages of held entitlements', () => {
  beforeEach(forgetRights)

  it('have the limit, which is absent where there is none, or no end', () => {
    expect(numeric({ usageLimit: fromNumber(7) })).to.deep.include({ value: 7, is_unlimited: false })
    for (const none of [{ usageLimit: null }, { hasUnlimitedUsage: true }]) expect(numeric(none)).to.not.have.property('value')
    expect(numeric({ hasUnlimitedUsage: true })).to.include({ is_unlimited: true })
    expect(encode('metered', calls)).to.include({ usage_limit: 10, is_unlimited: false, has_soft_limit: false })
    expect(encode('metered', { ...calls, usageLimit: null })).to.not.have.property('usage_limit')
    expect(encode('metered', { ...calls, hasUnlimitedUsage: true }))
      .to.include({ is_unlimited: true })
      .and.not.have.property('usage_limit')
    expect(encode('metered', { ...calls, hasSoftLimit: true })).to.include({ usage_limit: 10, has_soft_limit: true })
  })

  it('keep a number that is too large for its field at the end of the field', () => {
    const limits: [string, number][] = [
      ['2147483647', 2_147_483_647],
      ['2147483648', 2_147_483_647],
      ['-2147483648', -2_147_483_648],
      ['-2147483649', -2_147_483_648],
      ['2.9', 2],
      ['-2.9', -2],
    ]
    for (const [limit, value] of limits) expect(numeric({ usageLimit: fromText(limit) }), limit).to.include({ value })
  })

  it('name the feature, its types and its units', () => {
    const feature = { id: 'calls', feature_type: 2, meter_type: 3, is_metered: true }
    expect(encode('metered', calls).feature).to.deep.equal(feature)
    const named = { ...calls.feature, units: 'call', unitsPlural: 'calls' }
    expect(encode('metered', { ...calls, feature: { ...named, meterType: 'Fluctuating' } }).feature).to.deep.equal({
      ...feature,
      meter_type: 2,
      units: 'call',
      units_plural: 'calls',
    })
    expect(numeric({}).feature).to.deep.equal({ ...feature, meter_type: 1, is_metered: false })
    const unmetered = { ...calls.feature, meterType: 'None' as const }
    expect(encode('boolean', { ...calls, feature: { ...unmetered, featureType: 'BOOLEAN' } }).feature).to.include({ feature_type: 1 })
    const values = { ...calls, enumValues: ['eu', 'us'], feature: { ...unmetered, featureType: 'ENUM' as const } }
    expect(encode('enum', values)).to.deep.equal({
      feature: { ...feature, feature_type: 3, meter_type: 1, is_metered: false },
      enum_values: ['eu', 'us'],
    })
  })

  it('have the usage, not below 0, and its period', () => {
    const usage = { currentUsage: fromNumber(2.5), periodStart: 1_000, periodEnd: 61_500, updatedAt: 9, anchor: 500 }
    expect(encode('metered', { ...calls, usage, resetPeriod: 'MONTH' })).to.deep.include({
      current_usage: 2.5,
      reset_period: 3,
      usage_period_anchor: { seconds: 0, nanos: 500_000_000 },
      usage_period_start: { seconds: 1, nanos: 0 },
      usage_period_end: { seconds: 61, nanos: 500_000_000 },
    })
    const noPeriod = encode('metered', { ...calls, usage: { ...usage, currentUsage: fromNumber(-1), periodStart: null, periodEnd: null } })
    expect(noPeriod).to.include({ current_usage: 0 })
    expect(noPeriod).to.not.have.any.keys('usage_period_start', 'usage_period_end', 'next_reset_date', 'reset_period')
    const numbers = (['DAY', 'HOUR', 'MONTH', 'WEEK', 'YEAR'] as const).map((resetPeriod) => encode('metered', { ...calls, resetPeriod }))
    expect(numbers.map(({ reset_period }) => reset_period)).to.deep.equal([1, 2, 3, 4, 5])
  })
})

describe('messages of fallbacks', () => {
  const fallback: Fallback = { hasAccess: true, usageLimit: 7.5, isUnlimited: false, enumValues: ['eu'] }

  it('say of each type what it has, and nothing of a feature', () => {
    expect(read('boolean', encodeFallback('boolean', fallback))).to.deep.equal({})
    expect(read('numeric', encodeFallback('numeric', fallback))).to.deep.equal({ value: 7, is_unlimited: false })
    expect(read('metered', encodeFallback('metered', fallback))).to.deep.include({ usage_limit: 7.5, is_unlimited: false })
    expect(read('enum', encodeFallback('enum', fallback))).to.deep.equal({ enum_values: ['eu'] })
    const unlimited = { ...fallback, usageLimit: null, isUnlimited: true }
    for (const type of ['numeric', 'metered'] as const) {
      const message = read(type, encodeFallback(type, unlimited))
      expect(message).to.include({ is_unlimited: true })
      expect(message).to.not.have.any.keys('value', 'usage_limit')
    }
  })

  it('are read with what is not said', () => {
    expect(fromFallback({ has_access: true })).to.deep.equal({ hasAccess: true, usageLimit: null, isUnlimited: false, enumValues: [] })
    expect(fromFallback({ has_access: false, usage_limit: 0, value: 3, is_unlimited: true, enum_values: ['eu'] })).to.deep.equal({
      hasAccess: false,
      usageLimit: 0,
      isUnlimited: true,
      enumValues: ['eu'],
    })
    expect(fromFallback({ has_access: true, value: 3 })).to.include({ usageLimit: 3 })
  })
})

describe('what requests say', () => {
  it('of freshness: from the cache unless the database is asked for, at the age that is given', () => {
    const owner = { customer_id: 'c' }
    expect(toFreshness(owner)).to.deep.equal({ isStrong: false })
    expect([0, 1, 2].map((consistency) => toFreshness({ ...owner, consistency }))).to.deep.equal([
      { isStrong: false },
      { isStrong: false },
      { isStrong: true },
    ])
    expect(toFreshness({ ...owner, consistency: 2, max_staleness_ms: 0 })).to.deep.equal({ isStrong: true, maxAgeMs: 0 })
    expect(refusal(() => toFreshness({ ...owner, consistency: 3 }))).to.equal('consistency')
    expect(refusal(() => toFreshness({ ...owner, max_staleness_ms: -1 }))).to.equal('max_staleness_ms')
  })

  it('of time, to the millisecond, within our calendar', () => {
    const time = (seconds: number, nanos = 0) => fromTimestamp({ seconds, nanos }, 'at')
    expect(fromTimestamp(undefined, 'at')).to.equal(null)
    expect(time(1, 999_999_999)).to.equal('1970-01-01T00:00:01.999Z')
    expect(time(-1, 500_000_000)).to.equal('1969-12-31T23:59:59.500Z')
    expect(time(253_402_300_799)).to.equal('9999-12-31T23:59:59.000Z')
    expect(time(-62_135_596_800)).to.equal('0001-01-01T00:00:00.000Z')
    for (const seconds of [253_402_300_800, -62_135_596_801, 1e15, Number.NaN])
      expect(
        refusal(() => time(seconds)),
        `${seconds}`,
      ).to.equal('at')
    expect([null, 0, 1_500, -1].map(toTimestamp)).to.deep.equal([
      undefined,
      { seconds: 0, nanos: 0 },
      { seconds: 1, nanos: 500_000_000 },
      { seconds: -1, nanos: 999_000_000 },
    ])
  })

  it('of dimensions: texts, finite numbers, truths, and nothing', () => {
    const sent = { a: { string_value: '' }, b: { number_value: 0 }, c: { boolean_value: false }, d: {} }
    expect(fromDimensions(sent, 'dimensions')).to.deep.equal({ a: '', b: 0, c: false, d: null })
    for (const number_value of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(refusal(() => fromDimensions({ a: sent.a, e: { number_value } }, 'dimensions'))).to.equal('dimensions.e')
  })

  it('of how usage is counted', () => {
    expect([undefined, 0, 1, 2].map(fromUpdateBehavior)).to.deep.equal([null, null, 'DELTA', 'SET'])
    expect(refusal(() => fromUpdateBehavior(3))).to.equal('update_behavior')
  })
})
