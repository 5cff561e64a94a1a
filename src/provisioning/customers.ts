import type { BillingLedger } from '../billing/ledger.js'
import type { BillingInformation, BillingProvider } from '../billing/rules/provider.js'
import type { CatalogService } from '../catalog/service.js'
import { recordAccessChange } from '../changes/access.js'
import { recordEvents } from '../changes/events.js'
import { type Customer, type CustomerFields, checkFields, toWritten } from '../customer/model/customer.js'
import { toldCustomer } from '../customer/model/events.js'
import { couponNotFound, customerExists } from '../customer/model/problems.js'
import {
  claimSourceUpdate,
  findCustomer,
  findCustomersById,
  insertCustomerIfNew,
  setArchived,
  updateCustomer,
} from '../customer/records/customers.js'
import { type HeldCustomer, holdCustomer } from '../customer/records/hold.js'
import type { PromotionalService } from '../entitlement/promotional.js'
import type { EntitlementState } from '../entitlement/rules/state.js'
import type { EntitlementService } from '../entitlement/service.js'
import type { EpochMs } from '../kernel/clock.js'
import { checkRefId, newId } from '../kernel/id.js'
import { withRecords } from '../platform/list/page.js'
import type { ListRequest, Page } from '../platform/list/request.js'
import { type Db, type PrismaClient } from '../platform/postgres.js'
import { inTransaction } from '../platform/transaction.js'
import type { Subscription } from '../subscription/rules/subscription.js'
import type { CancellationService } from '../subscription/use-cases/cancel.js'
import type { ProviderRequests } from '../subscription/use-cases/provider-requests.js'
import type { ProvisionService } from '../subscription/use-cases/provision.js'
import type { ProvisionSubscription } from '../subscription/use-cases/references.js'
import { findCustomerIdsOfCoupons, pageOfCustomers } from './customer-list.js'

/** What the host application says about a customer. Absent: unchanged, null: cleared. */
interface CustomerChange extends Omit<CustomerFields, 'couponId'> {
  /** The caller's identifier. */
  couponRefId?: string | null
}

interface CreateCustomer extends CustomerChange {
  /** Null: we make one. */
  refId: string | null
  createdAt?: EpochMs | null
}

/** Beside a change: what is passed on to the billing provider and kept nowhere. Absent or null: nothing is said. */
interface WithBillingInformation {
  billingInformation?: BillingInformation | null
}

export interface ProvisionCustomer extends CreateCustomer, WithBillingInformation {
  /** What the host application wants a new customer to start with. Null: nothing; absent: the default product decides. */
  subscription?: ProvisionSubscription | null
}

export interface ImportCustomer extends Pick<CustomerChange, 'name' | 'email' | 'billingId' | 'salesforceId' | 'additionalMetaData'> {
  /** Null: we make one. */
  refId: string | null
  /** When the customer last changed where it comes from; an import that is older than the last one changes nothing. */
  updatedAt?: EpochMs | null
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
  readonly #provisions: ProvisionService
  readonly #cancellations: CancellationService
  readonly #promotional: PromotionalService
  readonly #entitlements: EntitlementService
  readonly #billing: Pick<BillingProvider, 'describeCustomer' | 'setPaymentMethod'>
  readonly #coupons: Pick<BillingLedger, 'claimCouponIn'>
  readonly #provider: ProviderRequests
  readonly #changed: (environmentId: string) => void

  constructor(parts: {
    prisma: PrismaClient
    catalog: CatalogService
    provisions: ProvisionService
    cancellations: CancellationService
    promotional: PromotionalService
    entitlements: EntitlementService
    billing: Pick<BillingProvider, 'describeCustomer' | 'setPaymentMethod'>
    coupons: Pick<BillingLedger, 'claimCouponIn'>
    provider: ProviderRequests
    /** Called after a commit that changed something. */
    changed: (environmentId: string) => void
  }) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#provisions = parts.provisions
    this.#cancellations = parts.cancellations
    this.#promotional = parts.promotional
    this.#entitlements = parts.entitlements
    this.#billing = parts.billing
    this.#coupons = parts.coupons
    this.#provider = parts.provider
    this.#changed = parts.changed
  }

  /**
   * Creates the customer with its first subscription, in one transaction; repeated, it updates what is sent and creates no second subscription.
   */
  async provision(
    environmentId: string,
    { subscription: asked, billingInformation, ...request }: ProvisionCustomer,
  ): Promise<ProvisionedCustomer> {
    const wanted = asked ? await this.#provider.before(environmentId, asked) : asked
    const result = await inTransaction(this.#prisma, async (db) => {
      const { customer, isNew, version } = await this.#createOrUpdate(db, environmentId, request)
      if (!isNew) return { customer, ...skipped, state: await this.#entitlements.stateIn(db, environmentId, customer.refId, null) }
      const first = await this.#firstSubscription(db, { ...customer, now: version }, wanted)
      return { customer, ...first, state: await this.#entitlements.stateOfNew(db, customer, version, first.subscription) }
    })
    if (result.subscription) this.#provisions.wake([result.subscription])
    else this.#changed(environmentId)
    await this.#passOn(result.customer, billingInformation)
    if (result.subscription && wanted) await this.#provider.after(result.subscription, wanted)
    return result
  }

  /** Creates the customer, without a subscription. Not safe to repeat: an identifier that is taken, also by an archived customer, is refused. */
  async create(environmentId: string, { billingInformation, ...request }: CreateCustomer & WithBillingInformation): Promise<Customer> {
    const customer = await inTransaction(this.#prisma, async (db) => {
      const created = await this.#insert(db, environmentId, request)
      if (!created.isNew) throw customerExists(created.customer.refId)
      await recordAccessChange(db, created.customer)
      return created.customer
    })
    this.#changed(environmentId)
    await this.#passOn(customer, billingInformation)
    return customer
  }

  /** Changes what is sent. Safe to repeat. */
  async update(
    environmentId: string,
    refId: string,
    { billingInformation, ...change }: CustomerChange & WithBillingInformation,
  ): Promise<Customer> {
    checkFields(change)
    const { before, after } = await inTransaction(this.#prisma, async (db) => {
      const fields = await this.#resolve(db, environmentId, refId, change)
      const before = await holdCustomer(db, environmentId, refId)
      const after = await this.#write(db, before, fields)
      // Nothing else of the record decides about entitlements.
      if (before.timeZone !== after.timeZone) await recordAccessChange(db, after)
      return { before, after }
    })
    if (before.timeZone !== after.timeZone) this.#changed(environmentId)
    await this.#passOn(after, billingInformation)
    return after
  }

  /** After the commit: a provider that is away fails the call, the change stays, and the caller sends the information again. */
  async #passOn({ environmentId, id }: Customer, information: BillingInformation | null | undefined): Promise<void> {
    if (information) await this.#billing.describeCustomer({ environmentId, customerId: id }, information)
  }

  /** Creates the customer, without a subscription, or changes what is sent. Safe to repeat, and in any order when `updatedAt` is given. */
  async importOne(
    environmentId: string,
    { paymentMethodId, ...request }: ImportCustomer & { paymentMethodId?: string | null },
  ): Promise<Customer> {
    const customer = await inTransaction(this.#prisma, (db) => this.importIn(db, environmentId, request))
    this.#changed(environmentId)
    if (paymentMethodId) await this.#billing.setPaymentMethod({ environmentId, customerId: customer.id }, paymentMethodId)
    return customer
  }

  /** The same in the caller's transaction; the caller then tells `changed`. */
  async importIn(db: Db, environmentId: string, { updatedAt, ...request }: ImportCustomer): Promise<Customer> {
    const { customer, isNew } = await this.#insert(db, environmentId, request)
    if (isNew) await recordAccessChange(db, customer)
    const current = isNew ? null : await holdCustomer(db, environmentId, customer.refId)
    const isLate = typeof updatedAt === 'number' && !(await claimSourceUpdate(db, environmentId, customer.id, updatedAt))
    if (!current) return customer
    if (isLate) return withoutNow(current)
    return this.#write(db, current, await this.#resolve(db, environmentId, customer.refId, changeOf(request)))
  }

  /**
   * Ends all access of the customer: subscriptions are canceled, promotional entitlements revoked, name and email forgotten. Safe to repeat.
   */
  async archive(environmentId: string, refId: string): Promise<Customer> {
    const archived = await inTransaction(this.#prisma, async (db) => {
      const held = await holdCustomer(db, environmentId, refId, { evenArchived: true })
      if (held.archivedAt !== null) return withoutNow(held)
      await this.#cancellations.archiveIn(db, held)
      await this.#promotional.revokeAllIn(db, held)
      const customer = await setArchived(db, held, held.now)
      await recordAccessChange(db, customer)
      await tell(db, 'customer.archived', customer)
      return customer
    })
    this.#changed(environmentId)
    return archived
  }

  /** The customer may be provisioned with again; what archiving ended stays ended, what it forgot stays forgotten. Safe to repeat. */
  async unarchive(environmentId: string, refId: string): Promise<Customer> {
    const customer = await inTransaction(this.#prisma, async (db) => {
      const held = await holdCustomer(db, environmentId, refId, { evenArchived: true })
      if (held.archivedAt === null) return withoutNow(held)
      const unarchived = await setArchived(db, held, null)
      await recordAccessChange(db, unarchived)
      await tell(db, 'customer.unarchived', unarchived)
      return unarchived
    })
    this.#changed(environmentId)
    return customer
  }

  /** Null: unknown or archived. */
  async get(environmentId: string, refId: string): Promise<Customer | null> {
    const customer = await findCustomer(this.#prisma, environmentId, { refId })
    return customer?.archivedAt === null ? customer : null
  }

  /** By our ids, in their order; null: unknown. Also archived ones: what belonged to them still names them. */
  async byIds(environmentId: string, ids: readonly string[]): Promise<(Customer | null)[]> {
    const found = byId(await findCustomersById(this.#prisma, environmentId, ids))
    return ids.map((id) => found.get(id) ?? null)
  }

  /** Archived ones are hidden, unless the filter asks about them (`deletedAt`). */
  async list(environmentId: string, request: ListRequest): Promise<Page<Customer>> {
    const page = await pageOfCustomers(this.#prisma, environmentId, request)
    return withRecords(page, async (ids) => byId(await findCustomersById(this.#prisma, environmentId, ids)))
  }

  /** The latest `limit` customers that have each coupon (our id), archived ones left out; in the order of the ids. */
  async ofCoupons(environmentId: string, couponIds: readonly string[], limit: number): Promise<Customer[][]> {
    const held = await findCustomerIdsOfCoupons(this.#prisma, environmentId, couponIds, limit)
    const customers = byId(
      await findCustomersById(
        this.#prisma,
        environmentId,
        held.map(({ customerId }) => customerId),
      ),
    )
    return couponIds.map((id) => held.flatMap(({ couponId, customerId }) => (couponId === id ? [customers.get(customerId)!] : [])))
  }

  /** `version` is that of the state, whose row is held from here on. */
  async #createOrUpdate(
    db: Db,
    environmentId: string,
    request: CreateCustomer,
  ): Promise<{ customer: Customer; isNew: boolean; version: EpochMs }> {
    const created = await this.#insert(db, environmentId, request)
    // Also told when nothing is new, so that nobody goes on believing that the customer is unknown.
    const { version, catalogVersion } = await recordAccessChange(db, created.customer)
    this.#catalog.readsAt(db, environmentId, catalogVersion)
    if (created.isNew) return { ...created, version }
    const held = await holdCustomer(db, environmentId, created.customer.refId)
    const fields = await this.#resolve(db, environmentId, held.refId, changeOf(request))
    return { customer: await this.#write(db, held, fields), isNew: false, version }
  }

  /** What time has made due is made of the customer as it was until now: its coupon, its zone and its currency. */
  async #write(db: Db, held: HeldCustomer, fields: CustomerFields): Promise<Customer> {
    const written = toWritten(held, fields)
    const isBilledOtherwise = (['couponId', 'timeZone', 'billingCurrency'] as const).some(
      (field) => written[field] !== undefined && written[field] !== held[field],
    )
    if (isBilledOtherwise) await this.#provisions.recordDueIn(db, held)
    const customer = await updateCustomer(db, held, written)
    if (isChanged(held, written)) await tell(db, 'customer.updated', customer)
    return customer
  }

  /** The customer as it is now; `isNew`: made here. Nobody holds its state row yet. */
  async #insert(
    db: Db,
    environmentId: string,
    { refId, createdAt, ...change }: CreateCustomer,
  ): Promise<{ customer: Customer; isNew: boolean }> {
    const customerRefId = refId === null ? newId() : checkRefId(refId, 'customerId')
    checkFields(change)
    const fields = toWritten(null, await this.#resolve(db, environmentId, customerRefId, change))
    const at = createdAt === null || createdAt === undefined ? undefined : new Date(createdAt)
    const created = await insertCustomerIfNew(db, environmentId, customerRefId, fields, at)
    if (created) {
      await tell(db, 'customer.created', created)
      return { customer: created, isNew: true }
    }
    return { customer: (await findCustomer(db, environmentId, { refId: customerRefId }))!, isNew: false }
  }

  async #resolve(db: Db, environmentId: string, refId: string, { couponRefId, ...fields }: CustomerChange): Promise<CustomerFields> {
    if (couponRefId === undefined) return fields
    if (couponRefId === null) return { ...fields, couponId: null }
    const couponId = await this.#catalog.couponId(db, environmentId, couponRefId)
    if (couponId === null) throw couponNotFound(couponRefId)
    await this.#coupons.claimCouponIn(db, environmentId, couponId, refId)
    return { ...fields, couponId }
  }

  /** What was asked for, which may be nothing; where nothing was said, what the default product gives a new customer. */
  async #firstSubscription(
    db: Db,
    customer: HeldCustomer,
    wanted: ProvisionSubscription | null | undefined,
  ): Promise<Pick<ProvisionedCustomer, 'subscription' | 'decision'>> {
    const provision = (request: ProvisionSubscription) => this.#provisions.provisionIn(db, customer, request, { isNew: true })
    if (wanted === null) return skipped
    if (wanted) return { subscription: await provision(wanted), decision: 'REQUESTED_PLAN' }
    const product = await this.#catalog.defaultProduct(db, customer.environmentId)
    if (!product?.plan || product.newCustomer === 'PLAN_SELECTION') return skipped
    const subscription = await provision({ planRefId: product.plan.refId })
    return { subscription, decision: product.newCustomer === 'FREE_PLAN' ? 'PREDEFINED_FREE_PLAN' : 'PREDEFINED_TRIAL_PLAN' }
  }
}

const tell = (db: Db, type: 'customer.created' | 'customer.updated' | 'customer.archived' | 'customer.unarchived', customer: Customer) =>
  recordEvents(db, customer.environmentId, () => [{ type, customerId: customer.id, data: toldCustomer(customer) }])

const isChanged = (before: Customer, written: CustomerFields): boolean =>
  Object.entries(written).some(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof CustomerFields]))

const changeOf = ({ refId, createdAt, ...change }: CreateCustomer): CustomerChange => change

const withoutNow = ({ now, ...customer }: HeldCustomer): Customer => customer

const skipped = { subscription: null, decision: 'SKIPPED_SUBSCRIPTION_CREATION' } as const

const byId = (customers: readonly Customer[]) => new Map(customers.map((customer) => [customer.id, customer]))
