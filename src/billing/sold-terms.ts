import type { Db } from '../platform/postgres.js'
import { findAccounts } from './records/invoices.js'
import type { SoldTerms } from './rules/charges.js'

/** What was agreed about the prices of subscriptions; by our id, those that were never charged left out. */
export async function findSoldTerms(db: Db, environmentId: string, subscriptionIds: readonly string[]): Promise<Map<string, SoldTerms>> {
  const accounts = await findAccounts(db, environmentId, [...subscriptionIds])
  return new Map([...accounts].map(([id, { account }]) => [id, account.terms]))
}
