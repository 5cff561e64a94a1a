import type { PriceOverride } from '../../../billing/rules/billing.js'
import type * as provider from '../../../billing/rules/provider.js'
import type { AdHocDiscount, AppliedCoupon, BillingRequest } from '../../../billing/rules/request.js'
import * as decimal from '../../../kernel/decimal.js'
import type { Money } from '../../../kernel/money.js'
import { invalidInput } from '../../../kernel/problem.js'
import type { Budget } from '../../../subscription/rules/subscription.js'
import { fromCountry } from '../catalog/country-code.js'
import type {
  BudgetConfigurationInput,
  MoneyInputDto,
  PriceOverrideInput,
  SubscriptionMinimumSpendValueInput,
} from '../catalog/price.inputs.js'
import type * as enums from '../schema/enums.js'
import { refuseCredits } from '../schema/not-here.js'
import type { CheckoutOptions, SubscriptionBillingInfo } from './billing.inputs.js'
import type { SubscriptionCouponInput } from './subscription-coupon.inputs.js'

/** What the inputs about subscriptions have in common that is about money. */
interface BillingParams {
  appliedCoupon?: SubscriptionCouponInput | null
  awaitPaymentConfirmation?: boolean | null
  billingInformation?: SubscriptionBillingInfo | null
  checkoutOptions?: CheckoutOptions | null
  minimumSpend?: SubscriptionMinimumSpendValueInput | null
  paymentCollectionMethod?: keyof typeof enums.PaymentCollectionMethod | null
  priceOverrides?: PriceOverrideInput[] | null
  promotionCode?: string | null
}

/** What is agreed about money; what the input does not name stays as it is. A checkout is a payment that is waited for. */
export function fromBilling(params: BillingParams): BillingRequest {
  const { awaitPaymentConfirmation, billingInformation, checkoutOptions, minimumSpend, paymentCollectionMethod } = params
  const { prorationBehavior, taxPercentage, taxRateIds, invoiceDaysUntilDue, isInvoicePaid, isBackdated } = billingInformation ?? {}
  const coupon = fromCoupon(params)
  const request: BillingRequest = {
    collectionMethod: paymentCollectionMethod ?? (checkoutOptions ? 'CHARGE' : null),
    awaitsPayment: awaitPaymentConfirmation ?? null,
    proration: prorationBehavior ?? null,
    isPaid: isInvoicePaid ?? null,
    isBackdated: isBackdated ?? null,
  }
  if (coupon !== undefined) request.coupon = coupon
  if (params.priceOverrides) request.priceOverrides = params.priceOverrides.map(fromPriceOverride)
  if (minimumSpend !== undefined) request.minimumSpend = minimumSpend?.minimum ? toMoney(minimumSpend.minimum, 'minimumSpend') : null
  const tax = toDecimal(taxPercentage)
  if (tax !== null) request.taxPercentage = tax
  if (taxRateIds) request.taxRateIds = taxRateIds
  if (typeof invoiceDaysUntilDue === 'number') request.daysUntilDue = invoiceDaysUntilDue
  return request
}

const toDecimal = (value: number | null | undefined): decimal.Decimal | null =>
  value === null || value === undefined ? null : decimal.fromNumber(value)

/** What is only the billing provider's: passed on, and kept nowhere. Null: nothing of it was sent. */
export function fromBillingFacts(info: SubscriptionBillingInfo | null | undefined): provider.BillingInformation | null {
  if (!info) return null
  if (info.chargeOnBehalfOfAccount)
    throw invalidInput('The builtin billing provider has no accounts to charge on behalf of: leave chargeOnBehalfOfAccount out.', {
      path: 'billingInformation.chargeOnBehalfOfAccount',
    })
  const { integrationId, taxIds, metadata } = info
  const country = fromCountry(info.billingAddress?.country, 'billingInformation.billingAddress.country')
  const billingAddress = info.billingAddress && { ...info.billingAddress, country }
  const facts = Object.entries({ billingAddress, integrationId, taxIds, metadata }).filter(
    ([, fact]) => fact !== null && fact !== undefined,
  )
  return facts.length > 0 ? Object.fromEntries(facts) : null
}

/** Null: no checkout is asked for. */
export function fromCheckoutOptions(options: CheckoutOptions | null | undefined): provider.CheckoutOptions | null {
  if (!options) return null
  for (const name of ['successUrl', 'cancelUrl'] as const)
    if (!/^https?:$/.test(URL.canParse(options[name]) ? new URL(options[name]).protocol : ''))
      throw invalidInput(`${name} must be an http or https address.`, { path: `checkoutOptions.${name}` })
  return { ...options }
}

/** Null clears, undefined leaves it. */
export function fromBudget(budget: BudgetConfigurationInput | null | undefined): Budget | null | undefined {
  if (!budget) return budget
  const { limit, hasSoftLimit } = budget
  if (!(limit >= 0)) throw invalidInput('budget.limit must be 0 or more.', { path: 'budget.limit' })
  return { limit: decimal.fromNumber(limit), hasSoftLimit }
}

/** Undefined: nothing was said. The promotion code, and a coupon of the provider, have places of their own beside the coupon. */
function fromCoupon({ appliedCoupon, promotionCode, billingInformation }: BillingParams): AppliedCoupon | null | undefined {
  const billingCouponId = billingInformation?.couponId
  if (billingCouponId) {
    if (appliedCoupon || promotionCode)
      throw invalidInput('Send billingCouponId in appliedCoupon, not couponId in billingInformation beside another coupon.', {
        path: 'billingInformation.couponId',
      })
    return { billingCouponId }
  }
  if (appliedCoupon && promotionCode) throw invalidInput('Send promotionCode in appliedCoupon, not beside it.', { path: 'promotionCode' })
  if (promotionCode) return { promotionCode }
  if (!appliedCoupon) return appliedCoupon
  const { couponId, promotionCode: code, discount, configuration } = appliedCoupon
  return {
    couponRefId: couponId,
    billingCouponId: appliedCoupon.billingCouponId,
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
  refuseCredits(override, 'creditGrantCadence', 'creditRate', 'currencyId')
  const { addonId, baseCharge, blockSize, featureId, price, tiers } = override
  const path = `priceOverrides[${index}]`
  if (!baseCharge === !featureId) throw invalidInput(`${path} names either a feature or the base charge.`, { path })
  const amount = (money: MoneyInputDto | null | undefined) => (money ? decimal.fromNumber(money.amount) : null)
  const moneys = [price, ...(tiers ?? []).flatMap(({ unitPrice, flatPrice }) => [unitPrice, flatPrice])]
  const [currency = null, ...others] = new Set(moneys.flatMap((money) => money?.currency ?? []))
  if (others.length > 0) throw invalidInput(`${path} names several currencies: send an override for each.`, { path })
  return {
    addonRefId: addonId ?? null,
    featureRefId: featureId ?? null,
    currency,
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
