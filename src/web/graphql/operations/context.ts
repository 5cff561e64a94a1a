import DataLoader from 'dataloader'
import type { AuditLog } from '../../../audit/log.js'
import type { BuiltinProvider } from '../../../billing/builtin/provider.js'
import type { BillingReads, BillingView } from '../../../billing/reads.js'
import type { Discount } from '../../../billing/rules/billing.js'
import type { PaymentMethod } from '../../../billing/rules/provider.js'
import type { BillingSync } from '../../../billing/sync.js'
import type { CatalogReader } from '../../../catalog/reader.js'
import type { CatalogService } from '../../../catalog/service.js'
import type { ChangeKind } from '../../../changes/model/change.js'
import type { ImportService } from '../../../customer/imports.js'
import type { Customer } from '../../../customer/model/customer.js'
import type { CheckCounter } from '../../../entitlement/check-counter.js'
import type { PromotionalService } from '../../../entitlement/promotional.js'
import type { PromotionalEntitlement } from '../../../entitlement/rules/promotional.js'
import type { EntitlementState } from '../../../entitlement/rules/state.js'
import type { CheckAnswer, CheckQuestion, EntitlementService } from '../../../entitlement/service.js'
import type { EnvironmentService } from '../../../environment/service.js'
import type { EstimateService } from '../../../estimates/service.js'
import type { Clock, EpochMs } from '../../../kernel/clock.js'
import { invalidInput } from '../../../kernel/problem.js'
import { type Patience, patienceOf } from '../../../metering/intake/patience.js'
import type { UsageService } from '../../../metering/intake/service.js'
import type { AlertService } from '../../../notifications/alerts/service.js'
import type { WebhookService } from '../../../notifications/webhooks/service.js'
import type { CustomerService } from '../../../provisioning/customers.js'
import type { SubscriptionProvisioning } from '../../../provisioning/subscriptions.js'
import type { Subscription } from '../../../subscription/rules/subscription.js'
import type { ProductEligibility, TrialedPlan } from '../../../subscription/rules/trial.js'
import type { TestClockService } from '../../../subscription/time/test-clock.js'
import type { CancellationService } from '../../../subscription/use-cases/cancel.js'
import type { SubscriptionChangeService } from '../../../subscription/use-cases/change.js'
import type { SubscriptionList } from '../../../subscription/use-cases/list.js'
import type { PackageMigrationService } from '../../../subscription/use-cases/migrate.js'
import type { SubscriptionReads } from '../../../subscription/use-cases/read.js'
import type { TransferService } from '../../../subscription/use-cases/transfer.js'
import type { Warmings } from '../../../updates/deliver/warmings.js'
import type { AskedFreshness } from '../../../updates/held/fresh-reads.js'
import type { CatchUp } from '../../../updates/stream/change-stream.js'
import type { AlertMessage } from '../../../updates/wire/alert-message.js'
import type { ChangeMessage } from '../../../updates/wire/change-message.js'
import type { Identity } from '../../access/auth.js'
import { type CatalogLoaders, createCatalogLoaders } from './catalog-loaders.js'
import type { Turns } from './turns.js'

/** The services that the front door calls. */
export interface Services {
  /** The database's. */
  clock: Clock
  alerts: AlertService
  auditLog: AuditLog
  billing: BillingSync
  billingProvider: BuiltinProvider
  billingReads: BillingReads
  budgets: Pick<EntitlementService, 'budgetsExceeded'>
  cancellations: CancellationService
  catalog: CatalogService
  checks: CheckCounter
  customers: CustomerService
  /** Reads, perhaps from the memory of the process. */
  entitlements: {
    check(environmentId: string, question: CheckQuestion, freshness?: AskedFreshness): Promise<CheckAnswer>
    state(environmentId: string, customerId: string, resourceId: string | null, freshness?: AskedFreshness): Promise<EntitlementState>
  }
  environments: EnvironmentService
  estimates: EstimateService
  imports: ImportService
  /** The catalog for those who show it. */
  offers: CatalogReader
  packageMigrations: PackageMigrationService
  promotional: PromotionalService
  subscriptionChanges: SubscriptionChangeService
  subscriptionList: SubscriptionList
  subscriptionReads: SubscriptionReads
  subscriptions: SubscriptionProvisioning
  testClocks: TestClockService
  transfers: TransferService
  usage: UsageService
  warmings: Warmings
  webhooks: WebhookService
}

/** What resolvers know about the request that they answer. */
export interface RequestContext {
  app: Services
  identity: Identity
  /** The request carries the operator key too. */
  isOperator: boolean
  traceId: string
  /** Of the caller; null: it is not known. */
  address: string | null
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal
  /** The same for who waits for it within this process. */
  patience: Patience
  /** One instant for the whole answer. */
  now: EpochMs
  /** Counts a value of any size that is to be part of the answer; undefined: it is done. Fails when there is no room for it. */
  weigh(value: unknown): Promise<void> | undefined
  loaders: Loaders
  /** Null: the answer is small. */
  turns: Turns | null
  /** Of the request's checks; undefined: what is held is fresh enough. */
  freshness: AskedFreshness | undefined
  /** Before each mutation of a document: what an earlier one had loaded may have changed. */
  forgetLoaded(): void
  /** What subscriptions listen to: changes of these kinds that the identity may see, from now on, until `signal` aborts. */
  changes(kinds: readonly ChangeKind[]): AsyncIterable<ChangeMessage>
  /** Thresholds of alerts that are reached from now on, until `signal` aborts. */
  alerts(): AsyncIterable<AlertMessage>
  /** What changed in the environment after a position of its change stream; null: the reader knows none. */
  missedSince(position: string | null): Promise<CatchUp>
}

/** Of one query or mutation: a record that an answer needs several times is loaded once. */
interface Loaders extends CatalogLoaders {
  /** By our id. */
  customers: DataLoader<string, Customer | null>
  /** The time in an environment (our id). */
  timeOf: DataLoader<string, EpochMs>
  /** By our id of the subscription. */
  billingOfSubscription: DataLoader<string, BillingView>
  discountOfCustomer: DataLoader<string, Discount | null>
  /** By the subscription itself, with its status of now. */
  budgetExceeded: DataLoader<Subscription, boolean>
  /** By our id of the customer. */
  paymentMethodOfCustomer: DataLoader<string, PaymentMethod | null>
  /** By our id of the coupon: the latest ten that have it. */
  customersOfCoupon: DataLoader<string, Customer[]>
  /** By our id of the customer: what is not final, and the latest ten of all; the newest first. */
  subscriptionsOfCustomer: DataLoader<string, Subscription[]>
  /** By our id of the customer: expired ones too, the newest first. */
  promotionalOfCustomer: DataLoader<string, PromotionalEntitlement[]>
  /** By our id of the customer. */
  trialedPlansOfCustomer: DataLoader<string, TrialedPlan[]>
  /** By our id of the customer. */
  trialEligibilityOfCustomer: DataLoader<string, ProductEligibility[]>
}

export interface ContextFacts {
  app: Services
  identity: Identity
  /** Default false. */
  isOperator?: boolean
  /** Absent: what is asked changes nothing. */
  address?: string
  /** What it has is asked for only when it is needed. Without `weigh` the answer may have any size. */
  operation: Pick<RequestContext, 'traceId' | 'signal'> & Partial<Pick<RequestContext, 'weigh' | 'patience'>>
  /** Absent: the answer is small. */
  turns?: Turns | null
  freshness?: AskedFreshness | undefined
  /** Absent: there is nothing to listen to. */
  listening?: Pick<RequestContext, 'alerts' | 'changes' | 'missedSince'>
}

class OperationContext implements RequestContext {
  readonly app: Services
  readonly identity: Identity
  readonly isOperator: boolean
  readonly address: string | null
  readonly now: EpochMs
  readonly turns: Turns | null
  readonly freshness: AskedFreshness | undefined
  readonly alerts: RequestContext['alerts']
  readonly changes: RequestContext['changes']
  readonly missedSince: RequestContext['missedSince']
  readonly #operation: ContextFacts['operation']
  #loaders: Loaders | undefined

  constructor({ app, identity, isOperator = false, address, operation, turns = null, freshness, listening = notListening }: ContextFacts) {
    this.app = app
    this.now = app.clock.now()
    this.identity = identity
    this.isOperator = isOperator
    this.address = address ?? null
    this.turns = turns
    this.freshness = freshness
    this.#operation = operation
    this.alerts = listening.alerts
    this.changes = listening.changes
    this.missedSince = listening.missedSince
  }

  get traceId(): string {
    return this.#operation.traceId
  }

  get signal(): AbortSignal {
    return this.#operation.signal
  }

  get patience(): Patience {
    return this.#operation.patience ?? patienceOf(this.#operation.signal)
  }

  weigh(value: unknown): Promise<void> | undefined {
    return this.#operation.weigh?.(value)
  }

  get loaders(): Loaders {
    this.#loaders ??= createLoaders(this.app, this.identity.environmentId)
    return this.#loaders
  }

  forgetLoaded(): void {
    this.#loaders = undefined
  }
}

export const createContext = (facts: ContextFacts): RequestContext => new OperationContext(facts)

const refuse = (): never => {
  throw invalidInput('Subscriptions are served over WebSocket')
}
const notListening = { alerts: refuse, changes: refuse, missedSince: refuse }

/** How many customers a coupon is answered with: the first page of a list. */
const shownCustomers = 10

function createLoaders(app: Services, environmentId: string): Loaders {
  return {
    ...createCatalogLoaders(app, environmentId),
    customers: new DataLoader((ids) => app.customers.byIds(environmentId, ids)),
    timeOf: new DataLoader((ids) => Promise.all(ids.map((id) => app.environments.now(id)))),
    billingOfSubscription: new DataLoader((ids) => app.billingReads.ofSubscriptions(environmentId, ids)),
    discountOfCustomer: new DataLoader((ids) => app.billingReads.discountsOfCustomers(environmentId, ids)),
    budgetExceeded: new DataLoader((subscriptions) => app.budgets.budgetsExceeded(environmentId, subscriptions)),
    paymentMethodOfCustomer: new DataLoader(async (ids) => {
      const methods = await app.billingProvider.findPaymentMethods(environmentId, ids)
      return ids.map((id) => methods.get(id) ?? null)
    }),
    customersOfCoupon: new DataLoader((ids) => app.customers.ofCoupons(environmentId, ids, shownCustomers)),
    subscriptionsOfCustomer: new DataLoader((ids) => app.subscriptionReads.ofCustomers(environmentId, ids)),
    promotionalOfCustomer: new DataLoader((ids) => app.promotional.held(environmentId, ids)),
    trialedPlansOfCustomer: new DataLoader((ids) => app.subscriptionReads.trialedPlans(environmentId, ids)),
    trialEligibilityOfCustomer: new DataLoader((ids) => app.subscriptionReads.eligibility(environmentId, ids)),
  }
}
