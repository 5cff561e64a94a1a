/**
 * What payers have to their credit: a ledger of entries that are never changed. Pure.
 *
 * charge   the invoice that charged for time of which some was not used
 * credit   what of that its payer gets back
 *
 * CREDIT    given
 * WAITING   not to be spent yet: the payment of the charge is missing. RELEASED: it was paid, so it may be spent. DROPPED: it never will be paid
 * REVERSED  a credit (given or released) is taken back, because its charge was not paid after all, or the payment was given back
 * APPLIED   what an invoice settles without money: below 0 credit that it uses, its own included; above 0 debt that is paid with it
 * RETURNED  the same back, because the invoice is not to be paid any more
 */
import * as decimal from '../../kernel/decimal.js'
import type { Credit, Draft, Invoice } from './billing.js'

export type EntryKind = 'CREDIT' | 'WAITING' | 'RELEASED' | 'DROPPED' | 'REVERSED' | 'APPLIED' | 'RETURNED'

/** Of one kind there is one for an invoice and a charge: entered again, it is the same. */
export interface Entry {
  /** Whose making, taking back or refund it comes from. */
  invoiceId: string
  /** Of what an invoice itself takes: that invoice. */
  chargeId: string
  kind: EntryKind
  /** The payer. */
  customerId: string
  currency: string
  amount: decimal.Decimal
}

/** What can be said of a credit by how its charge is paid. */
export type Funding = 'given' | 'waits' | 'never'

/** An OPEN one counts as paid as long as nothing has gone wrong with it. */
export function fundingOf({ status, hasFailed, refundedAmount }: Pick<Invoice, 'status' | 'hasFailed' | 'refundedAmount'>): Funding {
  if (status === 'CANCELED' || refundedAmount !== decimal.zero) return 'never'
  if (status === 'PAID') return 'given'
  return status === 'FAILED' || hasFailed ? 'waits' : 'given'
}

/** What may be spent; below 0: what is owed. */
export const balanceOf = (entries: readonly Pick<Entry, 'kind' | 'amount'>[]): decimal.Decimal =>
  entries.filter(({ kind }) => kind !== 'WAITING' && kind !== 'DROPPED').reduce((sum, { amount }) => decimal.add(sum, amount), decimal.zero)

/** What is left to be paid of an invoice: the balance is used first, and what is owed is paid with the next invoice that charges something. */
export function amountDueOf(total: decimal.Decimal, balance: decimal.Decimal): decimal.Decimal {
  return isAbove0(total) ? decimal.max(decimal.subtract(total, balance), decimal.zero) : decimal.zero
}

/** The balance after an invoice of the total. */
export const balanceAfter = (balance: decimal.Decimal, total: decimal.Decimal): decimal.Decimal =>
  decimal.add(decimal.subtract(balance, total), amountDueOf(total, balance))

/** What making an invoice enters. `credits`: those that are on it. */
export function entriesOf({
  id: invoiceId,
  customerId,
  currency,
  total,
  credits = [],
  amountDue,
}: Pick<Draft, 'currency' | 'total' | 'credits'> & { id: string; customerId: string; amountDue: decimal.Decimal }): Entry[] {
  const entries = credits.map(({ chargeId, amount }): Entry => {
    return { invoiceId, chargeId: chargeId ?? invoiceId, kind: 'CREDIT', customerId, currency, amount }
  })
  const charged = credits.reduce((sum, { amount }) => decimal.add(sum, amount), total)
  const applied = decimal.subtract(amountDue, charged)
  return applied === decimal.zero
    ? entries
    : [...entries, { invoiceId, chargeId: invoiceId, kind: 'APPLIED', customerId, currency, amount: applied }]
}

/** A credit that waits for the payment of its charge. */
export function waitingEntry({ chargeId, amount }: Credit & { chargeId: string }, payer: Pick<Entry, 'customerId' | 'currency'>): Entry {
  return { invoiceId: chargeId, chargeId, kind: 'WAITING', ...payer, amount }
}

/**
 * paid     of an invoice: it was
 * reduced  some of the payment was given back, so that time that it charged for is not credited
 * dead     it is not to be paid any more, or all of the payment was given back
 */
type Fate = 'paid' | 'reduced' | 'dead'

/** What the news mean for credits; null: nothing. A payment that is to be given back does not count. */
export function fateOf(
  { status, amountDue, refundedAmount }: Pick<Invoice, 'status' | 'amountDue' | 'refundedAmount'>,
  { isRefused }: { isRefused: boolean },
): Fate | null {
  if (status === 'CANCELED') return 'dead'
  if (refundedAmount !== decimal.zero) return decimal.compare(refundedAmount, amountDue) < 0 ? 'reduced' : 'dead'
  return status === 'PAID' && !isRefused ? 'paid' : null
}

/**
 * What an invoice enters that was paid, or is dead (taken back, given up for good, paid and given back), or was given back in part: then what it used stays
 * used. `entries`: all that it is the invoice or the charge of, and all about the charges that are credited on it. `hasNeverBegun`: its subscription waited for
 * it, so what it was to replace goes on, and the credits on it are taken back too; paid, it begins, and those are taken back that were given in another way
 * meanwhile. Told again: nothing.
 */
export function entriesAfter({
  invoiceId,
  fate,
  entries,
  hasNeverBegun,
}: {
  invoiceId: string
  fate: Fate
  entries: readonly Entry[]
  hasNeverBegun: boolean
}): Entry[] {
  const known = new Set(entries.map(keyOf))
  const follows = (entry: Entry, kind: EntryKind): Entry[] => {
    const amount = kind === 'RELEASED' ? entry.amount : decimal.negate(entry.amount)
    const following = { ...entry, kind, amount }
    return known.has(keyOf(following)) ? [] : [following]
  }
  const isSettled = (entry: Entry) => known.has(keyOf({ ...entry, kind: 'RELEASED' })) || known.has(keyOf({ ...entry, kind: 'DROPPED' }))
  const isGivenElsewhere = ({ chargeId }: Entry) =>
    entries.some((other) => {
      const isOther = other.chargeId === chargeId && other.invoiceId !== invoiceId && (other.kind === 'CREDIT' || other.kind === 'WAITING')
      return isOther && !known.has(keyOf({ ...other, kind: 'REVERSED' })) && !known.has(keyOf({ ...other, kind: 'DROPPED' }))
    })
  return entries.flatMap((entry) => {
    const { kind, chargeId } = entry
    const isOfCharge = chargeId === invoiceId
    if (kind === 'WAITING') return isOfCharge && !isSettled(entry) ? follows(entry, fate === 'paid' ? 'RELEASED' : 'DROPPED') : []
    const isOnInvoice = hasNeverBegun && entry.invoiceId === invoiceId && !isOfCharge
    if (fate === 'paid') return isOnInvoice && kind === 'CREDIT' && isGivenElsewhere(entry) ? follows(entry, 'REVERSED') : []
    if (kind === 'APPLIED' && entry.invoiceId === invoiceId) return fate === 'dead' ? follows(entry, 'RETURNED') : []
    const isCredit = kind === 'CREDIT' || kind === 'RELEASED'
    return isCredit && (isOfCharge || (fate === 'dead' && isOnInvoice)) ? follows(entry, 'REVERSED') : []
  })
}

const keyOf = ({ invoiceId, chargeId, kind }: Pick<Entry, 'invoiceId' | 'chargeId' | 'kind'>): string => `${invoiceId} ${chargeId} ${kind}`

const isAbove0 = (amount: decimal.Decimal): boolean => decimal.compare(amount, decimal.zero) > 0
