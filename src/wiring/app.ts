import { AuditLog } from '../audit/log.js'
import { BuiltinProvider } from '../billing/builtin/provider.js'
import { BuiltinRepository } from '../billing/builtin/repository.js'
import { BillingLedger } from '../billing/ledger.js'
import { BillingReads } from '../billing/reads.js'
import { findSoldTerms } from '../billing/sold-terms.js'
import { BillingSync } from '../billing/sync.js'
import { CatalogReader } from '../catalog/reader.js'
import { CatalogService } from '../catalog/service.js'
import { ImportService } from '../customer/imports.js'
import { couponHolderColumns } from '../customer/records/list-columns.js'
import { CheckCounter } from '../entitlement/check-counter.js'
import { loadCounted } from '../entitlement/counted-holdings.js'
import { PromotionalService } from '../entitlement/promotional.js'
import { EntitlementService } from '../entitlement/service.js'
import { keyNewsTeller } from '../environment/key-news.js'
import { EnvironmentService } from '../environment/service.js'
import { SubscriptionPreviews } from '../estimates/previews.js'
import { EstimateService } from '../estimates/service.js'
import type { Clock } from '../kernel/clock.js'
import { readUsageOf } from '../metering/counting/current-usage.js'
import type { LoadHeldSeries } from '../metering/counting/held-series.js'
import { AlertService } from '../notifications/alerts/service.js'
import type { AllowedTargets } from '../notifications/webhooks/addresses.js'
import type { Sealing } from '../notifications/webhooks/secrets.js'
import { WebhookService } from '../notifications/webhooks/service.js'
import type { DatabaseEpoch } from '../platform/epoch/database-epoch.js'
import type { Postgres } from '../platform/postgres.js'
import type { Life } from '../platform/process.js'
import type { QueueConnection } from '../platform/queue.js'
import { CustomerService, type ImportCustomer } from '../provisioning/customers.js'
import { SubscriptionProvisioning } from '../provisioning/subscriptions.js'
import { startMigrations } from '../subscription/records/migrations.js'
import { findRefIds, findSubscribedVersions, loadOpenSubscriptions } from '../subscription/records/subscriptions.js'
import { DueTransitions } from '../subscription/time/due.js'
import { TestClockService } from '../subscription/time/test-clock.js'
import { TrialReminders } from '../subscription/time/trial-reminders.js'
import { CancellationService } from '../subscription/use-cases/cancel.js'
import { SubscriptionChangeService } from '../subscription/use-cases/change.js'
import { type ImportSubscription, SubscriptionImporter } from '../subscription/use-cases/import.js'
import { SubscriptionList } from '../subscription/use-cases/list.js'
import { PackageMigrationService } from '../subscription/use-cases/migrate.js'
import { settlePayments } from '../subscription/use-cases/pay.js'
import { ProviderRequests } from '../subscription/use-cases/provider-requests.js'
import { ProvisionService } from '../subscription/use-cases/provision.js'
import { SubscriptionReads } from '../subscription/use-cases/read.js'
import { TransferService } from '../subscription/use-cases/transfer.js'
import { Warmings } from '../updates/deliver/warmings.js'
import { openWakeUps, type WakeUps } from './wake-ups.js'

/** The services of the domains that live in PostgreSQL, wired by constructor argument. */
export interface App {
  /** The database's. */
  clock: Clock
  auditLog: AuditLog
  environments: EnvironmentService
  catalog: CatalogService
  /** The catalog for those who show it. */
  offers: CatalogReader
  customers: CustomerService
  subscriptions: SubscriptionProvisioning
  cancellations: CancellationService
  subscriptionList: SubscriptionList
  entitlements: EntitlementService
  /** What counting asks for. */
  heldSeries: LoadHeldSeries
  budgets: Pick<EntitlementService, 'budgetsExceeded'>
  checks: CheckCounter
  promotional: PromotionalService
  imports: ImportService
  subscriptionReads: SubscriptionReads
  subscriptionChanges: SubscriptionChangeService
  transfers: TransferService
  dueTransitions: DueTransitions
  packageMigrations: PackageMigrationService
  testClocks: TestClockService
  trialReminders: TrialReminders
  billing: BillingSync
  billingProvider: BuiltinProvider
  billingReads: BillingReads
  estimates: EstimateService
  /** Of persistent caches. */
  warmings: Warmings
  webhooks: WebhookService
  alerts: AlertService
  /** Wakes delivery and transitions after a commit. */
  after: WakeUps
  databaseEpoch: DatabaseEpoch
}

export function createApp({
  life,
  postgres: { pool, prisma, epoch: databaseEpoch },
  queues,
  clock,
  webhooks: { sealing = null, targets = 'public' } = {},
  trialEndingSoonDays = 3,
}: {
  life: Life
  postgres: Postgres
  queues: QueueConnection
  /** The database's. */
  clock: Clock
  /** Of processes that manage endpoints. */
  webhooks?: { sealing?: Sealing | null; targets?: AllowedTargets }
  trialEndingSoonDays?: number
}): App {
  const after = openWakeUps(life, queues, clock)
  const environments = new EnvironmentService({ prisma, clock, tellCreated: keyNewsTeller(life, queues) })
  const catalog = new CatalogService({ prisma, clock, startMigrations, nudge: after.changed })
  const entitlements = new EntitlementService({
    prisma,
    catalog,
    clock,
    unfilled: after.unfilled,
    openSubscriptions: (db, environmentId, customerIds) => loadOpenSubscriptions(db, catalog, environmentId, customerIds),
    soldTerms: findSoldTerms,
  })
  const ledger = new BillingLedger({ findUsage: readUsageOf })
  const billingProvider = new BuiltinProvider(new BuiltinRepository(prisma))
  const recordsParts = { prisma, catalog, billing: ledger, after }
  const billing = new BillingSync({ prisma, provider: billingProvider, settle: settlePayments(recordsParts), ledger })
  const provider = new ProviderRequests({ prisma, provider: billingProvider })
  const makeCalls = (environmentId: string, subscriptionId: string) => billing.deliverAll(environmentId, subscriptionId)
  const provisions = new ProvisionService({ ...recordsParts, makeCalls, provider })
  const subscriptionReads = new SubscriptionReads({ prisma, catalog, time: environments })
  const cancellations = new CancellationService({ ...recordsParts, makeCalls, reads: subscriptionReads })
  const subscriptionChanges = new SubscriptionChangeService({ ...recordsParts, provider })
  const dueTransitions = new DueTransitions(recordsParts)
  const reminders = new TrialReminders({ prisma, catalog, leadDays: trialEndingSoonDays })
  const previews = new SubscriptionPreviews({ catalog, time: environments, changes: subscriptionChanges })
  const promotional = new PromotionalService({ prisma, catalog, time: environments, after })
  const customers = new CustomerService({
    prisma,
    catalog,
    provisions,
    cancellations,
    promotional,
    entitlements,
    billing: billingProvider,
    coupons: ledger,
    provider,
    changed: after.changed,
  })
  const importer = new SubscriptionImporter({ ...recordsParts, provisions })
  const imports = new ImportService({
    prisma,
    importers: {
      CUSTOMERS: async (db, environmentId, input) => (await customers.importIn(db, environmentId, input as ImportCustomer)).refId,
      SUBSCRIPTIONS: async (db, environmentId, input) => (await importer.importIn(db, environmentId, input as ImportSubscription)).refId,
    },
    changed: after.changed,
    unexpected: (error, record) => life.log.error({ err: error, ...record }, 'record could not be imported'),
    wake: after.importDue,
    waiting: after.importsWaiting,
  })
  return {
    clock,
    auditLog: new AuditLog(prisma),
    environments,
    catalog,
    offers: new CatalogReader({
      prisma,
      catalog,
      users: { subscribedVersions: findSubscribedVersions, couponColumns: couponHolderColumns },
    }),
    customers,
    subscriptions: new SubscriptionProvisioning({ prisma, provisions, entitlements }),
    cancellations,
    subscriptionList: new SubscriptionList({
      prisma,
      catalog,
      time: environments,
      applyDue: (environmentId, customerId) => dueTransitions.applyDue(environmentId, customerId, { ifFree: true }),
    }),
    subscriptionChanges,
    subscriptionReads,
    transfers: new TransferService(recordsParts),
    dueTransitions,
    packageMigrations: new PackageMigrationService(recordsParts),
    testClocks: new TestClockService({ prisma, environments, transitions: dueTransitions, billing, reminders, after }),
    trialReminders: reminders,
    billing,
    billingProvider,
    billingReads: new BillingReads({ prisma, subscriptionRefIds: findRefIds }),
    estimates: new EstimateService({ prisma, previews, ledger, provider: billingProvider }),
    promotional,
    imports,
    entitlements,
    heldSeries: loadCounted(prisma, entitlements),
    budgets: entitlements,
    checks: new CheckCounter(life.metrics),
    warmings: new Warmings({ pool }),
    webhooks: new WebhookService({ prisma, sealing, targets, clock }),
    alerts: new AlertService({ prisma, catalog }),
    after,
    databaseEpoch,
  }
}
