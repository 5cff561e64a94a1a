/** What a change would cost: the invoices that it would make now, and what each billing period costs from then on. Pure. */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { type Account, discountAt } from './account.js'
import { amountDueOf, balanceAfter } from './balance.js'
import type { Content, Discount, Draft, Line, Period } from './billing.js'
import { type ChangeDraft, standingOf, sum, taxOn, totalled } from './invoice.js'

export interface Estimate {
  currency: string
  /** The billing period that is charged for; in a trial, the trial. Null: nothing is billed. */
  period: Period | null
  /** Of the invoices that come at once, usage included; all 0 when there is none. */
  subTotal: decimal.Decimal
  discountAmount: decimal.Decimal
  tax: decimal.Decimal
  total: decimal.Decimal
  lines: Line[]
  /** Null when nothing is credited or charged for a part of a period. Credit in another currency is an invoice of its own, which `total` leaves out. */
  proration: { at: EpochMs; credit: decimal.Decimal; creditCurrency: string; debit: decimal.Decimal } | null
  /** What the customer has to its credit, and what of it they use. Null: nothing. */
  balance: { initial: decimal.Decimal; used: decimal.Decimal } | null
  /** What is still to be paid. */
  amountDue: decimal.Decimal
  /** A whole period from then on, without usage; null: it is not billed. */
  recurring: Draft | null
  /** What was agreed; null: none that holds. */
  discount: Discount | null
  taxPercentage: decimal.Decimal | null
  /** Null: just that. */
  taxName: string | null
}

/**
 * What is still to be paid of invoices that are made in this order, and what they use of what the customer had to its credit before them; below 0: what it
 * owed and pays with them.
 */
export function paidFrom(
  balance: decimal.Decimal,
  totals: readonly decimal.Decimal[],
): { amountDue: decimal.Decimal; used: decimal.Decimal } {
  let [left, applied, amountDue] = [balance, decimal.zero, decimal.zero]
  for (const total of totals) {
    const due = amountDueOf(total, left)
    amountDue = decimal.add(amountDue, due)
    applied = sum([applied, decimal.max(total, decimal.zero), decimal.negate(due)])
    left = balanceAfter(left, total)
  }
  // They may use what one of themselves gave back.
  return { amountDue, used: decimal.compare(applied, balance) > 0 ? balance : applied }
}

/** Invoices of one instant as if they were one, in the currency of the last: what is in another one cannot be added up. Null: there is none. */
export function joined(drafts: readonly Draft[]): Draft | null {
  const last = drafts.at(-1)
  if (!last) return null
  const same = drafts.filter(({ currency }) => currency === last.currency)
  return totalled({
    reason: last.reason,
    currency: last.currency,
    period: last.period,
    lines: same.flatMap(({ lines }) => lines),
    discount: sum(same.map(({ discount }) => discount)),
    tax: sum(same.map(({ tax }) => tax)),
  })
}

export function estimateOf({
  account,
  drafts,
  content,
  period,
  at,
  balance,
  customerDiscount,
  fallbackCurrency,
}: {
  account: Account
  /** All invoices of that instant, in their order. What is in another currency than the last one is named by its credit alone. */
  drafts: readonly (Draft | ChangeDraft)[]
  /** As it would be. */
  content: Content
  period: Period | null
  at: EpochMs
  /** What the customer has to its credit. */
  balance: decimal.Decimal
  customerDiscount: Discount | null
  /** Of an answer about something that is not sold for money. */
  fallbackCurrency: string
}): Estimate {
  const { terms, standing: charged } = account
  const draft = joined(drafts)
  const total = draft?.total ?? decimal.zero
  const { amountDue, used } = paidFrom(
    balance,
    drafts.filter(({ currency }) => currency === draft?.currency).map((one) => one.total),
  )
  const discount = period && discountAt(account, { customerDiscount, period, at })
  // The drafts have just worked it out.
  const standing = (draft && charged) ?? (period && standingOf({ content, terms, period, discount }))
  return {
    currency: draft?.currency ?? terms.currency ?? fallbackCurrency,
    period,
    subTotal: draft?.subTotal ?? decimal.zero,
    discountAmount: draft?.discount ?? decimal.zero,
    tax: draft?.tax ?? decimal.zero,
    total,
    lines: draft?.lines ?? [],
    proration: prorationOf(drafts, at),
    balance: balance === decimal.zero ? null : { initial: balance, used },
    amountDue,
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
    discount,
    taxPercentage: terms.taxPercentage,
    taxName: terms.taxName ?? null,
  }
}

function prorationOf(drafts: readonly (Draft | ChangeDraft)[], at: EpochMs): Estimate['proration'] {
  const changes = drafts.filter((draft): draft is ChangeDraft => 'credit' in draft)
  const last = changes.at(-1)
  if (!last) return null
  const { currency, credit, debit } = last
  const note = changes.find((other) => other.currency !== currency)
  if (note) return { at, credit: note.credit, creditCurrency: note.currency, debit }
  return last.lines.some(({ isProration }) => isProration) ? { at, credit, creditCurrency: currency, debit } : null
}
