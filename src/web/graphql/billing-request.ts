import type { PriceOverride } from '../../billing/model.js'
import type { AdHocDiscount, AppliedCoupon, BillingRequest } from '../../billing/request.js'
import * as decimal from '../../kernel/decimal.js'
import type { Money } from '../../kernel/money.js'
import { invalidInput } from '../../kernel/problem.js'
import type { CheckoutOptions, SubscriptionBillingInfo } from './billing.inputs.js'
import type * as enums from './enums.js'
import { refuseNotHonoured } from './not-yet.js'
import type { MoneyInputDto, PriceOverrideInput, SubscriptionMinimumSpendValueInput } from './price.inputs.js'
import type { SubscriptionCouponInput } from './subscription-coupon.inputs.js'

/** What the inputs about subscriptions have in common that is about money. */
export interface BillingParams {
  appliedCoupon?: SubscriptionCouponInput | null
  awaitPaymentConfirmation?: boolean | null
  billingInformation?: SubscriptionBillingInfo | null
  checkoutOptions?: CheckoutOptions | null
  minimumSpend?: SubscriptionMinimumSpendValueInput | null
  paymentCollectionMethod?: keyof typeof enums.PaymentCollectionMethod | null
  priceOverrides?: PriceOverrideInput[] | null
  priceUnitAmount?: number | null
  promotionCode?: string | null
}

/**
 * What is agreed about money; what the input does not name stays as it is. A checkout is a payment that is waited for. Addresses, tax identifiers
 * and the like are the provider's: the builtin one has no use for them and keeps nothing of them.
 */
export function fromBilling(params: BillingParams): BillingRequest {
  const { awaitPaymentConfirmation, billingInformation, checkoutOptions, minimumSpend, paymentCollectionMethod } = params
  refuseNotHonoured(params, 'priceUnitAmount')
  if (billingInformation) refuseUnknownReferences(billingInformation)
  const coupon = fromCoupon(params)
  const request: BillingRequest = {
    collectionMethod: paymentCollectionMethod ?? (checkoutOptions ? 'CHARGE' : null),
    awaitsPayment: awaitPaymentConfirmation ?? null,
    proration: billingInformation?.prorationBehavior ?? null,
  }
  if (coupon !== undefined) request.coupon = coupon
  if (params.priceOverrides) request.priceOverrides = params.priceOverrides.map(fromPriceOverride)
  if (minimumSpend !== undefined) request.minimumSpend = minimumSpend?.minimum ? toMoney(minimumSpend.minimum, 'minimumSpend') : null
  if (billingInformation?.taxPercentage !== undefined && billingInformation.taxPercentage !== null)
    request.taxPercentage = decimal.fromNumber(billingInformation.taxPercentage)
  return request
}

/** References to records at a provider that is not there. */
function refuseUnknownReferences(info: SubscriptionBillingInfo): void {
  if (info.taxRateIds && info.taxRateIds.length > 0) refuseNotHonoured(info, 'taxRateIds')
  if (info.isInvoicePaid) refuseNotHonoured(info, 'isInvoicePaid')
  if (info.couponId) refuseNotHonoured(info, 'couponId')
  if (info.chargeOnBehalfOfAccount) refuseNotHonoured(info, 'chargeOnBehalfOfAccount')
}

/** Undefined: nothing was said. The promotion code has a place of its own beside the coupon. */
function fromCoupon({ appliedCoupon, promotionCode }: BillingParams): AppliedCoupon | null | undefined {
  if (appliedCoupon && promotionCode) throw invalidInput('Send promotionCode in appliedCoupon, not beside it.', { path: 'promotionCode' })
  if (promotionCode) return { promotionCode }
  if (!appliedCoupon) return appliedCoupon
  const { couponId, billingCouponId, promotionCode: code, discount, configuration } = appliedCoupon
  return {
    couponRefId: couponId,
    billingCouponId,
    promotionCode: code,
    discount: discount && fromDiscount(discount),
    startDate: configuration?.startDate,
  }
}

function fromDiscount(discount: NonNullable<SubscriptionCouponInput['discount']>): AdHocDiscount {
  const { name, percentOff, amountsOff, durationInMonths } = discount
  return {
    name: name ?? null,
    percentOff: percentOff === null || percentOff === undefined ? null : decimal.fromNumber(percentOff),
    amountsOff: amountsOff?.map((money) => toMoney(money, 'appliedCoupon.discount.amountsOff')) ?? null,
    durationInMonths: durationInMonths ?? null,
  }
}

function fromPriceOverride(override: PriceOverrideInput, index: number): PriceOverride {
  refuseNotHonoured(override, 'creditGrantCadence', 'creditRate', 'currencyId')
  const { addonId, baseCharge, blockSize, featureId, price, tiers } = override
  const path = `priceOverrides[${index}]`
  if (!baseCharge === !featureId) throw invalidInput(`${path} names either a feature or the base charge.`, { path })
  const amount = (money: MoneyInputDto | null | undefined) => (money ? decimal.fromNumber(money.amount) : null)
  return {
    addonRefId: addonId ?? null,
    featureRefId: featureId ?? null,
    amount: amount(price),
    tiers:
      tiers?.map(({ upTo, unitPrice, flatPrice }) => ({
        upTo: upTo === null || upTo === undefined ? null : decimal.fromNumber(upTo),
        unitPrice: amount(unitPrice),
        flatPrice: amount(flatPrice),
      })) ?? null,
    blockSize: blockSize ?? null,
  }
}

function toMoney({ amount, currency }: MoneyInputDto, path: string): Money {
  if (!currency) throw invalidInput(`${path} needs a currency.`, { path })
  return { amount: decimal.fromNumber(amount), currency }
}
