import type { Price } from '../catalog/model.js'
import type { Db } from '../platform/postgres.js'
import type { Subscription } from '../subscription/model.js'
import { chargesOf } from './charges.js'
import { findAccounts } from './repository.js'

/** What the subscriptions charge usage by, agreed prices in place; by our id, those that were never charged left out. */
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
