import type { BillingProvider } from '../../../src/billing/rules/provider.js'
import { BillingSync } from '../../../src/billing/sync.js'
import { settlePayments } from '../../../src/subscription/use-cases/pay.js'
import { type Bench, invoicesOf } from './fixture.js'

type Request = Parameters<Bench['subscriptions']['provision']>[1]

/** The customer acme, which pays or does not; its subscriptions are named like their plans. */
export type Payer = Awaited<ReturnType<typeof payer>>

export async function payer(bench: Bench, environmentId: string) {
  const customerId = (await bench.customers.get(environmentId, 'acme'))!.id
  /** With CHARGE; nobody is called. */
  const provision = async (planRefId: string, { billing = {}, ...request }: Partial<Request> = {}) =>
    (
      await bench.subscriptions.provision(environmentId, {
        customerRefId: 'acme',
        planRefId,
        subscriptionRefId: planRefId,
        billing: { collectionMethod: 'CHARGE', ...billing },
        ...request,
      })
    ).subscription
  const subscription = (refId: string) => bench.subscriptionReads.get(environmentId, refId)
  const latest = async (id: string) => (await invoicesOf(bench, environmentId, id)).at(-1)!
  return {
    provision,
    subscription,
    latest,
    /** Provisions and makes the calls, as a mutation does. */
    buy: async (planRefId: string, request: Partial<Request> = {}) => {
      const { id } = await provision(planRefId, request)
      await bench.billing.deliverAll(environmentId, id)
      return id
    },
    standing: async (refId: string) => {
      const { status, paymentCollection, cancelReason } = await subscription(refId)
      return [status, paymentCollection, cancelReason]
    },
    tell: async (id: string, news: Parameters<typeof bench.billingProvider.tell>[2]) =>
      bench.billing.hear(environmentId, (await bench.billingProvider.tell(environmentId, (await latest(id)).billingId!, news))!),
    removeCard: () => bench.billingProvider.setPaymentMethod({ environmentId, customerId }, null),
    chargeCard: () => bench.billingProvider.setPaymentMethod({ environmentId, customerId }, 'card'),
    statusOfBuiltin: async () => (await bench.prisma.builtinInvoice.findMany({ where: { environmentId } })).map(({ status }) => status),
    /** Calls a provider that is the builtin one with a fault in its way. */
    syncWith: (faulty: Partial<BillingProvider>) => {
      const { prisma, catalog, ledger, after, billingProvider } = bench
      const provider = Object.assign(Object.create(billingProvider) as BillingProvider, faulty)
      const parts = { prisma, catalog, billing: ledger, after }
      return new BillingSync({ prisma, provider, settle: settlePayments(parts), ledger })
    },
    /** Has every call due that was put off. */
    again: () =>
      bench.prisma.billingIntent.updateMany({ where: { environmentId }, data: { nextAttemptAt: new Date(0), leasedUntil: null } }),
  }
}
