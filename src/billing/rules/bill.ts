/**
 * What a change of a subscription means for its invoices. Pure: the same function drafts the invoice of a change that happens and answers what one
 * would cost, so that the two cannot differ.
 *
 * successor  a subscription that replaces another one: its first invoice carries the credit for the other's unused time
 */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { invalidInput } from '../../kernel/problem.js'
import { isFinal, type Subscription } from '../../subscription/rules/subscription.js'
import {
  type Account,
  type BilledChange,
  chargedPeriod,
  discountAt,
  endedPart,
  isCharged,
  isReplaced,
  isSamePeriod,
  newAccount,
  stillOpen,
  usageKey,
} from './account.js'
import { pastCharges, withPastPeriods } from './backdated.js'
import type { Discount, InvoiceReason, Period, Standing, Terms } from './billing.js'
import { monthsOf, withBegun } from './coupon.js'
import { type Charges, payerOf, type Settlement, settle, uncredited, type WaitingCredit } from './credit.js'
import { changeDraft, isEmpty, isSameStanding, type MeasuredUsage, periodDraft, standingOf, sum } from './invoice.js'
import { addPending, handedOver, type Invoiced, withPending } from './pending.js'
import { creditOf, unusedOf } from './proration.js'

export interface Billed extends Invoiced {
  /** Absent: none. */
  waiting?: WaitingCredit[]
}

interface Bill {
  account: Account
  terms?: Terms
  change: BilledChange
  replaced?: Standing | null
  usage?: readonly MeasuredUsage[]
  customerDiscount?: Discount | null
  /** How what stands was paid; absent: nothing is known against it. */
  charges?: Charges
}

/**
 * The account after the change, and the invoices that it makes, those with nothing in them left out. `replaced`: what stands of the subscription that
 * this one replaces. `terms`: what is agreed from the change on; absent: as before. What ends with the change is charged by the terms of before.
 * `customerDiscount`: of the customer's coupon as it is now, for what has no discount of its own. `charges`: the state of the invoices that charged what
 * is given back.
 */
export function bill(request: Bill): Billed {
  const { account: known, change, customerDiscount = null } = request
  const { after, at, before, isBackdated } = change
  const terms = request.terms ?? known.terms
  if (!isBackdated) return counted(billChange({ ...request, account: known, terms }), change)
  if (before) throw invalidInput('isBackdated is for a new subscription: leave it out.', { path: 'billingInformation.isBackdated' })
  const until = isCharged(after) ? chargedPeriod(after, at)!.start : null
  const past = until === null ? null : pastCharges(after, { ...known, terms }, { until, customerDiscount })
  if (!past) return counted(billChange({ ...request, account: known, terms }), change)
  const { drafts, ...billed } = billChange({ ...request, account: { ...known, begun: past.begun }, terms })
  return counted({ ...billed, drafts: drafts.map((draft) => withPastPeriods(draft, past.standings, terms)) }, change)
}

/** With the period that is charged now among those that coupons count. */
function counted(billed: Billed, { after, at }: BilledChange): Billed {
  const { account, drafts } = billed
  const { standing, begun } = account
  if (!standing) return billed
  const { start } = standing.period
  const known = begun.find((period) => period.start === start)
  const isAbove0 = (amount: decimal.Decimal) => decimal.compare(amount, decimal.zero) > 0
  const isCounted = isAbove0(standing.gross) || drafts.some(({ period, subTotal }) => period.start === start && isAbove0(subTotal))
  const months = known?.months || (isCounted ? monthsOf(after) : 0)
  return { ...billed, account: { ...account, begun: withBegun(begun, { start, chargedFrom: known?.chargedFrom ?? at, months }) } }
}

function billChange({ account, ...request }: Bill & { terms: Terms }): Billed {
  const { account: known, drafts } = handedOver(withEndDecided(account, request.change), request.change)
  const billed = billDecided({ ...request, account: known })
  return { ...billed, drafts: [...drafts, ...billed.drafts] }
}

/** An end that is decided anew is credited as is asked now. */
function withEndDecided(account: Account, { before, after, creditsUnused }: BilledChange): Account {
  if (!before || isFinal(after.status)) return account
  const isSame = before.effectiveEndDate === after.effectiveEndDate && before.cancellationDate === after.cancellationDate
  return isSame && !creditsUnused ? account : { ...account, creditsUnusedAtEnd: creditsUnused }
}

function billDecided({
  account: known,
  terms,
  change,
  replaced = null,
  usage = [],
  customerDiscount = null,
  charges = () => null,
}: Bill & { terms: Terms }): Billed {
  const { before, after, at } = change
  const { standing } = known
  const account = { ...known, terms }
  const target = isCharged(after) ? standsAfter({ known, account, before, after, at, customerDiscount }) : null
  const ending = { account: known, terms, at, usage, customerDiscount }
  const payment = { at, payerId: payerOf(after), charges }
  const settled = (other: Standing) => settle(other, { ...payment, terms })
  if (standing && before && change.isRenewal) {
    if (!target || target.currency === standing.currency) return endPeriod({ ...ending, before, next: target })
    const closed = endPeriod({ ...ending, before, next: null })
    const begun = charge({ account: closed.account, target, replaced: null, change, settled })
    return { account: begun.account, drafts: [...closed.drafts, ...begun.drafts] }
  }
  if (before?.status === 'PAYMENT_PENDING' && !target) return { account: newAccount(terms), drafts: [] }
  if (standing && before && !target)
    return end({ ...ending, before, change, settled: (other) => settle(other, { ...payment, terms: known.terms }) })
  if (before && target && target.period.end <= at && (!standing || at >= standing.period.end)) {
    // A change at the instant of the renewal, which comes next: what is sold from then on is charged by it. Of several the first ends the period.
    return endPeriod({ ...ending, before, next: null })
  }
  if (standing && before && !isSamePeriod(standing.period, target!.period)) {
    const hasWaited = before.status === 'PAYMENT_PENDING'
    // What waited has used nothing; meanwhile the other one may have been charged for another period.
    const closed = hasWaited
      ? { account: { ...account, credited: null }, drafts: [] }
      : endPeriod({ ...ending, account: { ...known, pending: null }, before, next: null, isGivenBack: change.proration !== 'NONE' })
    const begun = { ...closed.account, standing, pending: account.pending }
    const changed = charge({ account: begun, target, replaced: hasWaited ? replaced : null, change, settled })
    return { ...changed, drafts: [...closed.drafts, ...changed.drafts] }
  }
  if (standing && before?.status === 'PAYMENT_PENDING' && after.status === 'ACTIVE') return payOff({ account, replaced, settled })
  const waits = before?.status !== 'PAYMENT_PENDING' && after.status === 'PAYMENT_PENDING'
  if (!waits) return charge({ account, target, replaced, change, settled })
  // What is not on this invoice (it is in another currency, of another payer, not paid itself, or waits for an invoice) is given when the payment has come.
  const running = replaced?.chargedBy !== undefined && replaced.currency === target?.currency ? replaced : null
  const { account: waiting, drafts } = charge({ account, target, replaced: running, change, settled })
  const isCredited = running !== null && settled(running).isOnInvoice
  const credited = isCredited ? { chargedBy: running.chargedBy, periodStart: running.period.start } : null
  return { account: { ...waiting, credited }, drafts: drafts.filter(({ payerId }) => payerId === undefined) }
}

/** What is to stand after the change: what is sold then, less the discount of then. */
function standsAfter({
  known,
  account,
  before,
  after,
  at,
  customerDiscount,
}: {
  known: Account
  account: Account
  before: Subscription | null
  after: Subscription
  at: EpochMs
  customerDiscount: Discount | null
}): Standing | null {
  const { standing } = known
  const { terms } = account
  const period = chargedPeriod(after, at)!
  const discount = discountAt(account, { customerDiscount, period, at })
  const target = standingOf({ content: after, terms, period, discount })
  if (!target || !standing || !before || !isSamePeriod(standing.period, period) || terms.discount !== known.terms.discount) return target
  // Neither a coupon that its customer was given or lost is a change of the subscription, nor what an earlier one has left uncharged.
  const sold = standingOf({ content: before, terms: known.terms, period, discount })
  return sold && isSameStanding(sold, target) ? standing : target
}

/** The first payment came. The other's unused time was credited by the invoice, unless it was charged anew since: for another period, or by a change. */
function payOff({ account, replaced, settled }: { account: Account; replaced: Standing | null; settled: Settle }): Billed {
  const { credited } = account
  const paid = { ...account, credited: null }
  const isCredited = credited?.periodStart === replaced?.period.start && credited?.chargedBy === replaced?.chargedBy
  if (!replaced || isCredited) return { account: paid, drafts: [] }
  const { notes, waiting } = settled(replaced)
  return { account: paid, drafts: notes, waiting }
}

type Settle = (standing: Standing) => Settlement

/** What is charged in advance becomes `target`. */
function charge({
  account,
  target,
  replaced,
  change: { at, proration, isRenewal },
  settled,
}: {
  account: Account
  target: Standing | null
  replaced: Standing | null
  settled: Settle
  change: Pick<BilledChange, 'at' | 'proration' | 'isRenewal'>
}): Billed {
  const { standing, terms } = account
  if (!target || (standing && isSameStanding(standing, target))) return { account, drafts: [] }
  const foreign = [standing, replaced].find((other) => other && other.currency !== target.currency && at < other.period.end)
  if (foreign) return changeCurrency({ account, target, foreign, change: { at, proration, isRenewal }, settled })
  const running = [standing, replaced].find((other) => other?.currency === target.currency && at < other.period.end) ?? null
  const isOwnRunning = standing !== null && at < standing.period.end
  const isKept = running !== null && isSamePeriod(running.period, target.period)
  // What stands stays what was charged, also where another subscription was charged it.
  if (isKept && proration === 'NONE') {
    const fixedCharged = running === standing ? account.fixedCharged : unusedOf(running, at).net
    return { account: { ...account, standing: running, fixedCharged }, drafts: [] }
  }
  const reason: InvoiceReason =
    isRenewal || (standing && !isOwnRunning) ? 'BILLING_CYCLE' : standing ? 'SUBSCRIPTION_UPDATE' : 'SUBSCRIPTION_CREATION'
  const credited = running && (isKept || proration !== 'NONE') ? running : null
  const { isOnInvoice, notes, waiting } = credited ? settled(credited) : unsettled
  const before = credited && !isOnInvoice ? uncredited(credited) : credited
  const draft = changeDraft({ reason, before, after: target, taxPercentage: terms.taxPercentage, at })!
  const isOwnKept = standing !== null && isSamePeriod(standing.period, target.period)
  const fixedCharged = isOwnKept ? sum([account.fixedCharged, creditOf(standing, at).net, draft.debit]) : draft.debit
  const after: Account = { ...account, standing: target, fixedCharged }
  const apart = isOnInvoice ? [] : notes
  if (isKept && proration === 'CREATE_PRORATIONS')
    return { account: { ...after, pending: addPending(account, draft) }, drafts: apart, waiting }
  const { account: billed, drafts } = withPending(after, draft)
  return { account: billed, drafts: [...apart, ...drafts], waiting }
}

const unsettled: Settlement = { isOnInvoice: true, notes: [], waiting: [] }

/**
 * What is charged from now on is in another currency than what stands: the unused part of that is given back in its own, by an invoice of its own that
 * comes first, together with what waited for the next invoice. With NONE nothing is given back, and a period that goes on is left as it was charged.
 */
function changeCurrency({
  account: { pending, ...account },
  target,
  foreign,
  change,
  settled,
}: {
  account: Account
  target: Standing
  foreign: Standing
  settled: Settle
  change: Pick<BilledChange, 'at' | 'proration' | 'isRenewal'>
}): Billed {
  const { at, proration } = change
  const { terms, standing } = account
  const isKept = isSamePeriod(foreign.period, target.period)
  if (isKept && proration === 'NONE') return { account: { ...account, pending, standing: foreign }, drafts: [] }
  const { isOnInvoice, notes, waiting } = proration === 'NONE' ? unsettled : settled(foreign)
  const none = uncredited(foreign)
  const nothing = changeDraft({ reason: 'SUBSCRIPTION_UPDATE', before: none, after: null, taxPercentage: null, at })!
  const closed = withPending({ ...account, pending }, (isOnInvoice && notes[0]) || nothing)
  // Where the period goes on, only the rest of it is charged in the new currency.
  const rest = isKept ? { ...none, currency: target.currency } : null
  const reason = standing ? 'SUBSCRIPTION_UPDATE' : 'SUBSCRIPTION_CREATION'
  const debit = changeDraft({ reason, before: rest, after: target, taxPercentage: terms.taxPercentage, at })!
  const drafts = [...(isOnInvoice ? [] : notes), ...closed.drafts, ...(isEmpty(debit) ? [] : [debit])]
  return { account: { ...closed.account, standing: target, fixedCharged: debit.debit }, drafts, waiting }
}

interface Ending {
  account: Account
  /** From the change on. */
  terms: Terms
  at: EpochMs
  usage: readonly MeasuredUsage[]
  customerDiscount: Discount | null
}

/** `next` null: nothing more is charged in advance. `isGivenBack`: what was charged for the rest of the period is none of what was spent in it. */
function endPeriod({
  account,
  terms: agreed,
  before,
  next,
  at,
  usage,
  customerDiscount,
  isGivenBack = false,
}: Ending & { before: Subscription; next: Standing | null; isGivenBack?: boolean }): Billed {
  const { standing, terms, usageCharged } = account
  if (!standing) return { account: { ...account, terms: agreed }, drafts: [] }
  const { currency } = standing
  const ended = endedPart(standing.period, before, at)
  const { draft, charged } = periodDraft({
    content: before,
    terms: { ...terms, currency },
    ended,
    standing,
    fixedCharged: isGivenBack ? decimal.subtract(account.fixedCharged, unusedOf(standing, at).net) : account.fixedCharged,
    next,
    usage,
    alreadyCharged: usageCharged,
    discount: discountAt(account, { customerDiscount, period: next?.period ?? runningAt(standing.period, at), at }),
  })
  const known = new Set(charged.map(usageKey))
  const left = stillOpen([...charged, ...usageCharged.filter((other) => !known.has(usageKey(other)))], at)
  const ending = { ...account, standing: next, fixedCharged: next?.net ?? decimal.zero, usageCharged: left }
  const billed = withPending(ending, draft)
  return { ...billed, account: { ...billed.account, terms: agreed } }
}

/** Where nothing more is charged in advance: what is over has another one after it, which has just begun. */
const runningAt = ({ start, end }: Period, at: EpochMs): Pick<Period, 'start'> => ({ start: at < end ? start : end })

/**
 * Nothing is charged from now on. What was not used is given back when that was asked, or when what is sold for nothing or by agreement takes its place; a
 * successor that is charged does it with its own invoice. It comes first: what is still to be paid is paid from it.
 */
function end({ change, settled, ...ending }: Ending & { before: Subscription; change: BilledChange; settled: Settle }): Billed {
  const { after, proration } = change
  const { account } = ending
  const { standing } = account
  const isTakenOver = !isFinal(after.status) && proration !== 'NONE'
  // What was asked for a later end is not said of one that is asked for now.
  const isAskedBefore = account.creditsUnusedAtEnd && !isReplaced(after) && after.cancelReason !== 'Immediate'
  const isGivenBack = change.creditsUnused || isTakenOver || isAskedBefore
  const { notes, waiting } = standing && isGivenBack ? settled(standing) : unsettled
  const isCredited = isGivenBack || (change.goesToSuccessor ?? false)
  const closed = endPeriod({ ...ending, next: null, isGivenBack: isCredited })
  return { account: { ...closed.account, standing: null }, drafts: [...notes, ...closed.drafts], waiting }
}
