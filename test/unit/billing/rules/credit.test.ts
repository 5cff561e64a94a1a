import { expect } from 'chai'
import { type Account, newAccount } from '../../../../src/billing/rules/account.js'
import type { Draft } from '../../../../src/billing/rules/billing.js'
import { type Charge, named, payerOf, settle } from '../../../../src/billing/rules/credit.js'
import { totalled } from '../../../../src/billing/rules/invoice.js'
import { d, standing, terms } from '../support.js'

const [start, end] = [Date.parse('2027-04-01T00:00:00Z'), Date.parse('2027-05-01T00:00:00Z')]
const half = { terms: terms(), at: Date.parse('2027-04-16T00:00:00Z'), payerId: 'acme' }
const charged = { ...standing(42, { start, end }), chargedBy: 'first' }

describe('unused time', () => {
  for (const [funding, payerId, isOnInvoice, notes, waiting] of [
    ['given', 'acme', true, [['-21', undefined]], []],
    ['given', 'parent', false, [['-21', 'parent']], []],
    ['waits', 'acme', false, [], [['21', 'acme']]],
    ['waits', 'parent', false, [], [['21', 'parent']]],
    ['never', 'acme', false, [], []],
  ] as const)
    it(`of a charge of ${payerId} that is ${funding}: ${notes.length} documents, ${waiting.length} that wait`, () => {
      const charge: Charge = { funding, payerId }
      const settlement = settle(charged, { ...half, charges: (id) => (id === 'first' ? charge : null) })
      expect(settlement.isOnInvoice).to.equal(isOnInvoice)
      expect(settlement.notes.map((note) => [note.total, note.payerId])).to.deep.equal(notes)
      expect(settlement.waiting.map((credit) => [credit.amount, credit.payerId])).to.deep.equal(waiting)
      for (const { credits } of settlement.notes) expect(credits).to.deep.equal([{ chargeId: 'first', amount: '21' }])
    })

  it('is none at the end of the period, whoever is to pay', () => {
    const settlement = settle(charged, { ...half, at: end, charges: () => ({ funding: 'waits', payerId: 'acme' }) })
    expect(settlement).to.deep.equal({ isOnInvoice: true, notes: [], waiting: [] })
  })
})

describe('credit', () => {
  it('is of who pays for the subscription', () => {
    expect(payerOf({ payingCustomerId: 'parent', customerId: 'acme' })).to.equal('parent')
    expect(payerOf({ payingCustomerId: null, customerId: 'acme' })).to.equal('acme')
  })
  it('for what waited for an invoice, or is charged by the same change, is on the document of that', () => {
    const never = { ...half, charges: () => ({ funding: 'never' as const, payerId: 'acme' }) }
    expect(settle(standing(42, { start, end }), never).isOnInvoice).to.equal(true)
    const settlement = settle(charged, { ...half, charges: () => null })
    expect([settlement.isOnInvoice, settlement.notes.length, settlement.notes[0]!.reason]).to.deep.equal([true, 1, 'SUBSCRIPTION_UPDATE'])
  })
  it('that comes to nothing does not wait', () => {
    // Taxed and discounted to nothing, but for its lines.
    const free = { ...charged, net: d(0) }
    expect(settle(free, { ...half, charges: () => ({ funding: 'waits', payerId: 'acme' }) }).waiting).to.deep.equal([])
  })
})

describe('documents with their names', () => {
  const draft = (given: Partial<Draft>): Draft =>
    totalled({ reason: 'SUBSCRIPTION_UPDATE', currency: 'USD', period: { start, end }, lines: [], discount: d(0), tax: d(0), ...given })
  const account = (chargedBy?: string): Account => ({
    ...newAccount(terms()),
    standing: { ...standing(42, { start, end }), ...(chargedBy && { chargedBy }) },
  })
  const name = (drafts: Draft[], after = account(), before = account()) => {
    let count = 0
    return named({ account: after, drafts }, before, () => `id ${++count}`)
  }
  const credits = (...chargeIds: (string | null)[]) => chargeIds.map((chargeId) => ({ chargeId, amount: d(5) }))

  it('say what charged that stands: the last of them that did, else the one of before', () => {
    const chargedBy = (drafts: Draft[], after = account()) => name(drafts, after).account.standing!.chargedBy
    expect(chargedBy([draft({ isCharge: true }), draft({ isCharge: true }), draft({})])).to.equal('id 2')
    expect(chargedBy([draft({})], account('first'))).to.equal('first')
    expect(chargedBy([draft({})])).to.equal(undefined)
    expect(name([draft({})]).account.standing).not.to.have.property('chargedBy')
    expect(name([draft({ isCharge: true })], newAccount(terms())).account.standing).to.equal(null)
  })
  it('say of each credit which charge it is for: its own document, or that of what waited, where none is named', () => {
    expect(name([draft({ credits: credits(null, 'first') })]).drafts[0]!.credits).to.deep.equal([
      { chargeId: 'id 1', amount: '5' },
      { chargeId: 'first', amount: '5' },
    ])
    const [note] = name([draft({ credits: credits(null) }), draft({ hasPending: true })]).drafts
    expect(note!.credits).to.deep.equal([{ chargeId: 'id 2', amount: '5' }])
    expect(name([draft({})]).drafts[0]).not.to.have.property('credits')
  })
  it('add up the credits for one charge', () => {
    expect(name([draft({ credits: credits('first', 'other', 'first') })]).drafts[0]!.credits).to.deep.equal([
      { chargeId: 'first', amount: '10' },
      { chargeId: 'other', amount: '5' },
    ])
  })
  it('say what charged that stood before, for a successor', () => {
    expect(name([draft({ hasPending: true })]).standing!.chargedBy).to.equal('id 1')
    expect(name([draft({ hasPending: true })], account(), account('first')).standing!.chargedBy).to.equal('first')
    expect(name([draft({})]).standing).to.deep.equal(account().standing)
    expect(name([draft({})], account(), newAccount(terms())).standing).to.equal(null)
  })
})
