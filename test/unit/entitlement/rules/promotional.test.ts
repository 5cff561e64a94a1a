import { expect } from 'chai'
import {
  decideGrant,
  type GrantableFeature,
  type PromotionalGrant,
  type PromotionalPeriod,
  promotionalEnd,
  promotionalNotFound,
  promotionalStatusAt,
} from '../../../../src/entitlement/rules/promotional.js'
import { Problem } from '../../../../src/kernel/problem.js'

const at = (text: string) => Date.parse(text)
const refusalOf = (work: () => unknown): [string, unknown] | null => {
  try {
    work()
    return null
  } catch (error) {
    const { reason, details } = Problem.from(error)
    return [reason, details.path]
  }
}

describe('the end of a promotional entitlement', () => {
  const end = (period: PromotionalPeriod, start: string, timeZone = 'UTC', customEndDate: number | null = null) => {
    const endDate = promotionalEnd({ period, customEndDate, startDate: at(start), timeZone })
    return endDate === null ? null : new Date(endDate).toISOString()
  }
  const cases: [string, PromotionalPeriod, string, string, string | null][] = [
    ['a week later', 'ONE_WEEK', '2026-01-29T10:00:00Z', 'UTC', '2026-02-05T10:00:00.000Z'],
    ['a month later', 'ONE_MONTH', '2026-01-15T10:00:00.123Z', 'UTC', '2026-02-15T10:00:00.123Z'],
    ['on the last day of a shorter month', 'ONE_MONTH', '2026-01-31T10:00:00Z', 'UTC', '2026-02-28T10:00:00.000Z'],
    ['half a year later', 'SIX_MONTH', '2026-08-31T00:00:00Z', 'UTC', '2027-02-28T00:00:00.000Z'],
    ['a year later, also from a leap day', 'ONE_YEAR', '2028-02-29T12:00:00Z', 'UTC', '2029-02-28T12:00:00.000Z'],
    ['never', 'LIFETIME', '2026-01-15T10:00:00Z', 'UTC', null],
    // Clocks in Berlin go forward on March 29: the week is an hour shorter.
    ['at the same local time across a change of clocks', 'ONE_WEEK', '2026-03-25T11:00:00Z', 'Europe/Berlin', '2026-04-01T10:00:00.000Z'],
    // It is February 1 in Tokyo already.
    ['by the calendar of the zone', 'ONE_MONTH', '2026-01-31T20:00:00Z', 'Asia/Tokyo', '2026-02-28T20:00:00.000Z'],
  ]
  for (const [title, period, start, timeZone, expected] of cases)
    it(`is ${title}`, () => expect(end(period, start, timeZone)).to.equal(expected))

  it('is the date that is given with CUSTOM, and only there', () => {
    const start = '2026-01-15T10:00:00Z'
    expect(end('CUSTOM', start, 'UTC', at('2026-01-15T10:00:00.001Z'))).to.equal('2026-01-15T10:00:00.001Z')
    expect(promotionalEnd({ period: 'ONE_WEEK', startDate: at(start), timeZone: 'UTC' })).to.equal(at('2026-01-22T10:00:00Z'))
    expect(refusalOf(() => end('CUSTOM', start))).to.deep.equal(['BAD_USER_INPUT', 'customEndDate'])
    expect(refusalOf(() => end('CUSTOM', start, 'UTC', at(start)))).to.deep.equal(['BAD_USER_INPUT', 'customEndDate'])
    expect(refusalOf(() => end('ONE_WEEK', start, 'UTC', at('2027-01-01T00:00:00Z')))).to.deep.equal(['BAD_USER_INPUT', 'customEndDate'])
  })
})

describe('the status of a promotional entitlement', () => {
  it('is Active until its end, exclusive', () => {
    const endDate = at('2026-02-01T00:00:00Z')
    expect(promotionalStatusAt({ endDate, revokedAt: null }, endDate - 1)).to.equal('Active')
    expect(promotionalStatusAt({ endDate, revokedAt: null }, endDate)).to.equal('Expired')
  })
  it('is Active for life', () => expect(promotionalStatusAt({ endDate: null, revokedAt: null }, 9e15)).to.equal('Active'))
  it('is Expired once revoked', () => expect(promotionalStatusAt({ endDate: null, revokedAt: 1 }, 1)).to.equal('Expired'))
})

describe('a promotional grant', () => {
  const feature = (facts: Partial<GrantableFeature>): GrantableFeature => ({
    id: 'f',
    refId: 'calls',
    displayName: 'Calls',
    description: null,
    featureType: 'NUMBER',
    meterType: 'Incremental',
    units: null,
    unitsPlural: null,
    unitTransformation: null,
    enumValues: [],
    isArchived: false,
    ...facts,
  })
  const calls = feature({})
  const seats = feature({ meterType: 'Fluctuating' })
  const projects = feature({ meterType: 'None' })
  const sso = feature({ featureType: 'BOOLEAN', meterType: 'None' })
  const regions = feature({ featureType: 'ENUM', meterType: 'None', enumValues: ['eu', 'us', 'asia'] })
  const decide = (to: GrantableFeature | null, grant: Partial<PromotionalGrant>) =>
    decideGrant({ featureRefId: 'calls', period: 'LIFETIME', ...grant }, to, null)
  const nothing = { usageLimit: null, hasUnlimitedUsage: false, hasSoftLimit: false, enumValues: [], resetPeriod: null, resetRule: null }

  const granted: [string, GrantableFeature, Partial<PromotionalGrant>, object][] = [
    ['a BOOLEAN', sso, {}, {}],
    ['a limit', calls, { usageLimit: 0.5 }, { usageLimit: '0.5' }],
    ['a limit of nothing', calls, { usageLimit: 0 }, { usageLimit: '0' }],
    ['a soft limit', calls, { usageLimit: 10, hasSoftLimit: true }, { usageLimit: '10', hasSoftLimit: true }],
    ['usage without a limit', calls, { hasUnlimitedUsage: true }, { hasUnlimitedUsage: true }],
    ['the largest exact limit', seats, { usageLimit: 2 ** 53 - 1 }, { usageLimit: '9007199254740991' }],
    ['a value', projects, { usageLimit: 2 ** 31 - 1 }, { usageLimit: '2147483647' }],
    ['some values, each once', regions, { enumValues: ['us', 'eu', 'us'] }, { enumValues: ['us', 'eu'] }],
    [
      'a reset, by default from the start',
      calls,
      { usageLimit: 1, resetPeriod: 'DAY' },
      { usageLimit: '1', resetPeriod: 'DAY', resetRule: 'SubscriptionStart' },
    ],
    [
      'a reset by the calendar',
      calls,
      { usageLimit: 1, resetPeriod: 'WEEK', resetRules: { WEEK: 'EverySunday', MONTH: null } },
      { usageLimit: '1', resetPeriod: 'WEEK', resetRule: 'EverySunday' },
    ],
  ]
  for (const [title, to, grant, expected] of granted)
    it(`gives ${title}`, () => expect(decide(to, grant)).to.deep.equal({ ...nothing, ...expected }))

  const refused: [string, GrantableFeature, Partial<PromotionalGrant>, keyof PromotionalGrant][] = [
    ['a NUMBER without a limit', calls, {}, 'usageLimit'],
    ['a limit and none', calls, { usageLimit: 1, hasUnlimitedUsage: true }, 'usageLimit'],
    ['a negative limit', calls, { usageLimit: -1 }, 'usageLimit'],
    ['a limit that is not a number', calls, { usageLimit: Number.NaN }, 'usageLimit'],
    ['a limit that a double cannot hold', calls, { usageLimit: 2 ** 53 }, 'usageLimit'],
    ['a limit finer than usage is counted', calls, { usageLimit: 1e-10 }, 'usageLimit'],
    ['a soft limit on what is unlimited', calls, { hasUnlimitedUsage: true, hasSoftLimit: true }, 'hasSoftLimit'],
    ['a soft limit on what has no meter', projects, { usageLimit: 1, hasSoftLimit: true }, 'hasSoftLimit'],
    ['a broken value', projects, { usageLimit: 1.5 }, 'usageLimit'],
    ['a value beyond int32', projects, { usageLimit: 2 ** 31 }, 'usageLimit'],
    ['a limit of a BOOLEAN', sso, { usageLimit: 1 }, 'usageLimit'],
    ['a soft limit of a BOOLEAN', sso, { hasSoftLimit: true }, 'hasSoftLimit'],
    ['an unlimited ENUM', regions, { hasUnlimitedUsage: true, enumValues: ['eu'] }, 'hasUnlimitedUsage'],
    ['an ENUM without values', regions, {}, 'enumValues'],
    ['a value that the ENUM does not have', regions, { enumValues: ['eu', 'moon'] }, 'enumValues'],
    ['values of a NUMBER', calls, { usageLimit: 1, enumValues: ['eu'] }, 'enumValues'],
    ['a reset of seats', seats, { usageLimit: 1, resetPeriod: 'MONTH' }, 'resetPeriod'],
    ['a reset of what has no meter', projects, { usageLimit: 1, resetPeriod: 'MONTH' }, 'resetPeriod'],
    [
      'the configuration of another reset',
      calls,
      { usageLimit: 1, resetPeriod: 'DAY', resetRules: { WEEK: 'EverySunday' } },
      'resetPeriod',
    ],
    ['the configuration of a reset that is not asked for', calls, { usageLimit: 1, resetRules: { WEEK: 'EverySunday' } }, 'resetPeriod'],
  ]
  for (const [title, to, grant, path] of refused)
    it(`refuses ${title}`, () => expect(refusalOf(() => decide(to, grant))).to.deep.equal(['BAD_USER_INPUT', path]))

  it('refuses a feature that is not in the catalog, or not any more', () => {
    expect(refusalOf(() => decide(null, { usageLimit: 1 }))?.[0]).to.equal('FEATURE_NOT_FOUND')
    expect(refusalOf(() => decide({ ...calls, isArchived: true }, { usageLimit: 1 }))?.[0]).to.equal('FEATURE_NOT_FOUND')
  })

  it('that is not there is named with its customer', () => {
    expect(promotionalNotFound('acme', 'calls')).to.deep.include({
      code: 'NOT_FOUND',
      reason: 'PROMOTIONAL_ENTITLEMENT_NOT_FOUND',
      details: { customerId: 'acme', featureId: 'calls' },
    })
  })
})
