import { type HeldState, lockCustomerState, lockFreeCustomers } from '../../changes/access.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { Db } from '../../platform/postgres.js'
import type { Customer } from '../model/customer.js'
import { customerArchived, customerNotFound } from '../model/problems.js'
import { findCustomer, findCustomersById } from './customers.js'

/** A customer whose state row the transaction holds, and the database's time then: it rules every instant that the change writes. */
export type HeldCustomer = Customer & { now: EpochMs }

/**
 * Finds the customer and takes its state row, so that what the answer says stays true until the transaction ends.
 * @throws Problem CUSTOMER_NOT_FOUND; ENTITY_IS_ARCHIVED unless `evenArchived`
 */
export async function holdCustomer(db: Db, environmentId: string, refId: string, { evenArchived = false } = {}): Promise<HeldCustomer> {
  const found = await findCustomer(db, environmentId, { refId })
  if (!found) throw customerNotFound(refId)
  const now = await lockCustomerState(db, environmentId, found.id)
  if (now === null) throw new Error(`customer ${found.id} has no state row`)
  // Read again: it may have been changed, or archived, while we waited.
  const customer = (await findCustomer(db, environmentId, { id: found.id }))!
  if (customer.archivedAt !== null && !evenArchived) throw customerArchived(refId)
  return { ...customer, now }
}

/** Those of the customers (our ids) whose state rows no other transaction holds, with their rows taken. */
export async function holdFreeCustomers(db: Db, environmentId: string, ids: readonly string[]): Promise<(Customer & HeldState)[]> {
  const held = ids.length === 0 ? new Map<string, HeldState>() : await lockFreeCustomers(db, environmentId, ids)
  const customers = held.size === 0 ? [] : await findCustomersById(db, environmentId, [...held.keys()])
  return customers.map((customer) => ({ ...customer, ...held.get(customer.id)! }))
}
