import { Arg, Ctx, Query, Resolver } from 'type-graphql'
import type { Currency } from '../../catalog/model/currency.js'
import { currencySymbol, offer, type PricePoint } from '../../catalog/model/paywall.js'
import { customerNotFound } from '../../customer/model/problems.js'
import * as decimal from '../../kernel/decimal.js'
import type { RequestContext } from './context.js'
import { toCustomer } from './customer.types.js'
import { type Feature, toFeature } from './feature.types.js'
import { refuseAbsent } from './not-here.js'
import { toPlan } from './package.types.js'
import { GetPaywallInput } from './paywall.inputs.js'
import { Paywall, type PaywallPricePoint } from './paywall.types.js'
import { toCustomerSubscription } from './subscription.types.js'

/** What is shown where nothing has a price. */
const fallbackCurrency = 'USD'

@Resolver()
export class PaywallResolver {
  @Query(() => Paywall, {
    description: 'What is offered: the plans of a product with the prices that hold, and what the customer has of them.',
  })
  async paywall(
    @Arg('input', () => GetPaywallInput, { description: 'Which product, and to whom.' }) input: GetPaywallInput,
    @Ctx() context: RequestContext,
  ): Promise<Paywall> {
    refuseAbsent('offers', input, 'offerId')
    const { app, identity, loaders } = context
    const { environmentId } = identity
    const { customerId, resourceId, productId, billingCountryCode } = input
    const customer = customerId ? await app.customers.get(environmentId, customerId) : null
    if (customerId && !customer) throw customerNotFound(customerId)
    const { plans, currency, pricePoints } = offer({
      plans: await app.offers.plansOf(environmentId, productId ?? null),
      buyer: { currency: customer?.billingCurrency ?? null, countryCode: billingCountryCode ?? null },
      isForAllCountries: input.fetchAllCountriesPrices ?? false,
    })
    const shown = currency ?? (customer?.billingCurrency as Currency | null | undefined) ?? fallbackCurrency
    const resources = resourceId ? { resourceRefIds: [resourceId] } : {}
    const active = customer ? await app.subscriptionReads.active(environmentId, { customerRefId: customer.refId, ...resources }) : null
    const featureOf = async (refId: string | null): Promise<Feature | null> => {
      const feature = refId === null ? undefined : await loaders.features.load(refId)
      return feature ? toFeature(feature) : null
    }
    return {
      activeSubscriptions: active?.map(toCustomerSubscription) ?? null,
      currency: { code: shown, symbol: currencySymbol(shown) },
      customer: customer && toCustomer(customer),
      paywallCalculatedPricePoints: await Promise.all(
        pricePoints.map(async (point) => toPricePoint(point, await featureOf(point.featureRefId))),
      ),
      plans: plans.map((plan) => toPlan(environmentId, plan)),
      resource: customer && resourceId && (await isKnown(context, customer.refId, resourceId)) ? { resourceId } : null,
    }
  }
}

async function isKnown({ app, identity }: RequestContext, customerId: string, resourceId: string): Promise<boolean> {
  const { deniedReason } = await app.entitlements.state(identity.environmentId, customerId, resourceId)
  return deniedReason !== 'CustomerResourceNotFound'
}

function toPricePoint({ planRefId, amount, featureRefId: _, ...point }: PricePoint, feature: Feature | null): PaywallPricePoint {
  return { ...point, amount: decimal.toNumber(amount), feature, planId: planRefId }
}
