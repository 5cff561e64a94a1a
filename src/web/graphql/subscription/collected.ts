import type { CheckoutOptions } from '../../../billing/rules/provider.js'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import type { Subscription } from '../../../subscription/rules/subscription.js'
import type { RequestContext } from '../operations/context.js'

/**
 * The subscription after the billing provider has been told of its change, so that the answer carries the invoice and what became of the payment. A
 * provider that is slow or away delays nothing but this answer: what is left is done by the billing worker.
 */
export async function collected({ app, identity, signal, loaders }: RequestContext, subscription: Subscription): Promise<Subscription> {
  if (subscription.pricingType !== 'PAID') return subscription
  await app.billing.deliverAll(identity.environmentId, subscription.id, signal)
  loaders.billingOfSubscription.clear(subscription.id)
  return app.subscriptionReads.get(identity.environmentId, subscription.refId)
}

interface Provisioned {
  subscription: Subscription
  state: EntitlementState
}

/** The same of a subscription that was provisioned, with what it entitles to. */
export async function collectedProvision<P extends Provisioned>(context: RequestContext, provisioned: P): Promise<P> {
  const { app, identity } = context
  const subscription = await collected(context, provisioned.subscription)
  if (subscription.status === provisioned.subscription.status) return { ...provisioned, subscription }
  return { ...provisioned, subscription, state: await app.subscriptions.stateOf(identity.environmentId, subscription) }
}

/**
 * Where the customer pays for a subscription that waits for it: the page that `options` ask for, else the invoice's own link. Null: it does not wait, or
 * the provider has no invoice yet.
 */
export async function checkoutOf(
  { app, identity: { environmentId }, loaders }: RequestContext,
  { id, status }: Subscription,
  options: CheckoutOptions | null,
): Promise<{ checkoutUrl: string | null; checkoutBillingId: string | null }> {
  const { latestInvoice } = status === 'PAYMENT_PENDING' ? await loaders.billingOfSubscription.load(id) : { latestInvoice: null }
  const billingId = latestInvoice?.billingId ?? null
  if (!latestInvoice || billingId === null) return { checkoutUrl: null, checkoutBillingId: null }
  const checkout = options && (await app.billingProvider.openCheckout({ environmentId, billingId }, options))
  return checkout
    ? { checkoutUrl: checkout.url, checkoutBillingId: checkout.billingId }
    : { checkoutUrl: latestInvoice.paymentUrl, checkoutBillingId: billingId }
}
