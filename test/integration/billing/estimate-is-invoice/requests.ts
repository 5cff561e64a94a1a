/** What a customer of the check asks for, as the services take it. */
import type { BillingRequest } from '../../../../src/billing/rules/request.js'
import * as decimal from '../../../../src/kernel/decimal.js'
import type { ContentSpec, CustomerSpec } from './cases.js'

export const seats = (quantity: number) => ({ featureRefId: 'seats', quantity: decimal.fromNumber(quantity) })
export const boxes = (quantity: number) => ({ featureRefId: 'boxes', quantity: decimal.fromNumber(quantity) })

export function contentRequest(content: ContentSpec) {
  return {
    addons: [
      ...(content.support > 0 ? [{ addonRefId: 'support', quantity: content.support }] : []),
      ...(content.boxes !== null ? [{ addonRefId: 'storage', quantity: 1 }] : []),
    ],
    quantities: [
      ...(content.planRefId === 'tried' ? [] : [seats(content.seats)]),
      ...(content.boxes !== null ? [boxes(content.boxes)] : []),
    ],
  }
}

export function termsOf(
  { discount, taxPercentage, minimumSpend, overrides, currency }: CustomerSpec,
  { planRefId }: ContentSpec,
): BillingRequest {
  const adHoc = { name: null, percentOff: null, amountsOff: null, durationInMonths: null }
  const own = { addonRefId: null, tiers: null, blockSize: null }
  return {
    ...(discount &&
      !('isCustomers' in discount && discount.isCustomers) && {
        coupon:
          'couponRefId' in discount
            ? { couponRefId: discount.couponRefId }
            : 'percentOff' in discount
              ? { discount: { ...adHoc, percentOff: decimal.fromNumber(discount.percentOff) } }
              : {
                  discount: {
                    ...adHoc,
                    amountsOff: Object.entries(discount.amountOff).map(([code, amount]) => ({
                      currency: code,
                      amount: decimal.fromNumber(amount),
                    })),
                    durationInMonths: discount.months,
                  },
                },
      }),
    taxPercentage: taxPercentage === null ? null : decimal.fromNumber(taxPercentage),
    ...(minimumSpend !== null && { minimumSpend: { amount: decimal.fromNumber(minimumSpend), currency: currency ?? 'USD' } }),
    ...(overrides &&
      planRefId !== 'tried' && {
        priceOverrides: [
          { ...own, featureRefId: null, amount: decimal.fromText(overrides.flat) },
          { ...own, featureRefId: 'seats', amount: decimal.fromText(overrides.seat) },
        ],
      }),
  }
}
