import { expect } from 'chai'
import { type Charge, settle } from '../../../../src/billing/rules/credit.js'
import { standing, terms } from '../support.js'

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
