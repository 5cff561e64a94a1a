import { lockCustomerState, recordAccessChange } from '../../changes/access.js'
import { findCustomer } from '../../customer/records/customers.js'
import { holdFreeCustomers } from '../../customer/records/hold.js'
import type { DueCustomer } from '../../platform/due-sweep.js'
import { type PrismaClient } from '../../platform/postgres.js'
import { inTransaction } from '../../platform/transaction.js'
import { dueLagSeconds, findDueAmong, findDueCustomers, hasDue } from '../records/due.js'
import { type RecordsParts, SubscriptionRecords } from '../records/frame.js'

/** What time alone makes of subscriptions, recorded: by the worker when it is due, and by whoever needs it recorded before. */
export class DueTransitions {
  readonly #prisma: PrismaClient
  readonly #records: SubscriptionRecords

  constructor(parts: RecordsParts) {
    this.#prisma = parts.prisma
    this.#records = new SubscriptionRecords(parts)
  }

  /**
   * Records what time has made due for one customer (our id); answers whether there was anything. Running it twice is harmless: what was recorded is
   * not due any more. `ifFree`: leaves a customer alone that another transaction holds.
   */
  async applyDue(environmentId: string, customerId: string, { ifFree = false } = {}): Promise<boolean> {
    if (!(await hasDue(this.#prisma, environmentId, customerId))) return false
    const { changed, isAccessChanged } = await inTransaction(this.#prisma, async (db) => {
      const customer = await findCustomer(db, environmentId, { id: customerId })
      const now = customer && (await lockCustomerState(db, environmentId, customerId, { ifFree }))
      if (!customer || now === null) return { changed: [], isAccessChanged: false }
      const held = await this.#records.recordDue(db, { ...customer, now })
      if (held.isAccessChanged) await recordAccessChange(db, customer)
      return held
    })
    this.#records.wake(changed, { isAccessChanged })
    return changed.length > 0
  }

  /**
   * The same for several customers of an environment, all or none. Those that another transaction holds are left alone. Answers for whom (our ids) there
   * was something.
   */
  async applyDueTogether(environmentId: string, customerIds: readonly string[]): Promise<string[]> {
    const held = await inTransaction(this.#prisma, async (db) => {
      const due = await findDueAmong(db, environmentId, customerIds)
      return this.#records.recordAllDue(db, environmentId, await holdFreeCustomers(db, environmentId, due))
    })
    const changed = held.flatMap((one) => one.changed)
    this.#records.wake(changed, { isAccessChanged: held.some(({ isAccessChanged }) => isAccessChanged) })
    return [...new Set(changed.map(({ customerId }) => customerId))]
  }

  /** Customers (our ids) with something due: half of them the longest overdue, half the latest, so that a crowd that came due together holds up nobody. Without those that are left alone. */
  dueCustomers(limit: number, leftAlone: readonly string[]): Promise<DueCustomer[]> {
    return findDueCustomers(this.#prisma, limit, leftAlone)
  }

  /** Seconds since the oldest of what is due came due; 0: nothing is. */
  lagSeconds(): Promise<number> {
    return dueLagSeconds(this.#prisma)
  }
}
