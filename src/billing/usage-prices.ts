import type { Price } from '../catalog/model/package.js'
import type { Db } from '../platform/postgres.js'
import type { Subscription } from '../subscription/rules/subscription.js'
import { findAccounts } from './records/invoices.js'
import { chargesOf } from './rules/charges.js'

/** What the subscriptions charge usage by, with the agreed prices; by our id, those that were never charged left out. */
export async function findUsagePrices(
  db: Db,
  environmentId: string,
  subscriptions: readonly Subscription[],
): Promise<Map<string, { featureId: string; price: Price }[]>> {
  const accounts = await findAccounts(
    db,
    environmentId,
    subscriptions.map(({ id }) => id),
  )
  return new Map(
    subscriptions.flatMap((subscription) => {
      const terms = accounts.get(subscription.id)?.account.terms
      if (!terms) return []
      return [[subscription.id, chargesOf(subscription, terms).usage.map(({ price }) => ({ featureId: price.featureId!, price }))]]
    }),
  )
}
