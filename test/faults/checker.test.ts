import { expect } from 'chai'
import { type Facts, findFaults, type Promised, plansWithin } from './checker.js'
import type { Ledger } from './load/ledger.js'
import { check, rightCase } from './right-case.js'

const promised: Promised = { stalenessMs: 20_000, isFull: false }

type Change = (ledger: Ledger, facts: { -readonly [Name in keyof Facts]: Facts[Name] }) => void

/** What is wrong, what makes it so, and what is found of it. */
const cases: readonly [title: string, change: Change, kind: string, count: number, what: RegExp][] = [
  ['a report that is not stored', (_, f) => drop(f, 'm-a', 2), 'lost', 1, /not stored/],
  [
    'a report that is stored under two ids',
    (l, f) => all(l.reports[0]!.measurementIds.add('m-z'), add(f, 'm-z', 2)),
    'doubled',
    1,
    /twice/,
  ],
  ['a stored measurement that no answer named', (_, f) => add(f, 'm-z', 2), 'doubled', 1, /refused/],
  ['a report that was refused and is stored', (l, f) => all(refuse(l), add(f, 'm-r', 2)), 'doubled', 1, /refused/],
  ['a report that stays unknown', (l) => void l.report('u', 'counted', 2), 'wrong', 1, /unknown/],
  ['an event that is not counted', (_, f) => setUsage(f, 'evented', 2), 'lost', 1, /events/],
  [
    'all events of a customer that are not counted',
    (_, f) => (f.usages = f.usages.filter(({ customer }) => customer !== 'evented')),
    'lost',
    3,
    /events/,
  ],
  ['two events that are counted twice', (_, f) => setUsage(f, 'evented', 5), 'doubled', 2, /events/],
  [
    'an event that was refused and is counted',
    (l, f) => all(Object.assign(l.event('h', 'evented', null), { fate: 'refused' }), setUsage(f, 'evented', 4)),
    'doubled',
    1,
    /events/,
  ],
  ['an event that stays unknown', (l) => void l.event('h', 'evented', 7), 'wrong', 1, /unknown/],
  ['a counter below what is stored', (_, f) => setUsage(f, 'limited', 0), 'wrong', 1, /usage of limited is 0, and 1/],
  ['a counter above what is stored', (_, f) => setUsage(f, 'counted', 4.5), 'wrong', 1, /usage of counted is 4.5/],
  [
    'a check granted beyond the limit',
    (l) => fill(l, 24) && l.checks.push(check('limited', { usage: 25, limit: 25 })),
    'wrong',
    1,
    /granted beyond/,
  ],
  [
    'a check denied below the limit',
    (l) => l.checks.push(check('limited', { usage: 1, limit: 25, isGranted: false })),
    'wrong',
    1,
    /denied below/,
  ],
  [
    'a check of a plan change denied below the limit',
    (l) => l.checks.push(check('changing', { limit: 2_000_000, isGranted: false })),
    'wrong',
    1,
    /denied below/,
  ],
  [
    'a check of GraphQL that does not know what was answered before',
    (l) => l.checks.push(check('counted', { usage: 2, limit: 1_000_000 })),
    'wrong',
    1,
    /graphql.*staler/,
  ],
  [
    'a check of a sidecar that is staler than promised',
    (l) => l.checks.push(check('counted', { door: 'sidecar', usage: 2, limit: 1_000_000 })),
    'wrong',
    1,
    /sidecar.*staler/,
  ],
  [
    'a check that counts what nobody has reported',
    (l) => l.checks.push(check('counted', { usage: 4, limit: 1_000_000 })),
    'wrong',
    1,
    /nobody has reported/,
  ],
  [
    'a check that counts what was refused',
    (l) => all(refuse(l), l.checks.push(check('counted', { usage: 5.5, limit: 1_000_000 }))),
    'wrong',
    1,
    /nobody has reported/,
  ],
  ['a check by a plan that is no more', (l) => l.checks.push(check('changing', { limit: 1_000_000 })), 'wrong', 1, /limit that was not so/],
  [
    'a check by a trial that has ended',
    (l) => l.checks.push(check('trial', { door: 'sidecar', askedAt: 5_600, answeredAt: 5_610, limit: 2_000_000 })),
    'wrong',
    1,
    /limit that was not so/,
  ],
  [
    'a check by the plan after a trial before its end',
    (l) => l.checks.push(check('trial', { askedAt: 3_000, answeredAt: 3_010, limit: 5 })),
    'wrong',
    1,
    /limit that was not so/,
  ],
  ['a trial whose end is not recorded', (_, f) => patch(f, 'trial', 'pro', { status: 'IN_TRIAL' }), 'wrong', 1, /subscriptions of trial/],
  ['a trial that ended at another time', (_, f) => patch(f, 'trial', 'pro', { endedAt: 6_000 }), 'wrong', 1, /subscriptions of trial/],
  [
    'a trial that was followed by nothing',
    (_, f) => (f.subscriptions = f.subscriptions.filter(({ plan }) => plan !== 'free')),
    'wrong',
    1,
    /subscriptions of trial/,
  ],
  [
    'a trial that was followed twice',
    (_, f) => (f.subscriptions = [...f.subscriptions, { customer: 'trial', plan: 'free', status: 'ACTIVE', endedAt: null }]),
    'wrong',
    1,
    /subscriptions of trial/,
  ],
  [
    'a trial that did not convert',
    (_, f) => patch(f, 'converting', 'pro', { status: 'IN_TRIAL' }),
    'wrong',
    1,
    /subscriptions of converting/,
  ],
  [
    'a plan change that is gone',
    (_, f) =>
      (f.subscriptions = f.subscriptions.map((one) =>
        one.plan === 'basic' ? { ...one, status: 'ACTIVE' } : one.customer === 'changing' ? { ...one, status: 'CANCELED' } : one,
      )),
    'wrong',
    1,
    /subscriptions of changing/,
  ],
  [
    'a plan change that left two plans',
    (_, f) => patch(f, 'changing', 'basic', { status: 'ACTIVE' }),
    'wrong',
    1,
    /subscriptions of changing/,
  ],
  ['an invoice that is there twice', (_, f) => (f.doubledInvoices = ['counted BILLING_CYCLE']), 'wrong', 1, /invoice doubled/],
  [
    'a period that is invoiced twice',
    (_, f) => (f.invoices = [{ customer: 'converting', count: 2 }]),
    'wrong',
    1,
    /2 invoices of converting/,
  ],
  ['a period that is not invoiced', (_, f) => (f.invoices = []), 'wrong', 1, /0 invoices of converting/],
  ['a web process that holds old usage', (_, f) => see(f, 0, { usage: 2 }), 'wrong', 1, /web-1 holds/],
  ['a sidecar that holds usage of events twice', (_, f) => see(f, 1, { usage: 6 }), 'wrong', 1, /sidecar-1 holds/],
  ['a sidecar that holds an old plan', (_, f) => see(f, 2, { limit: 1_000_000 }), 'wrong', 1, /sidecar-1 holds/],
  ['an external cache that holds an ended trial', (_, f) => see(f, 3, { limit: 2_000_000 }), 'wrong', 1, /external cache holds/],
  ['a door that never answers', (_, f) => see(f, 0, { usage: Number.NaN, limit: null }), 'wrong', 1, /web-1 holds/],
  [
    'a process that needed a hand',
    (_, f) => (f.needed = ['web-2 needed a hand', '3 pending_batch']),
    'wrong',
    2,
    /needed a hand|pending_batch/,
  ],
  [
    'memory that is not given back',
    (_, f) => (f.memory = [{ process: 'web-1', beforeMb: 100, mostMb: 134, afterMb: 135 }]),
    'wrong',
    1,
    /memory of web-1/,
  ],
  ['a quiet tenant that is refused', (l) => (l.quiet.refused = 4), 'wrong', 4, /quiet tenant/],
]

describe('the checker of faults', () => {
  it('finds nothing where everything is right', () => {
    const { ledger, facts } = rightCase()
    expect(findFaults(ledger, facts, promised)).to.deep.equal([])
  })

  for (const [title, change, kind, count, what] of cases)
    it(`finds ${title}`, () => {
      const { ledger, facts } = rightCase()
      change(ledger, facts)
      const findings = findFaults(ledger, facts, promised).filter((finding) => finding.kind === kind && what.test(finding.what))
      expect(findings.reduce((sum, finding) => sum + finding.count, 0)).to.equal(count)
    })

  it('lets what is unknown be stored once or not at all', () => {
    for (const isStored of [true, false]) {
      const { ledger, facts } = rightCase()
      ledger.report('u', 'counted', 1)
      if (isStored) {
        add(facts, 'm-u', 1)
        setUsage(facts, 'counted', 4.5)
        see(facts, 0, { usage: 4.5 })
      }
      expect(findFaults(ledger, facts, promised).map(({ kind }) => kind)).to.deep.equal(['wrong'])
    }
  })

  it('lets a sidecar be as stale as promised, and a check that is under way be either', () => {
    const { ledger, facts } = rightCase()
    ledger.checks.push(
      check('counted', { door: 'sidecar', askedAt: 21_000, answeredAt: 21_001, usage: 0, limit: 1_000_000 }),
      check('counted', { askedAt: 1_050, answeredAt: 1_060, usage: 0, limit: 1_000_000 }),
      check('counted', { askedAt: 1_050, answeredAt: 1_060, usage: 3.5, limit: 1_000_000 }),
      check('changing', { askedAt: 2_050, answeredAt: 2_060, limit: 1_000_000 }),
      check('changing', { askedAt: 2_050, answeredAt: 2_060, limit: 2_000_000 }),
      check('trial', { askedAt: 4_990, answeredAt: 4_995, limit: 5 }),
      check('trial', { askedAt: 5_510, answeredAt: 5_515, limit: 2_000_000 }),
    )
    expect(findFaults(ledger, facts, promised)).to.deep.equal([])
  })

  it('lets everybody be refused by a fault that fills the platform up', () => {
    const { ledger, facts } = rightCase()
    ledger.quiet.refused = 9
    expect(findFaults(ledger, facts, { ...promised, isFull: true })).to.deep.equal([])
  })
})

describe('plans that may be answered', () => {
  const steps = [
    { plan: 'a', begunAt: 0, doneAt: 10 },
    { plan: 'b', begunAt: 100, doneAt: 120 },
    { plan: 'c', begunAt: 200, doneAt: null },
  ]
  it('are those that somebody may see then', () => {
    expect(plansWithin(steps, 50, 60, 0)).to.deep.equal(['a'])
    expect(plansWithin(steps, 110, 111, 0)).to.deep.equal(['a', 'b'])
    expect(plansWithin(steps, 130, 131, 0)).to.deep.equal(['b'])
    expect(plansWithin(steps, 130, 131, 20)).to.deep.equal(['a', 'b'])
    // A change that nobody has answered may have come about or not.
    expect(plansWithin(steps, 900, 901, 0)).to.deep.equal(['b', 'c'])
  })
})

type Changed = Parameters<Change>[1]

/** In their order. */
const all = (..._: unknown[]): void => undefined
const refuse = (ledger: Ledger) => Object.assign(ledger.report('r', 'counted', 2), { fate: 'refused' })
function add(facts: Changed, id: string, value: number) {
  facts.measurements = [...facts.measurements, { customer: 'counted', id, value }]
}
function drop(facts: Changed, id: string, value: number) {
  facts.measurements = facts.measurements.filter((one) => one.id !== id)
  setUsage(facts, 'counted', 3.5 - value)
}
function setUsage(facts: Changed, customer: string, usage: number) {
  facts.usages = facts.usages.map((one) => (one.customer === customer ? { ...one, usage } : one))
}
function patch(facts: Changed, customer: string, plan: string, more: Partial<Facts['subscriptions'][number]>) {
  facts.subscriptions = facts.subscriptions.map((one) => (one.customer === customer && one.plan === plan ? { ...one, ...more } : one))
}
function see(facts: Changed, index: number, more: Partial<Facts['seen'][number]>) {
  facts.seen = facts.seen.map((one, at) => (at === index ? { ...one, ...more } : one))
}
/** So many more reports of the limited customer. */
function fill(ledger: Ledger, count: number): true {
  for (let index = 0; index < count; index++)
    Object.assign(ledger.report(`l-${index}`, 'limited', 1), { fate: 'acknowledged', sentAt: 1_000, acknowledgedAt: 1_100 })
  return true
}
