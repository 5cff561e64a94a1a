/** What a change would cost: the invoice that it would make now, and what each billing period costs from then on. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import type { Account } from './account.js'
import type { Content, Discount, Draft, Line, Period } from './billing.js'
import { type ChangeDraft, discountAt, standingOf, taxOn, totalled } from './invoice.js'

export interface Estimate {
  currency: string
  /** The billing period that is charged for; in a trial, the trial. Null: nothing is billed. */
  period: Period | null
  /** Of the invoice that comes at once; all 0 when there is none. */
  subTotal: decimal.Decimal
  discountAmount: decimal.Decimal
  tax: decimal.Decimal
  total: decimal.Decimal
  lines: Line[]
  /** Null when nothing is credited or charged for a part of a period. Credit in another currency is an invoice of its own, which `total` leaves out. */
  proration: { at: EpochMs; credit: decimal.Decimal; creditCurrency: string; debit: decimal.Decimal } | null
  /** What the customer has to its credit, and what of it this invoice uses. Null: nothing. */
  balance: { initial: decimal.Decimal; used: decimal.Decimal } | null
  /** A whole period from then on, without usage; null: it is not billed. */
  recurring: Draft | null
  /** What was agreed; null: none that holds. */
  discount: Discount | null
  taxPercentage: decimal.Decimal | null
  /** Null: just that. */
  taxName: string | null
}

/** What a customer has to its credit after invoices of the totals: what is below zero adds to it, and what is to be paid is paid from it first. */
export function balanceAfter(balance: decimal.Decimal, totals: readonly decimal.Decimal[]): decimal.Decimal {
  return totals.reduce((left, total) => {
    const rest = decimal.subtract(left, total)
    return decimal.compare(total, decimal.zero) < 0 ? rest : decimal.max(rest, decimal.zero)
  }, balance)
}

export function estimateOf({
  account,
  draft,
  creditNote = null,
  content,
  period,
  at,
  balance,
  timeZone,
  fallbackCurrency,
}: {
  account: Account
  draft: Draft | ChangeDraft | null
  /** What the same change gives back in another currency. */
  creditNote?: Draft | ChangeDraft | null
  /** As it would be. */
  content: Content
  period: Period | null
  at: EpochMs
  /** What the customer has to its credit. */
  balance: decimal.Decimal
  timeZone: string
  /** Of an answer about something that is not sold for money. */
  fallbackCurrency: string
}): Estimate {
  const { terms } = account
  const total = draft?.total ?? decimal.zero
  // The draft has just worked it out.
  const standing = draft ? account.standing : period && standingOf({ content, terms, period, timeZone, chargedAt: at })
  const used = decimal.compare(balance, total) > 0 ? decimal.max(total, decimal.zero) : balance
  return {
    currency: draft?.currency ?? terms.currency ?? fallbackCurrency,
    period,
    subTotal: draft?.subTotal ?? decimal.zero,
    discountAmount: draft?.discount ?? decimal.zero,
    tax: draft?.tax ?? decimal.zero,
    total,
    lines: draft?.lines ?? [],
    proration: prorationOf(draft, creditNote, at),
    balance: balance === decimal.zero ? null : { initial: balance, used },
    recurring:
      standing &&
      totalled({
        reason: 'BILLING_CYCLE',
        currency: standing.currency,
        period: standing.period,
        lines: standing.lines.map((line) => ({ ...line, period: standing.period, isProration: false })),
        discount: decimal.subtract(standing.gross, standing.net),
        tax: taxOn(standing.net, terms.taxPercentage, standing.currency),
      }),
    discount: discountAt(terms, at, timeZone),
    taxPercentage: terms.taxPercentage,
    taxName: terms.taxName ?? null,
  }
}

function prorationOf(draft: Draft | ChangeDraft | null, creditNote: Draft | ChangeDraft | null, at: EpochMs): Estimate['proration'] {
  if (!draft || !('credit' in draft)) return null
  const { currency, credit, debit } = draft
  if (creditNote && 'credit' in creditNote) return { at, credit: creditNote.credit, creditCurrency: creditNote.currency, debit }
  return draft.lines.some(({ isProration }) => isProration) ? { at, credit, creditCurrency: currency, debit } : null
}
