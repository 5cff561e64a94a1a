import { expect } from 'chai'
import { heard, rightCase } from './right-case.js'
import { findUntold, type HeardEvent, type RecordedEvent } from './told.js'

type Changed = { recorded: RecordedEvent[]; heard: HeardEvent[] }
type Case = ReturnType<typeof rightCase>

/** What is wrong, what makes it so, and what is found of it. */
const cases: readonly [title: string, change: (told: Changed, of: Case) => void, kind: string, count: number, what: RegExp][] = [
  [
    'an event that is recorded and was not delivered',
    (told) => without(told, 'changing-5'),
    'lost',
    1,
    /subscription.canceled of changing/,
  ],
  [
    'one that was delivered with a wrong signature only',
    (told) => patch(told, 'changing-5', { isSigned: false }),
    'lost',
    1,
    /not delivered/,
  ],
  ['a wrong signature', (told) => patch(told, 'changing-5', { isSigned: false }), 'wrong', 1, /signature/],
  [
    'an event that was told again under another id',
    (told) => add(told, { ...find(told, 'trial-2'), id: 'other', index: 9 }),
    'doubled',
    1,
    /subscription.created of trial/,
  ],
  [
    'a threshold that was told again under two more ids',
    (told) => {
      add(told, { ...find(told, 'counted-4'), id: 'other', index: 8 })
      add(told, { ...find(told, 'counted-4'), id: 'another', index: 9 })
    },
    'doubled',
    2,
    /threshold_reached of counted/,
  ],
  [
    'an event that nobody has recorded',
    (told) => told.heard.push(heard('trial', 9, 'subscription.activated', 'free')),
    'wrong',
    1,
    /not recorded/,
  ],
  ['an event that came before an earlier one', (told) => moveLast(told, 'changing-5'), 'wrong', 1, /canceled of changing/],
  [
    'a customer who is there and was not told',
    (told) => forget(told, 'limited-1'),
    'lost',
    1,
    /nothing was told: customer.created limited/,
  ],
  ['a subscription that is there and was not told', (told) => forget(told, 'trial-6'), 'lost', 1, /subscription.created trial/],
  ['a subscription that was canceled, which was not told', (told) => forget(told, 'changing-5'), 'lost', 1, /canceled changing/],
  ['a subscription that has expired, which was not told', (told) => forget(told, 'trial-5'), 'lost', 1, /expired trial/],
  ['a threshold that was reached and not told', (told) => forget(told, 'counted-5'), 'lost', 1, /counted calls AMOUNT 2/],
  ['a threshold that was told to another customer', (told) => forget(told, 'evented-4'), 'lost', 1, /evented tokens AMOUNT 1/],
  ['a share of the limit that was not told', (_, { facts }) => setUsage(facts, 'limited', 20), 'lost', 6, /limited calls SHARE 80/],
  ['a threshold that was told and not reached', (_, { facts }) => setUsage(facts, 'counted', 1.5), 'wrong', 1, /counted calls AMOUNT 2/],
]

describe('what a receiver of webhooks has heard', () => {
  it('is right when everything was told', () => expect(found(() => undefined)).to.deep.equal([]))

  for (const [title, change, kind, count, what] of cases)
    it(`lacks nothing but ${title}`, () => {
      const findings = found(change).filter((finding) => finding.kind === kind && what.test(finding.what))
      expect(findings.reduce((sum, finding) => sum + finding.count, 0)).to.equal(count)
    })

  it('may hold an event again under its id, also when later ones have come', () => {
    expect(found((told) => told.heard.push(find(told, 'changing-2'), find(told, 'counted-4')))).to.deep.equal([])
  })

  it('may come late when its first attempt has failed', () => {
    const isRepeated = (told: Changed) => {
      moveLast(told, 'changing-5')
      told.recorded = told.recorded.map((one) => (one.id === 'changing-5' ? { ...one, attempts: 2 } : one))
    }
    expect(found(isRepeated)).to.deep.equal([])
  })
})

function found(change: (told: Changed, of: Case) => void) {
  const { ledger, facts } = rightCase()
  const told: Changed = { recorded: [...facts.told.recorded], heard: [...facts.told.heard] }
  change(told, { ledger, facts })
  return findUntold(ledger, { ...facts, told })
}
const find = (told: Changed, id: string) => told.heard.find((one) => one.id === id)!
function without(told: Changed, id: string) {
  told.heard = told.heard.filter((one) => one.id !== id)
}
function moveLast(told: Changed, id: string) {
  const moved = find(told, id)
  without(told, id)
  told.heard.push(moved)
}
/** As if it had never been recorded. */
function forget(told: Changed, id: string) {
  without(told, id)
  told.recorded = told.recorded.filter((one) => one.id !== id)
}
function patch(told: Changed, id: string, more: Partial<HeardEvent>) {
  told.heard = told.heard.map((one) => (one.id === id ? { ...one, ...more } : one))
}
/** Recorded and heard. */
function add(told: Changed, event: HeardEvent) {
  told.heard.push(event)
  told.recorded.push({ ...event, attempts: 1 })
}
function setUsage(facts: Case['facts'], customer: string, usage: number) {
  facts.usages = facts.usages.map((one) => (one.customer === customer ? { ...one, usage } : one))
}
