import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql'
import { discountAt } from '../../../billing/rules/account.js'
import type { Terms } from '../../../billing/rules/billing.js'
import { chargesOf, currencyOf } from '../../../billing/rules/charges.js'
import { standingOf, taxOn } from '../../../billing/rules/invoice.js'
import { usualTerms } from '../../../billing/rules/request.js'
import { isPerUnit, unitsGiven } from '../../../catalog/model/units.js'
import * as decimal from '../../../kernel/decimal.js'
import { billingPeriodAt, firstPeriod } from '../../../subscription/rules/billing-period.js'
import type * as domain from '../../../subscription/rules/subscription.js'
import { SubscriptionInvoice, toInvoice } from '../billing/invoice.types.js'
import { toNumber, toPrice } from '../catalog/price.types.js'
import type { RequestContext } from '../operations/context.js'
import * as enums from '../schema/enums.js'
import { CustomerSubscription, CustomerSubscriptionTotalPrice, SubscriptionPrice } from './subscription.types.js'

/** What billing knows of a subscription. */
@Resolver(() => CustomerSubscription)
export class SubscriptionBillingResolver {
  @FieldResolver(() => SubscriptionInvoice, {
    nullable: true,
    description:
      'The newest invoice that the billing provider has; null: none. Null for client keys when another customer pays: it is that one’s.',
  })
  async latestInvoice(
    @Root() { id, source }: CustomerSubscription,
    @Ctx() { identity, loaders }: RequestContext,
  ): Promise<SubscriptionInvoice | null> {
    if (source.payingCustomerId !== null && identity.kind !== 'SERVER') return null
    const { latestInvoice } = await loaders.billingOfSubscription.load(id)
    return latestInvoice && toInvoice(latestInvoice)
  }

  @FieldResolver(() => String, { nullable: true, description: 'Why the billing provider does not have the subscription as it is.' })
  async billingSyncError(@Root() { id }: CustomerSubscription, @Ctx() { loaders }: RequestContext): Promise<string | null> {
    return (await loaders.billingOfSubscription.load(id)).syncError
  }

  @FieldResolver(() => enums.PaymentCollectionMethod, { nullable: true, description: 'How it is paid; null: there is nothing to pay.' })
  async paymentCollectionMethod(@Root() { id }: CustomerSubscription, @Ctx() { loaders }: RequestContext): Promise<string | null> {
    return (await loaders.billingOfSubscription.load(id)).terms?.collectionMethod ?? null
  }

  @FieldResolver(() => Boolean, {
    nullable: true,
    description: 'Whether the usage-based charges of the billing period have come to the budget; false without a budget.',
  })
  budgetExceeded(@Root() { source }: CustomerSubscription, @Ctx() { loaders }: RequestContext): Promise<boolean> {
    return source.budget ? loaders.budgetExceeded.load(source) : Promise.resolve(false)
  }

  @FieldResolver(() => Boolean, { nullable: true, description: 'Whether prices were agreed for this subscription only.' })
  async isCustomPriceSubscription(@Root() { id }: CustomerSubscription, @Ctx() { loaders }: RequestContext): Promise<boolean> {
    return ((await loaders.billingOfSubscription.load(id)).terms?.priceOverrides.length ?? 0) > 0
  }

  @FieldResolver(() => [SubscriptionPrice], { nullable: true, description: 'What it is charged by in its billing period.' })
  async prices(@Root() { source }: CustomerSubscription, @Ctx() context: RequestContext): Promise<SubscriptionPrice[]> {
    const terms = await termsOf(context, source)
    const { fixed, usage } = chargesOf(source, terms)
    return [...fixed, ...usage].map(({ price, version, quantity, isAgreed }) => ({
      billingModel: price.billingModel,
      price: { ...toPrice(source.environmentId, version.id, price), isOverridePrice: isAgreed },
      usageLimit: isPerUnit(price) ? toNumber(unitsGiven(price, quantity)) : null,
    }))
  }

  @FieldResolver(() => CustomerSubscriptionTotalPrice, {
    nullable: true,
    description: 'Of a billing period, without usage; null: there is nothing to pay.',
  })
  async totalPrice(
    @Root() { source }: CustomerSubscription,
    @Ctx() context: RequestContext,
  ): Promise<CustomerSubscriptionTotalPrice | null> {
    const terms = await termsOf(context, source)
    const { begun } = await context.loaders.billingOfSubscription.load(source.id)
    const customerDiscount = await context.loaders.discountOfCustomer.load(source.customerId)
    // Not the instant that the request came in: what the mutation has just agreed begins after it.
    const at = await context.loaders.timeOf.load(source.environmentId)
    const period = billingPeriodAt(source, at) ?? firstPeriod(source, source.startDate)
    const discount = period && discountAt({ begun, terms }, { customerDiscount, period, at })
    const standing = period && standingOf({ content: source, terms, period, discount })
    if (!standing) return null
    const money = (amount: decimal.Decimal) => ({
      amount: decimal.toNumber(amount),
      currency: standing.currency as keyof typeof enums.Currency,
    })
    const tax = taxOn(standing.net, terms.taxPercentage, standing.currency)
    return { subTotal: money(standing.gross), total: money(decimal.add(standing.net, tax)) }
  }
}

/** What was agreed, else what is usual. */
async function termsOf({ loaders }: RequestContext, source: domain.Subscription): Promise<Terms> {
  const { terms } = await loaders.billingOfSubscription.load(source.id)
  return terms ?? { ...usualTerms, currency: currencyOf(source, null) }
}
