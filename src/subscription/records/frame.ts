import { byRule } from '../../audit/record/origin.js'
import type { BillingLedger } from '../../billing/ledger.js'
import type { BillingRequest } from '../../billing/rules/request.js'
import type { CatalogService } from '../../catalog/service.js'
import { type HeldState, lockCustomerForChange, recordAccessChange } from '../../changes/access.js'
import { customerArchived, customerNotFound } from '../../customer/model/problems.js'
import { findCustomer } from '../../customer/records/customers.js'
import type { HeldCustomer } from '../../customer/records/hold.js'
import { type Db, type PrismaClient } from '../../platform/postgres.js'
import { inTransaction } from '../../platform/transaction.js'
import { inGroup } from '../../platform/transaction-group.js'
import { type Advanced, advance, type Moved, nextDue } from '../rules/advance.js'
import { isSameSlot } from '../rules/coexistence.js'
import { freeFollowUp } from '../rules/follow-up.js'
import { subscriptionNotFound } from '../rules/problems.js'
import { isFinal, type Subscription } from '../rules/subscription.js'
import {
  findOwner,
  insertRenewals,
  insertSubscription,
  loadOpenSubscriptions,
  loadSubscriptions,
  saveSubscription,
} from './subscriptions.js'

/** What to do once the transaction has committed: both are only wake-ups, and losing them loses nothing. */
export interface AfterCommit {
  changed(environmentId: string): void
  dueAt(environmentId: string, customerId: string, at: number): void
}

/** The subscriptions of one customer under its state row. */
export interface HeldSubscriptions {
  /** Those that were not final as stored, with their status of now. */
  all: Subscription[]
  /** Those that are not final now. */
  open: Subscription[]
  /** Those that time has moved, or started, and that are recorded so now. */
  changed: Subscription[]
  /** Whether that changed what the customer may use; renewals alone do not, but for a budget that is new again. */
  isAccessChanged: boolean
}

export interface RecordsParts {
  prisma: PrismaClient
  catalog: CatalogService
  billing: Pick<BillingLedger, 'recordIn' | 'isPaymentFirst'>
  after: AfterCommit
}

/** Loading and saving under the customer's state row, the same for every change of a subscription. */
export class SubscriptionRecords {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #billing: RecordsParts['billing']
  readonly #after: AfterCommit

  constructor({ prisma, catalog, billing, after }: RecordsParts) {
    this.#prisma = prisma
    this.#catalog = catalog
    this.#billing = billing
    this.#after = after
  }

  async byRefId(db: Db, environmentId: string, refId: string): Promise<Subscription | null> {
    const [subscription] = await loadSubscriptions(db, this.#catalog, { environmentId, refId })
    return subscription ?? null
  }

  /** By our id, which comes from a record that refers to it. */
  async byId(db: Db, environmentId: string, id: string): Promise<Subscription> {
    const [subscription] = await loadSubscriptions(db, this.#catalog, { environmentId, id })
    return subscription!
  }

  /** @throws Problem CUSTOMER_NOT_FOUND, ENTITY_IS_ARCHIVED */
  async hold(db: Db, environmentId: string, by: { refId: string } | { id: string }, { evenArchived = false } = {}): Promise<HeldCustomer> {
    const customer = await findCustomer(db, environmentId, by)
    if (!customer) throw customerNotFound('refId' in by ? by.refId : by.id)
    const locked = await lockCustomerForChange(db, environmentId, customer.id)
    this.#catalog.readsAt(db, environmentId, locked.catalogVersion)
    // Read again: it may have been changed, or archived, while we waited.
    const current = await findCustomer(db, environmentId, { id: customer.id })
    if (!current) throw customerNotFound(customer.refId)
    if (current.archivedAt !== null && !evenArchived) throw customerArchived(customer.refId)
    return { ...current, now: locked.now }
  }

  /** Loads the customer's subscriptions and records everything that is due, so that decisions start from the status at now. */
  async recordDue(db: Db, customer: Pick<HeldCustomer, 'environmentId' | 'id' | 'billingCurrency' | 'now'>): Promise<HeldSubscriptions> {
    const stored = await loadOpenSubscriptions(db, this.#catalog, customer.environmentId, customer.id)
    return this.#recordDue(db, customer, stored)
  }

  /**
   * The same for several customers of an environment whose state rows the transaction holds, with the changes of access and their messages; statements
   * are made once for all of them.
   */
  async recordAllDue(db: Db, environmentId: string, customers: readonly (HeldCustomer & HeldState)[]): Promise<HeldSubscriptions[]> {
    const [first] = customers
    if (!first) return []
    this.#catalog.readsAt(db, environmentId, first.catalogVersion)
    const ids = customers.map(({ id }) => id)
    const stored = new Map(ids.map((id): [string, Subscription[]] => [id, []]))
    for (const subscription of await loadOpenSubscriptions(db, this.#catalog, environmentId, ids))
      stored.get(subscription.customerId)!.push(subscription)
    return inGroup(db, customers, async (customer) => {
      const held = await this.#recordDue(db, customer, stored.get(customer.id)!)
      if (held.isAccessChanged) await recordAccessChange(db, customer)
      return held
    })
  }

  async #recordDue(
    db: Db,
    customer: Pick<HeldCustomer, 'environmentId' | 'id' | 'billingCurrency' | 'now'>,
    stored: readonly Subscription[],
  ): Promise<HeldSubscriptions> {
    const { now } = customer
    const advanced = advance(stored, now)
    const { subscriptions: all, moved, started } = advanced
    const isChanged = new Set([...moved.map(({ after }) => after.id), ...started.map(({ id }) => id)])
    const changed = all.filter(({ id }) => isChanged.has(id))
    if (changed.length > 0) {
      const rules = [...new Set(moved.map(({ trigger }) => trigger))]
      await byRule(rules.join(), () => this.#saveDue(db, customer, { stored, changed, advanced }))
    }
    const isAccessChanged = started.length > 0 || moved.some(({ trigger, after }) => trigger !== 'renewal' || after.budget !== null)
    return { all, open: all.filter(({ status }) => !isFinal(status)), changed, isAccessChanged }
  }

  async #saveDue(
    db: Db,
    customer: Pick<HeldCustomer, 'environmentId' | 'id' | 'billingCurrency'>,
    { stored, changed, advanced }: { stored: readonly Subscription[]; changed: readonly Subscription[]; advanced: Advanced },
  ): Promise<void> {
    const { subscriptions: all, moved, renewals, executed } = advanced
    const executedIds = executed.map(({ id }) => id)
    const before = new Map(stored.map((subscription) => [subscription.id, subscription]))
    // Ends first, and what becomes active before what begins a trial: at no time do two have the same status in one slot.
    const rank = ({ status }: Subscription) => (isFinal(status) ? 0 : status === 'ACTIVE' ? 1 : 2)
    for (const subscription of changed.toSorted((a, b) => rank(a) - rank(b))) {
      const known = before.get(subscription.id)
      const steps = moved.filter(({ after }) => after.id === subscription.id)
      if (known) await saveSubscription(db, known, subscription, { executed: executedIds, steps })
      else await insertSubscription(db, subscription)
    }
    await insertRenewals(db, customer.environmentId, renewals)
    await this.#billing.recordIn(
      db,
      customer,
      moved.map(({ before, after, at, trigger, executed }) => ({
        agreed: executed && 'agreed' in executed.change ? (executed.change.agreed?.billingAgreement ?? null) : null,
        before,
        after,
        at,
        isRenewal: trigger === 'renewal',
        isDue: true,
        inForce: inForceOf(all, after, trigger),
      })),
    )
  }

  /**
   * Changes one subscription: `decide` gets it with its status of now, under the customer's state row, and answers what becomes of it. Ends it leads
   * to are followed by the free plan where the product says so. What `decide` throws leaves everything as it was.
   */
  async change(
    environmentId: string,
    refId: string,
    decide: (
      subscription: Subscription,
      context: { db: Db; customer: HeldCustomer; held: HeldSubscriptions },
    ) => Subscription | Promise<Subscription>,
    billing: BillingRequest = {},
  ): Promise<Subscription> {
    const { result, changed } = await inTransaction(this.#prisma, async (db) => {
      // load
      const found = await findOwner(db, environmentId, refId)
      if (!found) throw subscriptionNotFound(refId)
      const customer = await this.hold(db, environmentId, { id: found.customerId })
      const held = await this.recordDue(db, customer)
      // One that has ended is not among them.
      const before = held.all.find(({ id }) => id === found.id) ?? (await this.byId(db, environmentId, found.id))
      // decide
      const after = await decide(before, { db, customer, held })
      // save
      await saveSubscription(db, before, after)
      await this.#billing.recordIn(db, customer, [{ before, after, at: customer.now, isRenewal: false }], billing)
      const free = isFinal(after.status) ? freeFollowUp({ before, after }, held.open) : null
      if (free) await insertSubscription(db, free)
      // record the change message
      await recordAccessChange(db, customer)
      return { result: after, changed: [...held.changed, after] }
    })
    this.wake(changed)
    return result
  }

  /** After a commit: delivery of the change (a renewal alone has none), and a wake-up at the next instant that something is due. */
  wake(subscriptions: readonly Subscription[], { isAccessChanged = true } = {}): void {
    const environmentIds = new Set(subscriptions.map(({ environmentId }) => environmentId))
    if (isAccessChanged) for (const environmentId of environmentIds) this.#after.changed(environmentId)
    for (const subscription of subscriptions) {
      const due = nextDue(subscription)
      if (due) this.#after.dueAt(subscription.environmentId, subscription.customerId, due.at)
    }
  }
}

/** Of a start that waits for its payment: the subscription that it replaces when it is paid. */
function inForceOf(all: readonly Subscription[], starting: Subscription, trigger: Moved['trigger']): Subscription | null {
  if (trigger !== 'startUnpaid') return null
  return all.find((other) => other.status === 'ACTIVE' && isSameSlot(other, starting)) ?? null
}
