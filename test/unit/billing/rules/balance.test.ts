import { expect } from 'chai'
import fc from 'fast-check'
import { type Account, isCharged, newAccount } from '../../../../src/billing/rules/account.js'
import {
  amountDueOf,
  balanceAfter,
  balanceOf,
  type Entry,
  entriesAfter,
  entriesOf,
  fateOf,
  fundingOf,
  waitingEntry,
} from '../../../../src/billing/rules/balance.js'
import { bill } from '../../../../src/billing/rules/bill.js'
import type { InvoiceStatus } from '../../../../src/billing/rules/billing.js'
import { type NamedDraft, named } from '../../../../src/billing/rules/credit.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import type { Subscription } from '../../../../src/subscription/rules/subscription.js'
import { d, percentOff, price, terms, version } from '../support.js'

const acme = { customerId: 'acme', currency: 'USD' }
const entry = (kind: Entry['kind'], amount: number, invoiceId = 'b', chargeId = kind === 'APPLIED' ? invoiceId : 'a'): Entry => ({
  ...acme,
  kind,
  invoiceId,
  chargeId,
  amount: d(amount),
})
const shown = ({ kind, amount }: Entry) => `${kind} ${amount}`

describe('how an invoice is paid', () => {
  for (const [given, funding] of [
    [{ status: 'PAID' }, 'given'],
    [{ status: 'PAID', hasFailed: true }, 'given'],
    [{ status: 'OPEN' }, 'given'],
    [{ status: 'OPEN', hasFailed: true }, 'waits'],
    [{ status: 'FAILED', hasFailed: true }, 'waits'],
    [{ status: 'FAILED' }, 'waits'],
    [{ status: 'CANCELED' }, 'never'],
    [{ status: 'PAID', refundedAmount: d(42) }, 'never'],
  ] as const)
    it(`${JSON.stringify(given)}: what it charged for is given back: ${funding}`, () =>
      expect(fundingOf({ hasFailed: false, refundedAmount: decimal.zero, ...given })).to.equal(funding))

  for (const [total, balance, amountDue, left] of [
    [42, 0, 42, 0],
    [42, 29.4, 12.6, 0],
    [42, 50, 0, 8],
    [42, -21, 63, 0],
    [0, -21, 0, -21],
    [-21, 0, 0, 21],
    [-21, -30, 0, -9],
  ] as const)
    it(`${total} with a balance of ${balance}: ${amountDue} are due and ${left} are left`, () => {
      expect(amountDueOf(d(total), d(balance))).to.equal(d(amountDue))
      expect(balanceAfter(d(balance), d(total))).to.equal(d(left))
      const credits = total < 0 ? [{ chargeId: 'a', amount: d(-total) }] : []
      const entered = entriesOf({ ...acme, id: 'b', total: d(total), credits, amountDue: d(amountDue) })
      expect(decimal.add(d(balance), balanceOf(entered))).to.equal(d(left))
    })
})

describe('the entries of a payer', () => {
  it('of a credit that waits are for its charge, whose it is', () => {
    expect(waitingEntry({ chargeId: 'a', amount: d(5) }, acme)).to.deep.equal({
      ...acme,
      kind: 'WAITING',
      invoiceId: 'a',
      chargeId: 'a',
      amount: '5',
    })
  })
  it('of an invoice are its credits, and what it uses of them', () => {
    const made = {
      ...acme,
      id: 'b',
      total: d(10),
      credits: [
        { chargeId: 'a', amount: d(5) },
        { chargeId: null, amount: d(2) },
      ],
    }
    expect(entriesOf({ ...made, amountDue: d(10) })).to.deep.equal([
      { ...acme, kind: 'CREDIT', invoiceId: 'b', chargeId: 'a', amount: '5' },
      { ...acme, kind: 'CREDIT', invoiceId: 'b', chargeId: 'b', amount: '2' },
      { ...acme, kind: 'APPLIED', invoiceId: 'b', chargeId: 'b', amount: '-7' },
    ])
    expect(entriesOf({ ...acme, id: 'b', total: d(10), amountDue: d(10) })).to.deep.equal([])
  })
  it('count but for what waits and what became of that', () => {
    const all = [
      entry('CREDIT', 1),
      entry('WAITING', 2),
      entry('DROPPED', 4),
      entry('RELEASED', 8),
      entry('REVERSED', 16),
      entry('APPLIED', 32),
    ]
    expect(balanceOf([...all, entry('RETURNED', 64)])).to.equal('121')
  })
})

describe('what becomes of an invoice', () => {
  for (const [status, refunded, fate] of [
    ['PAID', 0, 'paid'],
    ['PAID', 1, 'reduced'],
    ['PAID', 98.99, 'reduced'],
    ['PAID', 99, 'dead'],
    ['CANCELED', 0, 'dead'],
    ['FAILED', 0, null],
  ] as const)
    it(`${status}, ${refunded} of 99 given back: ${fate}`, () =>
      expect(fateOf({ status, amountDue: d(99), refundedAmount: d(refunded) }, { isRefused: false })).to.equal(fate))

  for (const [what, invoiceId, fate, hasNeverBegun, entries, expected] of [
    ['its balance comes back when it is taken back', 'b', 'dead', false, [entry('APPLIED', -21)], ['RETURNED 21']],
    ['once', 'b', 'dead', false, [entry('APPLIED', -21), entry('RETURNED', 21, 'b', 'b')], []],
    ['debt that it was to pay is owed again', 'b', 'dead', false, [entry('APPLIED', 21)], ['RETURNED -21']],
    ['paid, it keeps what it used', 'b', 'paid', false, [entry('APPLIED', -21)], []],
    ['the credit on it stays with its payer', 'b', 'dead', false, [entry('CREDIT', 21), entry('APPLIED', -33)], ['RETURNED 33']],
    [
      'that of what goes on is taken back',
      'b',
      'dead',
      true,
      [entry('CREDIT', 21), entry('APPLIED', -33)],
      ['REVERSED -21', 'RETURNED 33'],
    ],
    ['a credit for what was not paid is taken back', 'a', 'dead', false, [entry('CREDIT', 21)], ['REVERSED -21']],
    ['and once', 'a', 'dead', false, [entry('CREDIT', 21), entry('REVERSED', -21)], []],
    ['one that waits is released when it is paid', 'a', 'paid', false, [entry('WAITING', 21)], ['RELEASED 21']],
    ['and dropped when it never will be', 'a', 'dead', false, [entry('WAITING', 21)], ['DROPPED -21']],
    ['dropped, it does not come back', 'a', 'paid', false, [entry('WAITING', 21), entry('DROPPED', -21)], []],
    ['released, it is taken back when the payment is', 'a', 'dead', false, [entry('WAITING', 21), entry('RELEASED', 21)], ['REVERSED -21']],
    [
      'what it gives and was given otherwise while it waited is taken back when it is paid',
      'b',
      'paid',
      true,
      [entry('CREDIT', 21), entry('APPLIED', -33), entry('CREDIT', 20, 'note')],
      ['REVERSED -21'],
    ],
    [
      'and kept, where the other one was taken back',
      'b',
      'paid',
      true,
      [entry('CREDIT', 21), entry('CREDIT', 20, 'note'), entry('REVERSED', -20, 'note')],
      [],
    ],
    ['given back in part, it keeps what it used', 'b', 'reduced', false, [entry('CREDIT', 21), entry('APPLIED', -33)], []],
    ['and what it charged for is not credited any more', 'a', 'reduced', false, [entry('CREDIT', 21)], ['REVERSED -21']],
    ['and the rest comes when all is given back', 'b', 'dead', false, [entry('REVERSED', -21), entry('APPLIED', -33)], ['RETURNED 33']],
    [
      'and kept, where what was given otherwise waited and was dropped',
      'b',
      'paid',
      true,
      [entry('CREDIT', 21), entry('WAITING', 20, 'a'), entry('DROPPED', -20, 'a')],
      [],
    ],
    ['and taken back, where that waits still', 'b', 'paid', true, [entry('CREDIT', 21), entry('WAITING', 20, 'a')], ['REVERSED -21']],
    ['and kept, where the other is for another charge', 'b', 'paid', true, [entry('CREDIT', 21), entry('CREDIT', 20, 'note', 'z')], []],
    ['and kept, where the other is what was used', 'b', 'paid', true, [entry('CREDIT', 21), entry('APPLIED', -20, 'note', 'a')], []],
    ['what another invoice used for it stays used', 'a', 'dead', false, [entry('APPLIED', -21, 'b', 'a')], []],
    [
      'given back in part, of what never began the credits on it stay',
      'b',
      'reduced',
      true,
      [entry('CREDIT', 21), entry('APPLIED', -33)],
      [],
    ],
    ['what others charged is not its own', 'c', 'dead', false, [entry('CREDIT', 21), entry('WAITING', 3)], []],
  ] as const)
    it(what, () => {
      const following = entriesAfter({ invoiceId, fate, entries, hasNeverBegun })
      expect(following.map(shown)).to.deep.equal(expected)
      expect(entriesAfter({ invoiceId, fate, entries: [...entries, ...following], hasNeverBegun }), 'told again').to.deep.equal([])
    })
})

interface Made {
  draft: NamedDraft
  amountDue: decimal.Decimal
  status: InvoiceStatus
  hasFailed: boolean
  refundedAmount: decimal.Decimal
}

const day = 86_400_000
const begin = Date.parse('2027-04-01T00:00:00Z')
const month = 30 * day
const [above, sum] = [
  (amount: decimal.Decimal) => decimal.compare(amount, decimal.zero) > 0,
  (amounts: decimal.Decimal[]) => amounts.reduce(decimal.add, decimal.zero),
]

/** One payer that holds a plan at a time, and a ledger in memory. */
class Books {
  now = begin
  account: Account
  held: Subscription | null = null
  readonly invoices = new Map<string, Made>()
  readonly entries: Entry[] = []
  readonly #terms: ReturnType<typeof terms>

  constructor(taxPercentage: decimal.Decimal | null, discount: ReturnType<typeof percentOff> | null) {
    this.#terms = terms({ taxPercentage, discount })
    this.account = newAccount(this.#terms)
  }

  change(after: Subscription, given: { isRenewal?: boolean; creditsUnused?: boolean; proration?: 'CREATE_PRORATIONS' | 'NONE' } = {}) {
    const change = {
      before: this.held,
      after,
      at: this.now,
      isRenewal: false,
      proration: 'INVOICE_IMMEDIATELY',
      creditsUnused: false,
    } as const
    const charges = (id: string) => {
      const made = this.invoices.get(id)
      return made ? { funding: fundingOf(made), payerId: acme.customerId } : null
    }
    const billed = bill({ account: this.account, change: { ...change, ...given }, charges })
    const { account, drafts } = named(billed, this.account, () => `invoice ${this.invoices.size + 1} ${Math.random()}`)
    this.account = account
    this.held = isCharged(after) ? after : null
    if (!this.held) this.account = newAccount(this.#terms)
    for (const draft of drafts) {
      const amountDue = amountDueOf(draft.total, balanceOf(this.entries))
      this.enter(entriesOf({ ...draft, ...acme, amountDue }))
      const status = above(amountDue) ? 'OPEN' : 'PAID'
      this.invoices.set(draft.id, { draft, amountDue, status, hasFailed: false, refundedAmount: decimal.zero })
      for (const { chargeId, amount } of draft.credits ?? [])
        if (charges(chargeId!)?.funding === 'never')
          this.enter([{ ...acme, invoiceId: draft.id, chargeId: chargeId!, kind: 'REVERSED', amount: decimal.negate(amount) }])
    }
    this.enter((billed.waiting ?? []).map((credit) => waitingEntry(credit, acme)))
  }

  tell(made: Made, news: Partial<Made>, { isRefused = false } = {}) {
    Object.assign(made, news)
    const fate = fateOf(made, { isRefused })
    const { id: invoiceId } = made.draft
    const entries = this.entries.filter((one) => one.invoiceId === invoiceId || one.chargeId === invoiceId)
    if (fate) this.enter(entriesAfter({ invoiceId, fate, entries, hasNeverBegun: false }))
  }

  enter(entries: Entry[]) {
    this.entries.push(...entries)
  }

  subscription(amount: number): Subscription {
    const start = begin + Math.floor((this.now - begin) / month) * month
    return {
      id: 'held',
      customerId: acme.customerId,
      payingCustomerId: null,
      plan: version('plan', [price({ id: 'the price', amount: d(amount) })]),
      addons: [],
      quantities: [],
      billingPeriod: 'MONTHLY',
      status: 'ACTIVE',
      pricingType: 'PAID',
      timeZone: 'UTC',
      startDate: begin,
      currentPeriod: { start, end: start + month },
    } as unknown as Subscription
  }

  check(): void {
    const { entries } = this
    const keys = entries.map(({ invoiceId, chargeId, kind }) => `${invoiceId} ${chargeId} ${kind}`)
    expect(new Set(keys).size, 'nothing is entered twice').to.equal(keys.length)
    const live = [...this.invoices.values()].filter((made) => fundingOf(made) !== 'never')
    const chargedBy = ({ draft: { total, credits = [] } }: Made) => sum([total, ...credits.map(({ amount }) => amount)])
    const creditsOf = (id: string) =>
      entries.filter(({ chargeId, kind }) => chargeId === id && (kind === 'CREDIT' || kind === 'RELEASED' || kind === 'REVERSED'))
    for (const made of this.invoices.values()) {
      const credited = sum(creditsOf(made.draft.id).map(({ amount }) => amount))
      const most = fundingOf(made) === 'never' ? decimal.zero : chargedBy(made)
      expect(decimal.compare(credited, most) <= 0, `${credited} of ${most} are given back`).to.equal(true)
      expect(decimal.compare(credited, decimal.zero) >= 0).to.equal(true)
    }
    // Counted another way: what was and is to be paid in money, less what was charged, is what the credits have left.
    const money = sum(live.map(({ amountDue }) => amountDue))
    const charged = sum(live.map(chargedBy))
    const credits = sum([...this.invoices.keys()].flatMap((id) => creditsOf(id).map(({ amount }) => amount)))
    expect(balanceOf(entries), 'the entries add up').to.equal(sum([credits, money, decimal.negate(charged)]))
    const waiting = sum(entries.flatMap(({ kind, amount }) => (kind === 'WAITING' || kind === 'DROPPED' ? [amount] : [])))
    expect(decimal.compare(waiting, decimal.zero) >= 0).to.equal(true)
  }
}

const anyStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('change' as const), amount: fc.integer({ min: 1, max: 99 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('later' as const), amount: fc.integer({ min: 1, max: 99 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('free' as const), amount: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), amount: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('renew' as const), amount: fc.constant(0) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('fail' as const, 'pay' as const, 'pay' as const, 'void' as const, 'refund' as const),
      amount: fc.nat(9),
    }),
  },
)

describe('the balance of a payer', function () {
  this.timeout(120_000)

  it('adds up after every step, and no credit exceeds what was paid', () => {
    const property = fc.property(
      fc.array(fc.tuple(anyStep, fc.integer({ min: 1, max: 9 * 86_400 })), { minLength: 5, maxLength: 30 }),
      fc.option(fc.constantFrom(d(19), d('7.7'))),
      fc.option(fc.constantFrom(percentOff(10), percentOff('33.3'), percentOff(100))),
      (steps, tax, discount) => {
        const books = new Books(tax, discount)
        for (const [step, seconds] of steps) {
          books.now += seconds * 1_000
          while (books.held && books.now >= books.held.currentPeriod!.end) renew(books)
          act(books, step)
          books.check()
        }
      },
    )
    fc.assert(property, { numRuns: Number(process.env.MODEL_RUNS ?? 300) })
  })
})

function renew(books: Books): void {
  const { now } = books
  books.now = books.held!.currentPeriod!.end
  const amount = Number(books.held!.plan.prices[0]!.amount)
  books.change(books.subscription(amount), { isRenewal: true })
  books.now = Math.max(now, books.now)
}

function act(books: Books, step: { do: string; amount: number }): void {
  const { held } = books
  const ended = { ...books.subscription(1), status: 'CANCELED', cancelReason: 'Immediate' } as Subscription
  if (step.do === 'change') books.change(books.subscription(step.amount))
  else if (step.do === 'later') books.change(books.subscription(step.amount), { proration: 'CREATE_PRORATIONS' })
  else if (step.do === 'cancel' && held) books.change(ended, { creditsUnused: true })
  else if (step.do === 'free' && held) books.change({ ...books.subscription(1), pricingType: 'FREE', billingPeriod: null } as Subscription)
  else if (step.do === 'renew' && held) renew(books)
  const payable = [...books.invoices.values()].toReversed()
  const made = payable[step.amount % Math.max(1, payable.length)]
  if (!made) return
  const { status, amountDue, refundedAmount } = made
  const isUnpaid = status === 'OPEN' || status === 'FAILED'
  if (step.do === 'fail' && isUnpaid) books.tell(made, { status: 'FAILED', hasFailed: true })
  else if (step.do === 'void' && isUnpaid) books.tell(made, { status: 'CANCELED' })
  else if (step.do === 'pay' && isUnpaid) books.tell(made, { status: 'PAID' })
  else if (step.do === 'pay' && status === 'CANCELED' && above(amountDue)) {
    books.tell(made, { status: 'PAID' }, { isRefused: true })
    books.tell(made, { refundedAmount: amountDue })
  } else if (step.do === 'refund' && status === 'PAID' && above(amountDue) && refundedAmount === decimal.zero)
    books.tell(made, { refundedAmount: amountDue })
}
