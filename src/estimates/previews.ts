import type { SavedChange } from '../billing/ledger.js'
import type { CatalogService } from '../catalog/service.js'
import type { Customer } from '../customer/model/customer.js'
import { customerArchived, customerNotFound } from '../customer/model/problems.js'
import { findCustomer } from '../customer/records/customers.js'
import type { EnvironmentTime } from '../environment/model/environment.js'
import type { EpochMs } from '../kernel/clock.js'
import type { Db } from '../platform/postgres.js'
import { findOwner, loadOpenSubscriptions, loadSubscriptions } from '../subscription/records/subscriptions.js'
import { hasTrialedOrPaid } from '../subscription/records/trials.js'
import { type Advanced, advance } from '../subscription/rules/advance.js'
import { subscriptionNotFound } from '../subscription/rules/problems.js'
import { changesOf, decideProvision, type ProvisionDecision } from '../subscription/rules/provision.js'
import { isFinal, type Subscription } from '../subscription/rules/subscription.js'
import type { SubscriptionChangeService, UpdateSubscription } from '../subscription/use-cases/change.js'
import { type ProvisionSubscription, References } from '../subscription/use-cases/references.js'

/** What a request would change, and what time has made due before it that nobody has recorded yet. */
export interface Preview {
  customer: Customer
  now: EpochMs
  due: SavedChange[]
  changes: SavedChange[]
  /** As it would be. */
  subscription: Subscription
  /** Before: the subscription itself, or the one that it replaces; null: there is none. */
  before: Subscription | null
}

/** Changes of subscriptions that are only asked about. Reads only: `db` is a transaction that reads one snapshot and may be one that cannot write. */
export class SubscriptionPreviews {
  readonly #catalog: CatalogService
  readonly #time: EnvironmentTime
  readonly #changes: SubscriptionChangeService
  readonly #references: References

  constructor(parts: { catalog: CatalogService; time: EnvironmentTime; changes: SubscriptionChangeService }) {
    this.#catalog = parts.catalog
    this.#time = parts.time
    this.#changes = parts.changes
    this.#references = new References(parts)
  }

  async provision(
    db: Db,
    environmentId: string,
    request: ProvisionSubscription & { customerRefId: string },
  ): Promise<Preview & { decision: ProvisionDecision; scheduleId: string }> {
    const customer = await this.#customer(db, environmentId, { refId: request.customerRefId })
    const { now, open, due } = await this.#advanced(db, customer)
    const resolved = await this.#references.request(db, customer, request, { isDryRun: true })
    const isTrialUsed = await hasTrialedOrPaid(db, environmentId, customer.id, resolved.product.id)
    const decision = decideProvision({ request: resolved, held: open, isTrialUsed, now })
    const changes = changesOf(decision, open, now)
    const before =
      decision.kind === 'create' ? changes.find((change) => change.before?.status === 'ACTIVE')?.before : changes.at(-1)?.before
    const { scheduleId } = resolved
    return { customer, now, due, changes, subscription: decision.subscription, before: before ?? null, decision, scheduleId }
  }

  async update(db: Db, environmentId: string, request: UpdateSubscription): Promise<Preview> {
    const { subscription: before, ...held } = await this.held(db, environmentId, request.subscriptionRefId)
    const after = await this.#changes.decide(db, before, request, held.now)
    const { customer, now, due } = held
    return { customer, now, due, changes: [{ before, after, at: now, isRenewal: false }], subscription: after, before }
  }

  /** A subscription with its status of now, and what time will do to it until its billing period is over. */
  async held(
    db: Db,
    environmentId: string,
    refId: string,
  ): Promise<{ customer: Customer; now: EpochMs; due: SavedChange[]; subscription: Subscription; open: Subscription[] }> {
    const found = await findOwner(db, environmentId, refId)
    if (!found) throw subscriptionNotFound(refId)
    const customer = await this.#customer(db, environmentId, { id: found.customerId })
    const { now, open, due, all } = await this.#advanced(db, customer)
    const held = all.find(({ id }) => id === found.id)
    const [ended] = held ? [] : await loadSubscriptions(db, this.#catalog, { environmentId, id: found.id })
    return { customer, now, due, open, subscription: (held ?? ended)! }
  }

  /** What a customer holds now. */
  async open(db: Db, customer: Customer): Promise<Subscription[]> {
    return (await this.#advanced(db, customer)).open
  }

  async #customer(db: Db, environmentId: string, by: { refId: string } | { id: string }): Promise<Customer> {
    await this.#catalog.readsSnapshot(db, environmentId)
    const customer = await findCustomer(db, environmentId, by)
    if (!customer) throw customerNotFound('refId' in by ? by.refId : by.id)
    if (customer.archivedAt !== null) throw customerArchived(customer.refId)
    return customer
  }

  async #advanced(db: Db, { environmentId, id }: Customer) {
    const now = await this.#time.now(environmentId)
    const stored = await loadOpenSubscriptions(db, this.#catalog, environmentId, id)
    const advanced = advance(stored, now)
    return {
      now,
      all: advanced.subscriptions,
      open: advanced.subscriptions.filter(({ status }) => !isFinal(status)),
      due: toChanges(advanced),
    }
  }
}

/** What time did, as changes to be billed. */
export const toChanges = ({ moved }: Pick<Advanced, 'moved'>): SavedChange[] =>
  moved.map(({ before, after, at, trigger, executed }) => ({
    before,
    after,
    at,
    isRenewal: trigger === 'renewal',
    isDue: true,
    agreed: executed && 'agreed' in executed.change ? (executed.change.agreed?.billingAgreement ?? null) : null,
  }))
