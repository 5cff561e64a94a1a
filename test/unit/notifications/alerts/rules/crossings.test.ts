import { expect } from 'chai'
import fc from 'fast-check'
import type { CustomerStandings, HolderStandings, Standing } from '../../../../../src/entitlement/rules/standing.js'
import * as decimal from '../../../../../src/kernel/decimal.js'
import { type Alert, isLeft, isReached, type Threshold } from '../../../../../src/notifications/alerts/rules/alert.js'
import { decideCrossings, type OpenCrossing } from '../../../../../src/notifications/alerts/rules/crossings.js'

const share = (value: number): Threshold => ({ kind: 'SHARE', value: decimal.fromNumber(value) })
const amount = (value: number): Threshold => ({ kind: 'AMOUNT', value: decimal.fromNumber(value) })
const text = (value: number | string) => decimal.fromText(String(value))
const measured = (usage: number | string, limit: number | string | null) => ({
  usage: text(usage),
  limit: limit === null ? null : text(limit),
})

describe('a threshold', () => {
  const cases: [Threshold, usage: number | string, limit: number | string | null, isReached: boolean][] = [
    [share(80), 79, 100, false],
    [share(80), '79.999999999', 100, false],
    [share(80), 80, 100, true],
    [share(100), 99, 100, false],
    [share(100), 100, 100, true],
    [share(150), 149, 100, false],
    [share(150), 150, 100, true],
    [share(33.33), 3333, 10_000, true],
    [share(33.33), '3332.999999999', 10_000, false],
    // More digits than a decimal keeps, if it were divided.
    [share(0.01), '0.000000001', '0.00001', true],
    [share(99.99), '9007199254740990', '9007199254740991', true],
    [share(100), '9007199254740990', '9007199254740991', false],
    [share(80), 0, 0, false],
    [share(80), 5, 0, false],
    [share(80), 1_000_000, null, false],
    [amount(10), 9, 5, false],
    [amount(10), 10, 5, true],
    [amount(10), 10, 0, true],
    [amount(10), 10, null, true],
    [amount(0.5), '0.499999999', null, false],
  ]
  for (const [threshold, usage, limit, expected] of cases)
    it(`of ${threshold.kind} ${threshold.value} is ${expected ? '' : 'not '}reached by ${usage} of ${limit ?? 'unlimited'}`, () =>
      expect(isReached(threshold, measured(usage, limit))).to.equal(expected))

  const left: [Threshold, hysteresis: number, usage: number | string, limit: number | null, isLeft: boolean][] = [
    [share(80), 0, 80, 100, false],
    [share(80), 0, '79.999999999', 100, true],
    [share(80), 10, 72, 100, false],
    [share(80), 10, '71.999999999', 100, true],
    [share(80), 99, 1, 100, false],
    [share(80), 99, '0.79', 100, true],
    [amount(10), 50, 5, null, false],
    [amount(10), 50, '4.9', null, true],
    // Of what is unlimited by now there are no shares.
    [share(80), 50, 90, null, true],
    [share(80), 50, 90, 0, true],
  ]
  for (const [threshold, hysteresis, usage, limit, expected] of left)
    it(`of ${threshold.kind} ${threshold.value} less ${hysteresis} % is ${expected ? '' : 'not '}left at ${usage} of ${limit ?? 'unlimited'}`, () =>
      expect(isLeft(threshold, measured(usage, limit), hysteresis)).to.equal(expected))
})

const alertOf = (more: Partial<Alert> = {}): Alert => ({
  id: 'alert',
  environmentId: 'environment',
  description: null,
  feature: { id: 'f-calls', refId: 'calls' },
  planId: null,
  customer: null,
  thresholds: [share(80), share(100)],
  hysteresisPercent: 0,
  createdAt: 0,
  updatedAt: 0,
  ...more,
})
const standingOf = (usage: number, limit: number | null, more: Partial<Standing> = {}): Standing => ({
  subject: { kind: 'FEATURE', id: 'f-calls', refId: 'calls' },
  ...measured(usage, limit),
  periodStart: 1,
  periodEnd: 2,
  ...more,
})
const holderOf = (standings: Standing[], more: Partial<HolderStandings> = {}): HolderStandings => ({
  resource: null,
  plans: ['free'],
  standings,
  entitlements: [],
  ...more,
})
const customerOf = (...holders: HolderStandings[]): CustomerStandings => ({
  customerId: 'c-acme',
  customerRefId: 'acme',
  isArchived: false,
  now: 1,
  holders,
})
/** What is recorded after a decision. */
function after(open: readonly OpenCrossing[], decision: ReturnType<typeof decideCrossings>, nextId: () => string): OpenCrossing[] {
  const ended = new Set(decision.ended.map(({ crossing }) => crossing.id))
  const reached = decision.reached.map(({ alert, threshold, holder, standing }) => ({
    id: nextId(),
    alertId: alert.id,
    resourceId: holder.resource?.id ?? null,
    subjectId: standing.subject.id,
    threshold,
    periodStart: standing.periodStart,
  }))
  return [...open.filter(({ id }) => !ended.has(id)), ...reached]
}
const counter = () => {
  let count = 0
  return () => `crossing-${++count}`
}

describe('what a look at a customer comes to', () => {
  const decide = (customer: CustomerStandings, open: OpenCrossing[] = [], alerts: Alert[] = [alertOf()]) => {
    const decision = decideCrossings({ customer, alerts, open })
    return {
      reached: decision.reached.map(({ alert, threshold, holder }) => `${alert.id} ${holder.resource?.refId ?? '-'} ${threshold.value}`),
      ended: decision.ended.map(({ crossing, reason }) => `${crossing.threshold.value} ${reason}`),
    }
  }
  const openOf = (value: number, more: Partial<OpenCrossing> = {}): OpenCrossing => ({
    id: `open-${value}`,
    alertId: 'alert',
    resourceId: null,
    subjectId: 'f-calls',
    threshold: share(value),
    periodStart: 1,
    ...more,
  })
  const none = { reached: [], ended: [] }

  it('is each threshold that is reached and was not known to be', () => {
    expect(decide(customerOf(holderOf([standingOf(79, 100)])))).to.deep.equal(none)
    expect(decide(customerOf(holderOf([standingOf(80, 100)])))).to.deep.equal({ reached: ['alert - 80'], ended: [] })
    expect(decide(customerOf(holderOf([standingOf(120, 100)])))).to.deep.equal({ reached: ['alert - 80', 'alert - 100'], ended: [] })
    expect(decide(customerOf(holderOf([standingOf(120, 100)])), [openOf(80)])).to.deep.equal({ reached: ['alert - 100'], ended: [] })
    expect(decide(customerOf(holderOf([standingOf(120, 100)])), [openOf(80), openOf(100)])).to.deep.equal(none)
  })

  it('is that a threshold was left, by less usage or a higher limit', () => {
    expect(decide(customerOf(holderOf([standingOf(70, 100)])), [openOf(80)])).to.deep.equal({ reached: [], ended: ['80 BACK_UNDER'] })
    expect(decide(customerOf(holderOf([standingOf(90, 1_000)])), [openOf(80)])).to.deep.equal({ reached: [], ended: ['80 BACK_UNDER'] })
    expect(decide(customerOf(holderOf([standingOf(90, null)])), [openOf(80)])).to.deep.equal({ reached: [], ended: ['80 BACK_UNDER'] })
  })

  it('is, in another period, a reset, and a crossing of its own when so much is used already', () => {
    expect(decide(customerOf(holderOf([standingOf(0, 100, { periodStart: 2 })])), [openOf(80)])).to.deep.equal({
      reached: [],
      ended: ['80 RESET'],
    })
    expect(decide(customerOf(holderOf([standingOf(85, 100, { periodStart: 2 })])), [openOf(80)])).to.deep.equal({
      reached: ['alert - 80'],
      ended: ['80 RESET'],
    })
  })

  it('ends what is not held any more, by anybody whom the alert is for, or whose threshold is gone', () => {
    const ended = { reached: [], ended: ['80 NOT_HELD'] }
    expect(decide(customerOf(holderOf([])), [openOf(80)])).to.deep.equal(ended)
    expect(decide(customerOf(), [openOf(80)])).to.deep.equal(ended)
    expect(decide(customerOf(holderOf([standingOf(85, 100)])), [openOf(80)], [alertOf({ thresholds: [share(90)] })])).to.deep.equal(ended)
    expect(decide(customerOf(holderOf([standingOf(85, 100)])), [openOf(80)], [])).to.deep.equal(ended)
    expect(decide(customerOf(holderOf([standingOf(85, 100)], { plans: [] })), [openOf(80)], [alertOf({ planId: 'free' })])).to.deep.equal(
      ended,
    )
  })

  it('is of whom and what the alert is for', () => {
    const used = customerOf(holderOf([standingOf(85, 100)]))
    expect(decide(used, [], [alertOf({ planId: 'free' })]).reached).to.have.lengthOf(1)
    expect(decide(used, [], [alertOf({ planId: 'team' })])).to.deep.equal(none)
    expect(decide(used, [], [alertOf({ customer: { id: 'c-acme', refId: 'acme' } })]).reached).to.have.lengthOf(1)
    expect(decide(used, [], [alertOf({ customer: { id: 'c-other', refId: 'other' } })])).to.deep.equal(none)
    expect(decide(used, [], [alertOf({ feature: { id: 'f-seats', refId: 'seats' } })])).to.deep.equal(none)
    expect(decide(used, [], [alertOf({ feature: null })])).to.deep.equal(none)
    const spent = customerOf(holderOf([standingOf(45, 50, { subject: { kind: 'BUDGET', id: 's-1', refId: 'sub' } })]))
    expect(decide(spent, [], [alertOf({ feature: null })]).reached).to.deep.equal(['alert - 80'])
    expect(decide(spent)).to.deep.equal(none)
    const callsBudget = customerOf(holderOf([standingOf(45, 50, { subject: { kind: 'BUDGET', id: 'f-calls', refId: 'calls' } })]))
    expect(decide(callsBudget), 'a feature is no budget').to.deep.equal(none)
  })

  it('is of a customer and of each of its resources by itself', () => {
    const rooms = ['r-1', 'r-2'].map((id) => holderOf([standingOf(id === 'r-1' ? 85 : 10, 100)], { resource: { id, refId: id } }))
    expect(decide(customerOf(holderOf([standingOf(95, 100)]), ...rooms), [openOf(80)]).reached).to.deep.equal(['alert r-1 80'])
    const used = ['r-2', 'r-1'].map((id) => holderOf([standingOf(85, 100)], { resource: { id, refId: id } }))
    expect(decide(customerOf(holderOf([standingOf(95, 100)]), ...used), [openOf(80, { resourceId: 'r-1' })])).to.deep.equal({
      reached: ['alert - 80', 'alert r-2 80'],
      ended: [],
    })
  })
})

describe('looks at a customer whose usage, limit and period change as they like', () => {
  const step = fc.record({
    usage: fc.integer({ min: 0, max: 15 }),
    limit: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 12 })),
    newPeriod: fc.boolean(),
  })
  const alert = fc.record({
    thresholds: fc.uniqueArray(fc.constantFrom(share(50), share(80), share(100), amount(3), amount(10)), { minLength: 1 }),
    hysteresisPercent: fc.constantFrom(0, 10, 50, 99),
  })

  it('tell of a crossing when, and only when, a threshold that was left is reached; and telling it again tells nothing', () => {
    fc.assert(
      fc.property(alert, fc.array(step, { maxLength: 30 }), (settings, steps) => {
        const watched = alertOf(settings)
        const nextId = counter()
        let open: OpenCrossing[] = []
        let period = 0
        for (const { usage, limit, newPeriod } of steps) {
          if (newPeriod) period += 1
          const standing = standingOf(usage, limit, { periodStart: period, periodEnd: period + 1 })
          const customer = customerOf(holderOf([standing]))
          const before = open
          const decision = decideCrossings({ customer, alerts: [watched], open })
          open = after(open, decision, nextId)
          for (const threshold of watched.thresholds) {
            const isOf = (one: OpenCrossing) => one.threshold === threshold
            const was = before.find((one) => isOf(one) && one.periodStart === period)
            const is = open.filter(isOf)
            expect(is.length).to.be.at.most(1)
            if (isReached(threshold, standing)) expect(is).to.have.lengthOf(1)
            else if (!was) expect(is).to.have.lengthOf(0)
            else expect(is.length === 0).to.equal(isLeft(threshold, standing, watched.hysteresisPercent))
            if (was && is[0]) expect(is[0].id, 'it is the crossing that it was').to.equal(was.id)
            if (is[0]) expect(is[0].periodStart).to.equal(period)
          }
          const again = decideCrossings({ customer, alerts: [watched], open })
          expect(again).to.deep.equal({ reached: [], ended: [] })
        }
      }),
    )
  })
})
