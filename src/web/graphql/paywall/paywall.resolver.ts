import { Arg, Ctx, Query, Resolver } from 'type-graphql'
import type { Currency } from '../../../catalog/model/currency.js'
import { currencySymbol, offer, type PricePoint } from '../../../catalog/model/paywall.js'
import { inSteps } from '../../../catalog/steps.js'
import { customerNotFound } from '../../../customer/model/problems.js'
import * as decimal from '../../../kernel/decimal.js'
import { knownCountry } from '../catalog/country-code.js'
import { type Feature, toFeature } from '../catalog/feature.types.js'
import { Plan, toPlan } from '../catalog/package.types.js'
import { toCustomer } from '../customer/customer.types.js'
import type { RequestContext } from '../operations/context.js'
import { refuseAbsent } from '../schema/not-here.js'
import { toCustomerSubscription } from '../subscription/subscription.types.js'
import { GetPaywallInput } from './paywall.inputs.js'
import { Paywall, type PaywallPricePoint } from './paywall.types.js'

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
    const { app, identity, loaders } = context
    const { environmentId } = identity
    const { resourceId } = input
    const { customer, plans, currency, pricePoints } = await offerTo(input, context)
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

  @Query(() => [Plan], { nullable: true, description: 'The older form of paywall: its plans alone.' })
  async getPaywall(
    @Arg('input', () => GetPaywallInput, { nullable: true, description: 'Which product, and to whom.' }) input: GetPaywallInput | null,
    @Ctx() context: RequestContext,
  ): Promise<Plan[]> {
    const { plans } = await offerTo(input ?? {}, context)
    return plans.map((plan) => toPlan(context.identity.environmentId, plan))
  }
}

/** Where a country comes from is often a guess (`XX`): one that is none means the prices for any. */
async function offerTo(input: GetPaywallInput, { app, identity: { environmentId } }: RequestContext) {
  refuseAbsent('offers', input, 'offerId')
  const { customerId, productId, billingCountryCode, fetchAllCountriesPrices } = input
  const customer = customerId ? await app.customers.get(environmentId, customerId) : null
  if (customerId && !customer) throw customerNotFound(customerId)
  const offered = await inSteps(
    offer({
      plans: await app.offers.plansOf(environmentId, productId ?? null),
      buyer: { currency: customer?.billingCurrency ?? null, countryCode: knownCountry(billingCountryCode) },
      isForAllCountries: fetchAllCountriesPrices ?? false,
    }),
  )
  return { ...offered, customer }
}

async function isKnown({ app, identity }: RequestContext, customerId: string, resourceId: string): Promise<boolean> {
  const { deniedReason } = await app.entitlements.state(identity.environmentId, customerId, resourceId)
  return deniedReason !== 'CustomerResourceNotFound'
}

function toPricePoint({ planRefId, amount, featureRefId: _, ...point }: PricePoint, feature: Feature | null): PaywallPricePoint {
  return { ...point, amount: decimal.toNumber(amount), feature, planId: planRefId }
}
