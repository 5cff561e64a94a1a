/**
 * What a change of a subscription means for its invoices. Pure: the same function drafts the invoice of a change that happens and answers what one
 * would cost, so that the two cannot differ.
 *
 * account    what billing remembers of a subscription: its terms, and what it was charged so far
 * successor  a subscription that takes the place of another one: its first invoice carries the credit for the other's unused time
 */
import type { EpochMs } from '../kernel/clock.js'
import * as decimal from '../kernel/decimal.js'
import { firstPeriod } from '../subscription/billing-period.js'
import { isFinal, type Subscription } from '../subscription/model.js'
import { chargesOf } from './charges.js'
import { type ChangeDraft, changeDraft, type MeasuredUsage, periodDraft, standingOf, totalled } from './invoice.js'
import type { Draft, InvoiceReason, Line, Period, Standing, Terms, UsageCharged } from './model.js'

/** Amounts of a partial period: invoiced at once, with the next invoice, or not at all. */
export type ProrationBehavior = 'INVOICE_IMMEDIATELY' | 'CREATE_PRORATIONS' | 'NONE'

export interface Account {
  terms: Terms
  standing: Standing | null
  /** What was charged in advance for the running period, changes included, less discounts. */
  fixedCharged: decimal.Decimal
  /** Of periods in which late usage may still come. */
  usageCharged: UsageCharged[]
  /** Waits for the next invoice. */
  pending: { lines: Line[]; discount: decimal.Decimal } | null
  /** The start of the other's period that the first invoice has credited already, before the other ended; null: none. */
  creditedPeriodStart: EpochMs | null
  /** Unused time was asked back for an end that is yet to come. */
  creditsUnusedAtEnd: boolean
}

export const newAccount = (terms: Terms): Account => ({
  terms,
  standing: null,
  fixedCharged: decimal.zero,
  usageCharged: [],
  pending: null,
  creditedPeriodStart: null,
  creditsUnusedAtEnd: false,
})

export interface BilledChange {
  /** Null: it begins. */
  before: Subscription | null
  after: Subscription
  at: EpochMs
  isRenewal: boolean
  proration: ProrationBehavior
  /** It ends, and the customer gets back what it does not use. */
  creditsUnused: boolean
}

export interface Billed {
  account: Account
  drafts: (Draft | ChangeDraft)[]
}

// A report may be 35 days late.
const lateUsageMs = 36 * 24 * 3_600_000

/** Whether it is charged in its status: from the beginning of its paid life, also while the first payment is waited for. */
export function isCharged({ status, pricingType, billingPeriod }: Subscription): boolean {
  return (status === 'ACTIVE' || status === 'PAYMENT_PENDING') && pricingType === 'PAID' && billingPeriod !== null
}

/** The periods in which usage has to be known for the change; none: it is charged for none. */
export function usageAsked(
  account: Account,
  { before, after, at, isRenewal }: BilledChange,
): { priceId: string; featureId: string; period: Period }[] {
  const { standing, usageCharged, terms } = account
  if (!before || !standing) return []
  const isPeriodOver =
    isRenewal || !isCharged(after) || at >= standing.period.end || !isSamePeriod(standing.period, chargedPeriod(after, at))
  if (!isPeriodOver) return []
  const ended = { start: standing.period.start, end: Math.min(at, standing.period.end) }
  return chargesOf(before, terms).usage.flatMap(({ price }) => {
    const late = usageCharged.filter(({ priceId, period }) => priceId === price.id && period.end > at - lateUsageMs)
    return [...late.map(({ period }) => period), ended].map((period) => ({ priceId: price.id, featureId: price.featureId!, period }))
  })
}

/**
 * The account after the change, and the invoices that it makes, those with nothing in them left out. `replaced`: what stands of the subscription whose
 * place this one takes.
 */
export function bill({
  account,
  change,
  replaced = null,
  usage = [],
}: {
  account: Account
  change: BilledChange
  replaced?: Standing | null
  usage?: readonly MeasuredUsage[]
}): Billed {
  const { before, after, at } = change
  const { standing } = account
  const timeZone = after.timeZone
  const target = isCharged(after)
    ? standingOf({ content: after, terms: account.terms, period: chargedPeriod(after, at)!, timeZone, chargedAt: at })
    : null
  if (standing && before && change.isRenewal) return endPeriod({ account, before, next: target, at, usage })
  if (before?.status === 'PAYMENT_PENDING' && !target) return { account: newAccount(account.terms), drafts: [] }
  if (standing && !target) return end({ account, change, usage })
  if (change.creditsUnused) return { account: { ...account, creditsUnusedAtEnd: true }, drafts: [] }
  if (standing && before && at >= standing.period.end && target!.period.end <= at) {
    // A change at the instant of the renewal, which comes next: what is sold from then on is charged by it.
    return endPeriod({ account, before, next: null, at, usage })
  }
  if (standing && before && !isSamePeriod(standing.period, target!.period)) {
    const closed = endPeriod({ account: { ...account, pending: null }, before, next: null, at, usage })
    const changed = charge({ account: { ...closed.account, standing, pending: account.pending }, target, replaced: null, change })
    return { account: changed.account, drafts: [...closed.drafts, ...changed.drafts] }
  }
  if (standing && before?.status === 'PAYMENT_PENDING' && after.status === 'ACTIVE') return payOff({ account, replaced, at })
  const billed = charge({ account, target, replaced, change })
  const waits = before?.status !== 'PAYMENT_PENDING' && after.status === 'PAYMENT_PENDING'
  return waits ? { ...billed, account: { ...billed.account, creditedPeriodStart: replaced?.period.start ?? null } } : billed
}

/** The first payment came. The other's unused time was credited by the invoice, unless it has begun another period since. */
function payOff({ account, replaced, at }: { account: Account; replaced: Standing | null; at: EpochMs }): Billed {
  const paid = { ...account, creditedPeriodStart: null }
  if (!replaced || replaced.period.start === account.creditedPeriodStart) return { account: paid, drafts: [] }
  const { taxPercentage } = account.terms
  const credit = changeDraft({ reason: 'SUBSCRIPTION_UPDATE', before: replaced, after: null, taxPercentage, at })
  return { account: paid, drafts: credit && !isEmpty(credit) ? [credit] : [] }
}

/** The billing period that a charged subscription is in at an instant. */
function chargedPeriod(subscription: Subscription, at: EpochMs): Period | null {
  return subscription.currentPeriod ?? firstPeriod(subscription, at)
}

const isSamePeriod = (a: Period, b: Period | null): boolean => a.start === b?.start && a.end === b.end

/** What is charged in advance becomes `target`. */
function charge({
  account,
  target,
  replaced,
  change: { at, proration, isRenewal },
}: {
  account: Account
  target: Standing | null
  replaced: Standing | null
  change: BilledChange
}): Billed {
  const { standing, terms } = account
  if (!target || (standing && isSameStanding(standing, target))) return { account, drafts: [] }
  // Credit and debit are of one currency: what was paid in another one stays until its period is over.
  const before = [standing, replaced].find((other) => other?.currency === target.currency) ?? null
  const isRunning = standing !== null && at < standing.period.end
  if (isRunning && proration === 'NONE' && isSamePeriod(standing.period, target.period)) return { account, drafts: [] }
  const reason: InvoiceReason =
    isRenewal || (standing && !isRunning) ? 'BILLING_CYCLE' : standing ? 'SUBSCRIPTION_UPDATE' : 'SUBSCRIPTION_CREATION'
  const draft = changeDraft({
    reason,
    before: standing && !isRunning ? null : before,
    after: target,
    taxPercentage: terms.taxPercentage,
    at,
  })!
  const isSame = standing !== null && isSamePeriod(standing.period, target.period)
  const fixedCharged = decimal.add(
    isSame ? account.fixedCharged : decimal.zero,
    isSame ? decimal.add(draft.credit, draft.debit) : draft.debit,
  )
  const charged: Account = { ...account, standing: target, fixedCharged }
  if (standing && isRunning && proration === 'CREATE_PRORATIONS')
    return { account: { ...charged, pending: addPending(account, draft) }, drafts: [] }
  return withPending(charged, draft)
}

function addPending({ pending }: Account, draft: Draft): Account['pending'] {
  return {
    lines: [...(pending?.lines ?? []), ...draft.lines],
    discount: decimal.add(pending?.discount ?? decimal.zero, draft.discount),
  }
}

/** What waited for an invoice comes with this one. */
function withPending(account: Account, draft: Draft | ChangeDraft): Billed {
  const { pending, terms } = account
  if (!pending) return { account, drafts: isEmpty(draft) ? [] : [draft] }
  const { lines, discount, ...rest } = draft
  const joined = totalled({
    ...rest,
    lines: [...lines, ...pending.lines],
    discount: decimal.add(discount, pending.discount),
    taxPercentage: terms.taxPercentage,
  })
  return { account: { ...account, pending: null }, drafts: isEmpty(joined) ? [] : [{ ...draft, ...joined }] }
}

/** `next` null: nothing more is charged in advance. */
function endPeriod({
  account,
  before,
  next,
  at,
  usage,
}: {
  account: Account
  before: Subscription
  next: Standing | null
  at: EpochMs
  usage: readonly MeasuredUsage[]
}): Billed {
  const { standing, terms, usageCharged } = account
  const currency = terms.currency
  if (!standing || currency === null) return { account, drafts: [] }
  const ended = { start: standing.period.start, end: Math.min(at, standing.period.end) }
  const { draft, charged } = periodDraft({
    content: before,
    terms: { ...terms, currency },
    ended,
    standing,
    fixedCharged: account.fixedCharged,
    next,
    usage,
    alreadyCharged: usageCharged,
    timeZone: before.timeZone,
  })
  return withPending({ ...account, standing: next, fixedCharged: next?.net ?? decimal.zero, usageCharged: charged }, draft)
}

/** Nothing is charged from now on. What was not used is given back when that was asked; a successor does it with its own invoice. */
function end({ account, change, usage }: { account: Account; change: BilledChange; usage: readonly MeasuredUsage[] }): Billed {
  const { before, at } = change
  const { standing, terms } = account
  const credit =
    change.creditsUnused || (account.creditsUnusedAtEnd && !isReplaced(change.after))
      ? changeDraft({ reason: 'SUBSCRIPTION_UPDATE', before: standing, after: null, taxPercentage: terms.taxPercentage, at })
      : null
  const closed = before ? endPeriod({ account, before, next: null, at, usage }) : { account, drafts: [] }
  const ended = { ...closed.account, standing: null }
  return { account: ended, drafts: [...closed.drafts, ...(credit && !isEmpty(credit) ? [credit] : [])] }
}

const isEmpty = ({ lines }: Draft): boolean => lines.every(({ amount }) => amount === decimal.zero)

function isSameStanding(a: Standing, b: Standing): boolean {
  return a.currency === b.currency && a.net === b.net && a.gross === b.gross && isSamePeriod(a.period, b.period) && sameLines(a, b)
}

function sameLines({ lines: a }: Standing, { lines: b }: Standing): boolean {
  return (
    a.length === b.length &&
    a.every((line, index) => line.priceId === b[index]!.priceId && line.quantity === b[index]!.quantity && line.amount === b[index]!.amount)
  )
}

/** Whether a subscription that ended did so because another took its place. */
export const isReplaced = ({ status, cancelReason }: Subscription): boolean =>
  isFinal(status) && (cancelReason === 'UpgradeOrDowngrade' || cancelReason === 'TrialConverted')
