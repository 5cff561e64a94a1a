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

/** What could not be done, and is tried again later. */
export interface MigrationFailure {
  environmentId: string
  migrationId: string
  /** Ours; null: it could not be found out whose turn it is. */
  customerId: string | null
  error: unknown
}

/** Customers of an environment in a round, and migrations of it that are looked at: everybody else waits for those of each environment that has some. */
const turn = 25

/**
 * Moves existing subscriptions to versions that were published for ALL_CUSTOMERS. What is left to do is what still holds an older version: so it goes
 * on after any crash, several workers may work at once, and a second run finds nothing.
 */
export class PackageMigrationService {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #billing: RecordsParts['billing']
  readonly #records: SubscriptionRecords
  /** Customers, by the id of their migration and theirs. */
  readonly #leftAlone = new LeftAlone()
  /** Migrations, by their id. */
  readonly #paused = new LeftAlone()

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
   * Works on the unfinished migrations in rounds, until nothing more can be done now or `signal` aborts; answers how many subscriptions were moved. Each
   * round looks for them anew and gives each environment a turn, so that one with many customers leaves the others theirs. A customer that cannot be moved
   * holds up no other, and a migration that cannot be looked at no other: it is told of, and left alone for a while.
   */
  async run(signal: AbortSignal, failed: (failure: MigrationFailure) => void): Promise<number> {
    let migrated = 0
    for (let isProgress = true; isProgress && !signal.aborted; ) {
      isProgress = false
      const open = await repository.openMigrations(this.#prisma, { except: this.#paused.keys(), limit: turn })
      const ofEnvironment = new Map<string, number>()
      for (const { environmentId } of open) ofEnvironment.set(environmentId, (ofEnvironment.get(environmentId) ?? 0) + 1)
      for (const migration of open) {
        if (signal.aborted) break
        const { environmentId, id } = migration
        try {
          const done = await this.#work(migration, Math.ceil(turn / ofEnvironment.get(environmentId)!), signal, failed)
          migrated += done.migrated
          if (done.migrated > 0 || done.isFinished) isProgress = true
        } catch (error) {
          this.#paused.failed(id)
          failed({ environmentId, migrationId: id, customerId: null, error })
        }
      }
    }
    return migrated
  }

  /** Moves at most so many customers. */
  async #work(
    migration: repository.OpenMigration,
    most: number,
    signal: AbortSignal,
    failed: (failure: MigrationFailure) => void,
  ): Promise<{ migrated: number; isFinished: boolean }> {
    const { environmentId, id } = migration
    if (!migration.isCounted) await repository.countToMove(this.#prisma, migration)
    const leftAlone = this.#leftAlone.keys().flatMap((key) => (key.startsWith(id) ? [key.slice(id.length)] : []))
    const customerIds = await repository.customersOnOlderVersions(this.#prisma, migration, leftAlone, most)
    const isFinished = customerIds.length === 0 && leftAlone.length === 0
    if (isFinished) await repository.finishMigration(this.#prisma, migration)
    // Those that are left are left alone: meanwhile it takes nobody's place.
    else if (customerIds.length === 0) this.#paused.failed(id)
    else this.#paused.succeeded(id)
    let migrated = 0
    for (const customerId of customerIds) {
      if (signal.aborted) break
      try {
        migrated += await byRule('packageMigration', () => this.#migrateCustomer(migration, customerId), id)
        this.#leftAlone.succeeded(id + customerId)
      } catch (error) {
        this.#leftAlone.failed(id + customerId)
        failed({ environmentId, migrationId: id, customerId, error })
      }
    }
    return { migrated, isFinished }
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
