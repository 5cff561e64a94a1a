import { expect } from 'chai'
import type { HolderStandings, Standing } from '../../../../../src/entitlement/rules/standing.js'
import * as decimal from '../../../../../src/kernel/decimal.js'
import type { Alert, Threshold } from '../../../../../src/notifications/alerts/rules/alert.js'
import type { EndReason } from '../../../../../src/notifications/alerts/rules/crossings.js'
import { endedEvents, reachedEvent, toAlertMessage } from '../../../../../src/notifications/alerts/rules/events.js'

const threshold = (kind: Threshold['kind'], value: number): Threshold => ({ kind, value: decimal.fromNumber(value) })
const share = threshold('SHARE', 80)
const all = threshold('SHARE', 100)

const alert: Alert = {
  id: 'alert',
  environmentId: 'e',
  description: null,
  feature: null,
  planId: null,
  customer: null,
  thresholds: [share, all],
  hysteresisPercent: 0,
  createdAt: 0,
  updatedAt: 0,
}
const customer: HolderStandings = { resource: null, plans: [], standings: [], entitlements: [] }
const room: HolderStandings = { ...customer, resource: { id: 'r-room', refId: 'room' } }
const usage: Standing = {
  subject: { kind: 'FEATURE', id: 'f-calls', refId: 'calls' },
  usage: decimal.fromNumber(85),
  limit: decimal.fromNumber(100),
  periodStart: 0,
  periodEnd: 86_400_000,
}
const budget: Standing = { ...usage, subject: { kind: 'BUDGET', id: 's-1', refId: 'subscription' } }

const of = { customerId: 'c-acme', customerRefId: 'acme' }
const reach = (standing: Standing, reached: Threshold, holder = customer) =>
  reachedEvent(of, { id: 'crossing', alert, threshold: reached, holder, standing })
const end = (standing: Standing, reason: EndReason) => {
  const open = { id: 'crossing', alertId: 'alert', resourceId: null, subjectId: standing.subject.id, threshold: share, periodStart: 0 }
  return endedEvents(of, { crossing: open, reason, at: { alert, holder: customer, standing } })
}

const common = {
  alertId: 'alert',
  crossingId: 'crossing',
  customerId: 'acme',
  resourceId: null,
  threshold: { kind: 'SHARE', value: '80' },
  periodStart: '1970-01-01T00:00:00.000Z',
  periodEnd: '1970-01-02T00:00:00.000Z',
}
const usageData = { ...common, featureId: 'calls', currentUsage: '85', usageLimit: '100' }
const budgetData = { ...common, subscriptionId: 'subscription', spent: '85', budget: '100' }

describe('the event of a crossing', () => {
  it('says who has reached what, in the identifiers of the host application, and has the id of the crossing', () => {
    expect(reach(usage, share)).to.deep.equal({ type: 'usage.threshold_reached', customerId: 'c-acme', id: 'crossing', data: usageData })
    expect(reach(budget, share)).to.deep.equal({ type: 'budget.threshold_reached', customerId: 'c-acme', id: 'crossing', data: budgetData })
    expect(reach(usage, share, room).data).to.deep.equal({ ...usageData, resourceId: 'room' })
  })

  const types: [Standing, Threshold, type: string][] = [
    [usage, threshold('SHARE', 99.99), 'usage.threshold_reached'],
    [usage, all, 'usage.limit_reached'],
    [usage, threshold('AMOUNT', 100), 'usage.threshold_reached'],
    [budget, threshold('SHARE', 99.99), 'budget.threshold_reached'],
    [budget, all, 'budget.exceeded'],
    [budget, threshold('AMOUNT', 100), 'budget.threshold_reached'],
  ]
  for (const [standing, reached, type] of types)
    it(`is ${type} at ${reached.kind} ${reached.value} of a ${standing.subject.kind}`, () =>
      expect(reach(standing, reached).type).to.equal(type))

  it('says null of what has no limit and no period', () => {
    const unlimited: Standing = { ...usage, limit: null, periodStart: null, periodEnd: null }
    expect(reach(unlimited, share).data).to.deep.equal({ ...usageData, usageLimit: null, periodStart: null, periodEnd: null })
  })
})

describe('the event of a crossing that is over', () => {
  const types: [Standing, EndReason, type: string, data: object][] = [
    [usage, 'BACK_UNDER', 'usage.back_under', usageData],
    [usage, 'RESET', 'usage.reset', usageData],
    [budget, 'BACK_UNDER', 'budget.back_under', budgetData],
    [budget, 'RESET', 'budget.reset', budgetData],
  ]
  for (const [standing, reason, type, data] of types)
    it(`is ${type}, and has an id of its own`, () => expect(end(standing, reason)).to.deep.equal([{ customerId: 'c-acme', type, data }]))

  it('is none when it is not held any more', () => {
    const open = { id: 'crossing', alertId: 'alert', resourceId: null, subjectId: 'f-calls', threshold: share, periodStart: 0 }
    expect(endedEvents(of, { crossing: open, reason: 'NOT_HELD', at: null })).to.deep.equal([])
  })
})

describe('the message of a crossing to who listens', () => {
  const message = (standing: Standing, holder: HolderStandings) =>
    toAlertMessage('e', { ...of, now: 7 }, { id: 'crossing', alert, threshold: share, holder, standing })
  const crossing = {
    id: 'crossing',
    alertId: 'alert',
    customerId: 'acme',
    resourceId: null,
    featureId: 'calls',
    subscriptionId: null,
    threshold: share,
    usage: '85',
    limit: '100',
    periodStart: 0,
    periodEnd: 86_400_000,
    reachedAt: 7,
  }

  it('says the same, of a feature or of the subscription whose budget it is', () => {
    const told = { v: 1, kind: 'alert', environmentId: 'e', customerId: 'acme' }
    expect(message(usage, customer)).to.deep.equal({ ...told, crossing })
    expect(message(budget, room)).to.deep.equal({
      ...told,
      crossing: { ...crossing, resourceId: 'room', featureId: null, subscriptionId: 'subscription' },
    })
  })
})
