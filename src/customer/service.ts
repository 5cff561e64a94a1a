import type { CatalogService } from '../catalog/service.js'
import type { EntitlementService } from '../entitlement/service.js'
import type { EntitlementState } from '../entitlement/state.js'
import type { EpochMs } from '../kernel/clock.js'
import { checkRefId, newId } from '../kernel/id.js'
import { invalidInput } from '../kernel/problem.js'
import { type Db, inTransaction, type PrismaClient } from '../platform/postgres.js'
import type { Subscription } from '../subscription/model.js'
import type { ProvisionSubscription, SubscriptionService } from '../subscription/service.js'
import { recordChange } from '../updates/outbox.js'
import type { Customer } from './model.js'
import { customerArchived } from './problems.js'
import { type CustomerFields, findCustomer, insertCustomerIfNew, updateCustomer } from './repository.js'
import { lockCustomerState, nextAccessVersion } from './state-version.js'

export interface ProvisionCustomer extends CustomerFields {
  /** Null: we make one. */
  refId: string | null
  createdAt?: EpochMs | null
  /** The plan that the host application wants the new customer to start with; absent: the default product decides. */
  subscription?: ProvisionSubscription | null
}

/** Which rule decided about the first subscription. */
export type SubscriptionDecisionStrategy =
  | 'REQUESTED_PLAN'
  | 'PREDEFINED_FREE_PLAN'
  | 'PREDEFINED_TRIAL_PLAN'
  | 'SKIPPED_SUBSCRIPTION_CREATION'

export interface ProvisionedCustomer {
  customer: Customer
  subscription: Subscription | null
  decision: SubscriptionDecisionStrategy
  state: EntitlementState
}

export class CustomerService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #subscriptions: SubscriptionService
  readonly #entitlements: EntitlementService
  readonly #changed: (environmentId: string) => void

  constructor(parts: {
    prisma: PrismaClient
    catalog: CatalogService
    subscriptions: SubscriptionService
    entitlements: EntitlementService
    /** Called after a commit that changed something. */
    changed: (environmentId: string) => void
  }) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#subscriptions = parts.subscriptions
    this.#entitlements = parts.entitlements
    this.#changed = parts.changed
  }

  /**
   * Creates the customer with its first subscription, in one transaction; repeated, it updates what is sent and creates no second subscription.
   */
  async provision(
    environmentId: string,
    { refId, createdAt, subscription: wanted, ...fields }: ProvisionCustomer,
  ): Promise<ProvisionedCustomer> {
    const customerRefId = refId === null ? newId() : checkRefId(refId, 'customerId')
    checkTimeZone(fields.timeZone)
    const result = await inTransaction(this.#prisma, async (db) => {
      const isNew = await insertCustomerIfNew(
        db,
        environmentId,
        customerRefId,
        fields,
        createdAt === null || createdAt === undefined ? undefined : new Date(createdAt),
      )
      const found = (await findCustomer(db, environmentId, { refId: customerRefId }))!
      if (found.archivedAt !== null) throw customerArchived(customerRefId)
      const version = await nextAccessVersion(db, environmentId, found.id)
      const customer = isNew ? found : await updateCustomer(db, environmentId, found.id, fields)
      await recordChange(db, { environmentId, kind: 'entitlements', customerId: customerRefId, version })
      const first = isNew ? await this.#firstSubscription(db, customer, wanted ?? null) : skipped
      return { customer, ...first, state: await this.#entitlements.stateIn(db, environmentId, customerRefId, null) }
    })
    if (result.subscription) this.#subscriptions.wake([result.subscription])
    else this.#changed(environmentId)
    return result
  }

  /** Null: unknown or archived. */
  async get(environmentId: string, refId: string): Promise<Customer | null> {
    const customer = await findCustomer(this.#prisma, environmentId, { refId })
    return customer?.archivedAt === null ? customer : null
  }

  /** Also an archived one: what belonged to it still names it. */
  byId(environmentId: string, id: string): Promise<Customer | null> {
    return findCustomer(this.#prisma, environmentId, { id })
  }

  /** What was asked for, else what the default product gives a new customer. */
  async #firstSubscription(
    db: Db,
    customer: Customer,
    wanted: ProvisionSubscription | null,
  ): Promise<Pick<ProvisionedCustomer, 'subscription' | 'decision'>> {
    const now = (await lockCustomerState(db, customer.environmentId, customer.id))!
    const provision = (request: ProvisionSubscription) => this.#subscriptions.provisionIn(db, { ...customer, now }, request)
    if (wanted) return { subscription: await provision(wanted), decision: 'REQUESTED_PLAN' }
    const product = await this.#catalog.defaultProduct(db, customer.environmentId)
    if (!product?.plan || product.newCustomer === 'PLAN_SELECTION') return skipped
    const subscription = await provision({ planRefId: product.plan.refId })
    return { subscription, decision: product.newCustomer === 'FREE_PLAN' ? 'PREDEFINED_FREE_PLAN' : 'PREDEFINED_TRIAL_PLAN' }
  }
}

const skipped = { subscription: null, decision: 'SKIPPED_SUBSCRIPTION_CREATION' } as const

function checkTimeZone(timeZone: string | null | undefined): void {
  if (timeZone === null || timeZone === undefined) return
  try {
    new Intl.DateTimeFormat('en', { timeZone })
  } catch {
    throw invalidInput(`"${timeZone}" is not a time zone: give an IANA name such as Europe/Berlin.`, {
      path: 'billingInformation.timezone',
    })
  }
}
