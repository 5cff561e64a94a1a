/**
 * Which invoices a subscription makes: of its beginning, of a change, of a new billing period, of its end. Pure: what was charged before is an
 * argument, and the estimate of a change is the draft of its invoice.
 */
import type { EpochMs } from '../../kernel/clock.js'
import * as decimal from '../../kernel/decimal.js'
import { exactly, round, share } from '../../kernel/money.js'
import { isSamePeriod } from './account.js'
import type { Content, Discount, Draft, InvoiceReason, Line, Period, Standing, Terms, UsageCharged } from './billing.js'
import { chargesOf, lineOf } from './charges.js'
import { discountOn } from './coupon.js'
import { unitsUsed } from './price.js'
import { creditOf, type Unused, type UnusedShare, unusedOf, unusedShare } from './proration.js'

/** What the content costs in advance for a whole billing period; null: it is not sold for money. */
export function standingOf({
  content,
  terms,
  period,
  discount,
}: {
  content: Content
  terms: Terms
  period: Period
  /** That holds for it; null: none. */
  discount: Discount | null
}): Standing | null {
  if (terms.currency === null || content.billingPeriod === null) return null
  const lines = chargesOf(content, terms).fixed.map(lineOf)
  const gross = sum(lines.map(({ amount }) => amount))
  const net = decimal.subtract(gross, discountOn(gross, discount, terms.currency))
  return { period, currency: terms.currency, lines, gross, net, taxPercentage: terms.taxPercentage }
}

/** A draft that changes what stands: credit for the old (negative), debit for the new (positive), both less their discounts. */
export interface ChangeDraft extends Draft {
  credit: decimal.Decimal
  debit: decimal.Decimal
}

/**
 * The invoice of a beginning or of a change at `at`. `before`: what stands until then, null when nothing was charged (a trial, a free plan);
 * `after`: what stands from then on, null when nothing is charged any more. With nothing before, the whole of the new period is charged, also when
 * it has begun already. Both are of one currency. Null when nothing stands in either: there is nothing to invoice.
 */
export function changeDraft({
  reason,
  before,
  after,
  taxPercentage,
  at,
}: {
  reason: InvoiceReason
  before: Standing | null
  after: Standing | null
  taxPercentage: decimal.Decimal | null
  at: EpochMs
}): ChangeDraft | null {
  const stands = after ?? before
  if (!stands) return null
  const { currency } = stands
  const credit = before ? creditOf(before, at) : nothing
  const debit = after ? unusedOf(after, before ? at : Math.min(at, after.period.start)) : nothing
  // It is given back as it was charged, whatever it is now.
  const creditTax = taxOn(credit.net, before?.taxPercentage === undefined ? taxPercentage : before.taxPercentage, currency)
  const draft = totalled({
    reason,
    currency,
    period: { start: at, end: Math.max(at, stands.period.end) },
    // A line that comes to nothing says nothing, unless it is what the subscription is charged by.
    lines: [...credit.lines.filter(({ amount }) => amount !== decimal.zero), ...debit.lines],
    discount: decimal.add(credit.discount, debit.discount),
    tax: decimal.add(creditTax, taxOn(debit.net, taxPercentage, currency)),
  })
  const given = decimal.negate(decimal.add(credit.net, creditTax))
  return {
    ...draft,
    ...(given !== decimal.zero && { credits: [{ chargeId: before!.chargedBy ?? null, amount: given }] }),
    ...(after && { isCharge: true }),
    credit: credit.net,
    debit: debit.net,
  }
}

const nothing: Unused = { lines: [], gross: decimal.zero, discount: decimal.zero, net: decimal.zero }

/** Usage of a price in a period that has ended. */
export interface MeasuredUsage {
  priceId: string
  period: Period
  /** As it is counted, since `since`. */
  quantity: decimal.Decimal
  /** Where that is earlier than the period: since when, and what was counted until the period began. */
  earlier?: { since: EpochMs; quantity: decimal.Decimal }
}

/**
 * The invoice of a period's end: what is charged in advance for the `next` period (null: the subscription has ended), the usage of the one that
 * `ended`, what is missing to the agreed least spend, and usage of earlier periods that came late.
 */
export function periodDraft({
  content,
  terms,
  ended,
  standing,
  fixedCharged,
  next,
  usage,
  alreadyCharged,
  discount,
}: {
  /** As it was in the period that ended. */
  content: Content
  terms: Terms & { currency: string }
  ended: Period
  /** What stood in it; null: nothing. */
  standing: Standing | null
  /** What was charged in advance for it, all changes included and less discounts; counts for the least spend. */
  fixedCharged: decimal.Decimal
  next: Standing | null
  /** Of `ended`, and of earlier periods in which late usage may have come. */
  usage: readonly MeasuredUsage[]
  /** What earlier invoices charged for usage. */
  alreadyCharged: readonly UsageCharged[]
  /** That holds when the invoice is made, whatever held when something was used; null: none. */
  discount: Discount | null
}): { draft: Draft; charged: UsageCharged[] } {
  const { currency } = terms
  const { charged, lines: usageLines } = usageLinesOf({ usage, alreadyCharged, charges: chargesOf(content, terms).usage })
  const usageTotal = sum(usageLines.map(({ amount }) => amount))
  // Beside the advance charge of the same invoice, or of the period that is cut short.
  const usageDiscount = discountOnUsage({ fixed: (next ?? standing)?.gross ?? decimal.zero, usageTotal, discount, currency })
  const spent = decimal.add(fixedCharged, decimal.subtract(usageTotal, usageDiscount))
  const leastSpend = adjustment({ terms, spent, ended, standing })
  const fixedLines = next ? next.lines.map((line): Line => ({ ...line, period: next.period, isProration: false })) : []
  const fixedDiscount = next ? decimal.subtract(next.gross, next.net) : decimal.zero
  const draft = totalled({
    reason: 'BILLING_CYCLE',
    currency,
    period: next?.period ?? ended,
    lines: [...fixedLines, ...usageLines, ...leastSpend],
    ...(next && { isCharge: true }),
    discount: decimal.add(fixedDiscount, usageDiscount),
    tax: decimal.add(
      taxOn(next?.net ?? decimal.zero, terms.taxPercentage, currency),
      taxOn(sum([usageTotal, decimal.negate(usageDiscount), ...leastSpend.map(({ amount }) => amount)]), terms.taxPercentage, currency),
    ),
  })
  return { draft, charged }
}

/** What usage comes to: whole where it was not charged before, else what came late. */
function usageLinesOf({
  usage,
  alreadyCharged,
  charges = [],
}: {
  usage: readonly MeasuredUsage[]
  alreadyCharged: readonly UsageCharged[]
  /** What holds for usage that was not charged before. */
  charges?: readonly NonNullable<UsageCharged['charge']>[]
}): { charged: UsageCharged[]; lines: Line[] } {
  const charged: UsageCharged[] = []
  const lines: Line[] = []
  const startOf = (of: { priceId: string; period: Period }) => `${of.priceId} ${of.period.start}`
  const known = new Map(alreadyCharged.toReversed().map((one) => [startOf(one), one]))
  const chargeOf = new Map(charges.map((charge) => [charge.price.id, charge]))
  for (const { priceId, period, quantity: until, earlier } of usage) {
    const before = known.get(startOf({ priceId, period }))
    const charge = before?.charge ?? chargeOf.get(priceId)
    if (!charge) continue
    const { price, version } = charge
    const quantity = unitsUsed(price, { until, before: earlier?.quantity })
    const line = { ...lineOf({ price, version, quantity }), period, isProration: false }
    const { kind, displayName } = version
    const since = earlier && { since: earlier.since }
    charged.push({ priceId, period, ...since, amount: line.amount, charge: { price, version: { kind, displayName } } })
    if (!before) lines.push(line)
    else if (before.amount !== line.amount)
      lines.push({
        ...line,
        type: 'Other',
        description: `Late usage: ${line.description}`,
        unitAmount: null,
        amount: decimal.subtract(line.amount, before.amount),
      })
  }
  return { charged, lines }
}

/**
 * The invoice of usage that came after the last one, when no more can come; null: none did. What a fixed discount had left of those periods is not known
 * any more, so only a percentage is taken off.
 */
export function lateUsageDraft({
  terms,
  usage,
  alreadyCharged,
  discount: inForce,
}: {
  terms: Terms
  usage: readonly MeasuredUsage[]
  alreadyCharged: readonly UsageCharged[]
  /** That holds when the invoice is made; null: none. */
  discount: Discount | null
}): Draft | null {
  const { lines } = usageLinesOf({ usage, alreadyCharged })
  const currency = alreadyCharged.find(({ charge }) => charge)?.charge?.price.currency
  if (lines.length === 0 || !currency) return null
  const start = Math.min(...lines.map(({ period }) => period.start))
  const end = Math.max(...lines.map(({ period }) => period.end))
  const total = sum(lines.map(({ amount }) => amount))
  const discount = inForce?.percentOff ? discountOn(total, inForce, currency) : decimal.zero
  const tax = taxOn(decimal.subtract(total, discount), terms.taxPercentage, currency)
  return totalled({ reason: 'BILLING_CYCLE', currency, period: { start, end }, lines, discount, tax })
}

/** A discount is given once for a period: what the fixed part has left of it goes to the usage. */
function discountOnUsage({
  fixed,
  usageTotal,
  discount,
  currency,
}: {
  fixed: decimal.Decimal
  usageTotal: decimal.Decimal
  discount: Discount | null
  currency: string
}): decimal.Decimal {
  return decimal.subtract(discountOn(decimal.add(fixed, usageTotal), discount, currency), discountOn(fixed, discount, currency))
}

/** Of a period that was cut short, at its end or because another subscription was charged for its beginning, the least spend is cut alike. */
function adjustment({
  terms: { minimumSpend, currency },
  spent,
  ended,
  standing,
}: {
  terms: Terms & { currency: string }
  spent: decimal.Decimal
  ended: Period
  standing: Standing | null
}): Line[] {
  if (!minimumSpend || minimumSpend.currency !== currency) return []
  const whole = round(exactly(minimumSpend.amount), currency)
  const left = ({ numerator, denominator }: UnusedShare) => share(whole, numerator, denominator, currency)
  const period = standing?.period ?? ended
  const least = decimal.subtract(left(unusedShare(period, ended.start)), left(unusedShare(period, ended.end)))
  const missing = decimal.subtract(least, spent)
  if (decimal.compare(missing, decimal.zero) <= 0) return []
  const line = { type: 'MinimumSpendAdjustmentCharge', description: 'To the agreed minimum', priceId: null } as const
  return [{ ...line, quantity: decimal.fromNumber(1), unitAmount: missing, amount: missing, period: ended, isProration: false }]
}

const oneHundred = decimal.toBillionths(decimal.fromNumber(100))

/** Adds up the lines. */
export function totalled(draft: Omit<Draft, 'subTotal' | 'total'>): Draft {
  const { lines, discount, tax } = draft
  const subTotal = sum(lines.map(({ amount }) => amount))
  return { ...draft, subTotal, total: sum([subTotal, decimal.negate(discount), tax]) }
}

/**
 * On what is left after the discount; negative on credit. What is charged in advance, credit and usage are taxed each on its own: so the tax that is
 * given back is the difference of what was charged and what it would have been, to the minor unit.
 */
export function taxOn(amount: decimal.Decimal, taxPercentage: decimal.Decimal | null, currency: string): decimal.Decimal {
  return taxPercentage === null ? decimal.zero : share(amount, decimal.toBillionths(taxPercentage), oneHundred, currency)
}

export const sum = (amounts: readonly decimal.Decimal[]): decimal.Decimal => amounts.reduce(decimal.add, decimal.zero)

export const isEmpty = ({ lines }: Draft): boolean => lines.every(({ amount }) => amount === decimal.zero)

/** Of the same things for the same money. */
export function isSameStanding(a: Standing, b: Standing): boolean {
  return a.currency === b.currency && a.net === b.net && a.gross === b.gross && isSamePeriod(a.period, b.period) && sameLines(a, b)
}

/** In any order: add-ons are read in another one than they were bought in. */
function sameLines({ lines: a }: Standing, { lines: b }: Standing): boolean {
  const others = new Map(b.map((line) => [line.priceId, line]))
  return (
    a.length === b.length &&
    a.every(({ priceId, quantity, amount }) => {
      const other = others.get(priceId)
      return other !== undefined && quantity === other.quantity && amount === other.amount
    })
  )
}
