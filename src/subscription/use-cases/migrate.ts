import { byRule } from '../../audit/record/origin.js'
import type { CatalogService } from '../../catalog/service.js'
import { lockCustomerState, recordAccessChange } from '../../changes/access.js'
import { findCustomer } from '../../customer/records/customers.js'
import type { EpochMs } from '../../kernel/clock.js'
import { LeftAlone } from '../../platform/due-sweep.js'
import { type PrismaClient } from '../../platform/postgres.js'
import { inTransaction } from '../../platform/transaction.js'
import { type RecordsParts, SubscriptionRecords } from '../records/frame.js'
import * as repository from '../records/migrations.js'
import { saveSubscription } from '../records/subscriptions.js'
import { withVersions } from '../rules/scheduled.js'
import type { Subscription } from '../rules/subscription.js'
import { latestAddons } from '../rules/update.js'
import { latestVersions } from './latest-versions.js'

/** A version that was published for all customers, and how many subscriptions have moved to it. */
interface PackageMigration {
  id: string
  packageRefId: string
  versionNumber: number
  /** Subscriptions to older versions when it was first looked at. */
  total: number
  migrated: number
  startedAt: EpochMs
  /** Null while subscriptions are left. */
  finishedAt: EpochMs | null
}

/** Customers per look at what is left. */
const batchSize = 100

/**
 * Moves existing subscriptions to versions that were published for ALL_CUSTOMERS. What is left to do is what still holds an older version: so it goes
 * on after any crash, several workers may work at once, and a second run finds nothing.
 */
export class PackageMigrationService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #billing: RecordsParts['billing']
  readonly #records: SubscriptionRecords
  readonly #leftAlone = new LeftAlone()

  constructor(parts: RecordsParts) {
    this.#prisma = parts.prisma
    this.#catalog = parts.catalog
    this.#billing = parts.billing
    this.#records = new SubscriptionRecords(parts)
  }

  /** The newest first. */
  list(environmentId: string): Promise<PackageMigration[]> {
    return repository.listMigrations(this.#prisma, environmentId)
  }

  /**
   * Works on the unfinished migrations, in turns, until they are finished or `signal` aborts. A customer that cannot be moved holds up no other: it is
   * answered with its error and left alone for a while.
   */
  async run(signal: AbortSignal): Promise<{ migrated: number; failures: { customerId: string; error: unknown }[] }> {
    let migrated = 0
    const failures: { customerId: string; error: unknown }[] = []
    let open = await repository.openMigrations(this.#prisma)
    while (open.length > 0 && !signal.aborted) {
      const unfinished: repository.OpenMigration[] = []
      for (const migration of open) {
        const leftAlone = this.#leftAlone.keys().flatMap((key) => (key.startsWith(migration.id) ? [key.slice(migration.id.length)] : []))
        const customerIds = await repository.customersOnOlderVersions(this.#prisma, migration, leftAlone, batchSize)
        if (customerIds.length > 0) unfinished.push(migration)
        else if (leftAlone.length === 0) await repository.finishMigration(this.#prisma, migration)
        for (const customerId of customerIds) {
          if (signal.aborted) break
          try {
            migrated += await byRule('packageMigration', () => this.#migrateCustomer(migration, customerId), migration.id)
            this.#leftAlone.succeeded(migration.id + customerId)
          } catch (error) {
            this.#leftAlone.failed(migration.id + customerId)
            failures.push({ customerId, error })
          }
        }
      }
      open = unfinished
    }
    return { migrated, failures }
  }

  /** All subscriptions of one customer, in one transaction with the progress. Answers how many moved. */
  async #migrateCustomer(migration: repository.OpenMigration, customerId: string): Promise<number> {
    const { environmentId, packageId } = migration
    const changed = await inTransaction(this.#prisma, async (db) => {
      const customer = await findCustomer(db, environmentId, { id: customerId })
      const now = customer && (await lockCustomerState(db, environmentId, customerId))
      if (!customer || now === null) throw new Error(`customer ${customerId} has no state row`)
      const held = await this.#records.recordDue(db, { ...customer, now })
      const moved: Subscription[] = []
      for (const subscription of held.open) {
        const latest = await latestVersions(db, this.#catalog, subscription)
        const plan = subscription.plan.packageId === packageId ? latest.plan : subscription.plan
        const isHeld = subscription.addons.some(({ version }) => version.packageId === packageId)
        const newest = latest.addons.get(packageId)
        const addons = isHeld && newest ? latestAddons(subscription, { addons: new Map([[packageId, newest]]) }) : subscription.addons
        if (plan.id === subscription.plan.id && addons.every(({ version }, index) => version.id === subscription.addons[index]!.version.id))
          continue
        const after = withVersions(subscription, { plan, addons })
        await saveSubscription(db, subscription, after)
        await this.#billing.recordIn(db, customer, [{ before: subscription, after, at: now, isRenewal: false }])
        moved.push(after)
      }
      await repository.countMigrated(db, migration, moved.length)
      if (moved.length > 0 || held.isAccessChanged) await recordAccessChange(db, customer)
      return { subscriptions: [...held.changed, ...moved], moved: moved.length }
    })
    this.#records.wake(changed.subscriptions)
    return changed.moved
  }
}
