import type { Line } from '../../../billing/rules/billing.js'
import type { Charge } from '../../../billing/rules/charges.js'
import { tierParts } from '../../../billing/rules/price.js'
import { isPerUnit, unitsGiven } from '../../../catalog/model/units.js'
import type { NextInvoice } from '../../../estimates/service.js'
import * as decimal from '../../../kernel/decimal.js'
import type { Subscription } from '../../../subscription/rules/subscription.js'
import { toPrice } from '../catalog/price.types.js'
import { money, toBalance, toDiscount, toTaxDetails } from './estimate-answers.js'
import type {
  SubscriptionInvoicePreview,
  SubscriptionInvoicePreviewLineItem,
  SubscriptionInvoicePreviewLineItemData,
} from './invoice-preview.types.js'

export function toInvoicePreview({
  documents,
  draft,
  balance,
  used,
  amountDue,
  at,
  terms,
  discount: held,
  subscription,
  charges,
}: NextInvoice): SubscriptionInvoicePreview {
  const { currency, lines, subTotal, discount, tax, total } = draft
  const adjustment = lines.find(({ type }) => type === 'MinimumSpendAdjustmentCharge')?.amount ?? decimal.zero
  return {
    amountDue: money(amountDue, currency),
    credits: balance === decimal.zero ? null : toBalance({ balance: { initial: balance, used }, currency }),
    discount: discount === decimal.zero ? null : money(discount, currency),
    discountDetails: toDiscount(held, currency),
    lastUpdatedAt: at,
    // Where the currency changes, the lines say more than the sums can.
    lines: documents.flatMap((document) =>
      document.lines.map((line) =>
        toLine(line, document.currency, subscription, line.priceId === null ? undefined : charges.get(line.priceId)),
      ),
    ),
    minimumSpendAdjustment: money(adjustment, currency),
    subTotal: money(subTotal, currency),
    subTotalExcludingTax: money(subTotal, currency),
    tax: money(tax, currency),
    taxDetails: toTaxDetails(terms),
    total: money(total, currency),
    totalExcludingTax: money(decimal.subtract(total, tax), currency),
  }
}

function toLine(line: Line, currency: string, subscription: Subscription, charge: Charge | undefined): SubscriptionInvoicePreviewLineItem {
  const { type, description, quantity, unitAmount, amount, period, isProration } = line
  const entitlement = charge && entitlementOf(subscription, charge)
  const limit = entitlement && {
    hasSoftLimit: entitlement.hasSoftLimit,
    usageLimit: entitlement.hasUnlimitedUsage || entitlement.usageLimit === null ? null : decimal.toNumber(entitlement.usageLimit),
  }
  const limits = limit ?? { hasSoftLimit: null, usageLimit: null }
  return {
    amount: money(amount, currency),
    costDescription: unitAmount === null ? `${quantity} units` : `${quantity} × ${unitAmount} ${currency}`,
    description,
    ...limits,
    lines: charge?.price.tiers ? toTierLines(line, currency, charge, limits) : null,
    period,
    price: charge ? { ...toPrice(subscription.environmentId, charge.version.id, charge.price), isOverridePrice: charge.isAgreed } : null,
    proration: isProration,
    quantity: toInt(quantity),
    type,
    unitPrice: unitAmount && money(unitAmount, currency),
  }
}

/** To what the line charges for; undefined: to nothing. The subscription's own is in place of the package's. */
function entitlementOf({ ownEntitlements }: Subscription, { price, version, quantity }: Charge) {
  const { featureId } = price
  if (featureId === null) return undefined
  const isOfFeature = (entitlement: { featureId: string }) => entitlement.featureId === featureId
  const agreed = ownEntitlements.find(isOfFeature)
  const sold = version.entitlements.find(isOfFeature)
  if (agreed || !sold || !isPerUnit(price)) return agreed ?? sold
  return { ...sold, usageLimit: decimal.max(sold.usageLimit ?? decimal.zero, unitsGiven(price, quantity)) }
}

/** How the quantity falls on the tiers of the price. */
function toTierLines(
  { description, quantity, isProration }: Line,
  currency: string,
  { price }: Charge,
  limits: Pick<SubscriptionInvoicePreviewLineItemData, 'hasSoftLimit' | 'usageLimit'>,
): SubscriptionInvoicePreviewLineItemData[] {
  return tierParts(price, quantity).map(({ tier: { unitPrice, flatPrice, upTo }, above, quantity: units }) => {
    const costs = [
      unitPrice === null ? null : `${units} × ${unitPrice} ${currency}`,
      flatPrice === null ? null : `${flatPrice} ${currency}`,
    ]
    return {
      ...limits,
      costDescription: costs.filter((cost) => cost !== null).join(' + '),
      description: `${description}: above ${above}${upTo === null ? '' : ` to ${upTo}`}`,
      proration: isProration,
      quantity: toInt(units),
      type: 'TierCharge',
    }
  })
}

/** The field is an Int: usage in fractions of a unit, or beyond 2^31, does not fit. */
function toInt(quantity: decimal.Decimal): number | null {
  const units = decimal.toNumber(quantity)
  return Number.isInteger(units) && Math.abs(units) < 2 ** 31 ? units : null
}
