import { recordCatalogChange } from '../changes/access.js'
import { recordEvents } from '../changes/events.js'
import type { PublishedPackage } from '../changes/model/change.js'
import { catalogVersion, countCatalogChange } from '../environment/records/catalog-version.js'
import type { Clock, EpochMs } from '../kernel/clock.js'
import { Lines } from '../kernel/lines.js'
import { Problem } from '../kernel/problem.js'
import { type Db, type PrismaClient } from '../platform/postgres.js'
import { inSnapshot, inTransaction } from '../platform/transaction.js'
import type { CatalogChange } from './document/difference.js'
import type { CatalogDocument, ProductSettings } from './document/document.js'
import type { WrittenCatalog } from './document/export.js'
import { catalogMoved, catalogRefused, checkRevived } from './document/refusal.js'
import { keptByRows, rowsOf } from './kept-by-rows.js'
import type { CatalogFeature, Feature } from './model/feature.js'
import type { PackageKind, PackageVersion } from './model/package.js'
import type { ProductRules } from './model/product.js'
import { CatalogPlanner } from './planner.js'
import * as repository from './records/catalog.js'
import type { FrozenPrice, FrozenVersion } from './records/rows.js'
import { saveChanges } from './records/save.js'
import { inSteps } from './steps.js'

interface ApplyOptions {
  /** Answers what would change and changes nothing. */
  dryRun: boolean
  /** What the document leaves out is archived; otherwise it stays. */
  archiveMissing: boolean
  /** Of the catalog that the document was made from (`contentVersion`): refused when another one is in force. Absent: whatever is in force. */
  expectedVersion?: string | null
  /** Refuses, with this problem, what would change or is there already. */
  onlyNew?: (refId: string) => Error
}

/** Our ids of a package and of what was just published of it. */
export interface PublishedVersion {
  packageId: string
  versionId: string
}

/** The product that decides what a new customer gets. */
interface DefaultProduct {
  id: string
  refId: string
  newCustomer: ProductSettings['newCustomer']
  /** The latest version of the plan of FREE_PLAN or TRIAL_PERIOD; null for PLAN_SELECTION. */
  plan: PackageVersion | null
}

interface CatalogServiceOptions {
  prisma: PrismaClient
  clock: Clock
  /** Has existing subscriptions move to versions that were published for them too, in the transaction that publishes them. */
  startMigrations: (db: Db, environmentId: string, published: readonly PublishedVersion[]) => Promise<void>
  /** Told after each committed change that the environment's outbox has messages. Never throws: a lost call only delays them. */
  nudge: (environmentId: string) => void
}

/** Documents of one environment. */
const maxApplying = 20
const tooManyApplied = () =>
  new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'Many documents are being applied to this catalog at the moment: try again.', {
    details: { retryAfterMs: 1_000 },
  })

/**
 * The catalog of an environment. Reads take the caller's `db`, so that they see what its transaction sees; ids of another environment are
 * not found.
 */
export class CatalogService {
  readonly #prisma: PrismaClient
  readonly #clock: Clock
  readonly #startMigrations: CatalogServiceOptions['startMigrations']
  readonly #nudge: CatalogServiceOptions['nudge']
  readonly #planner = new CatalogPlanner()
  readonly #applying = new Lines(maxApplying, tooManyApplied)
  /** Published versions never change, so they are never stale. */
  readonly #versions = keptByRows<FrozenVersion>(rowsOf)
  /** The version of the catalog that a transaction sees. */
  readonly #readsAt = new WeakMap<Db, string>()
  /** By the version of the catalog. */
  readonly #answers = keptByRows<{ answer: unknown; rows: number }>(({ rows }) => rows)

  constructor({ prisma, clock, startMigrations, nudge }: CatalogServiceOptions) {
    this.#prisma = prisma
    this.#clock = clock
    this.#startMigrations = startMigrations
    this.#nudge = nudge
  }

  /**
   * Brings the catalog to what the document says, all or nothing, and answers what changed; applying it again changes nothing. `input` is
   * what JSON holds, or YAML or JSON text. Fails with BAD_USER_INPUT and every problem in `details.problems` when the document is wrong, and with
   * CATALOG_VERSION_MISMATCH and the difference when the catalog in force is not the one that is expected.
   */
  async apply(environmentId: string, input: unknown, options: ApplyOptions): Promise<CatalogChange[]> {
    const { dryRun, archiveMissing, expectedVersion = null, onlyNew } = options
    const now = this.#clock.now()
    // Before the transaction: others wait for its lock.
    const sent = await this.#planner.take(input)
    const work = async (db: Db) => {
      await repository.lockCatalog(db, environmentId)
      const current = await repository.readDocument(db, environmentId)
      const plan = await this.#planner.plan(sent, current, { archiveMissing, expectedVersion })
      const changes = plan.changes.map(({ change }) => change)
      const problems = [...plan.problems, ...checkRevived(plan.changes, await repository.readArchived(db, environmentId, plan.changes))]
      if (expectedVersion !== null && plan.movedTo !== null)
        throw catalogMoved({ expectedVersion, version: plan.movedTo, outcome: problems.length > 0 ? { problems } : { changes } })
      if (problems.length > 0) throw catalogRefused(problems)
      if (onlyNew && plan.known !== null) throw onlyNew(plan.known)
      if (dryRun || changes.length === 0) return changes

      const saved = await saveChanges(db, { environmentId, changes: plan.changes, now })
      await countCatalogChange(db, environmentId)
      const packages = saved.map(({ kind, refId, versionNumber, ...ids }) => ({
        ids,
        message: publishedPackage(kind, refId, versionNumber, plan.forAll),
      }))
      const forAll = packages.filter(({ message }) => message.migrationType === 'ALL_CUSTOMERS')
      if (forAll.length > 0)
        await this.#startMigrations(
          db,
          environmentId,
          forAll.map(({ ids }) => ids),
        )
      const messages = packages.map(({ message }) => message)
      await recordCatalogChange(db, { environmentId, version: now, packages: messages })
      await recordEvents(db, environmentId, () =>
        messages.map(({ packageRefId, ...data }) => ({
          type: 'package.published',
          customerId: null,
          data: { packageId: packageRefId, ...data },
        })),
      )
      return changes
    }
    // Others would wait for the catalog's lock, each with a connection of the database.
    const changes = await this.#applying.run(environmentId, () => inTransaction(this.#prisma, work))
    if (!dryRun && changes.length > 0) this.#nudge(environmentId)
    return changes
  }

  /** What is sold now, as one document; applying it changes nothing. */
  async export(environmentId: string): Promise<CatalogDocument> {
    // One snapshot, or a document that is being applied could be seen in parts.
    return inSnapshot(this.#prisma, (db) => repository.readDocument(db, environmentId))
  }

  /** The same as plain JSON, with its version (exportCatalog). */
  async write(environmentId: string): Promise<WrittenCatalog> {
    return this.#planner.write(await this.export(environmentId))
  }

  /** Published versions by id, together with all versions that they inherit from. Unknown ids are left out. */
  async versions(db: Db, environmentId: string, ids: Iterable<string>): Promise<Map<string, PackageVersion>> {
    const frozen = new Map<string, FrozenVersion>()
    for (let wanted = new Set(ids); wanted.size > 0; ) {
      const found = await this.#frozenVersions(db, environmentId, [...wanted])
      for (const version of found) frozen.set(version.id, version)
      const basePlans = found.flatMap(({ basePlanVersionId }) => basePlanVersionId ?? [])
      // Each version inherits from an older one, so this comes to an end.
      wanted = new Set(basePlans.filter((id) => !frozen.has(id)))
    }
    return this.#withFeatures(db, environmentId, frozen.values())
  }

  /**
   * The transaction of `db` sees this version of the catalog (`catalog_version` of its environment): what was read at it before need not be read again
   * for who asks with this `db`.
   */
  readsAt(db: Db, environmentId: string, catalogVersion: number): void {
    this.#readsAt.set(db, `${environmentId}:${catalogVersion}`)
  }

  /** The same for a transaction that reads one snapshot: looks up which version of the catalog that has. */
  async readsSnapshot(db: Db, environmentId: string): Promise<void> {
    this.readsAt(db, environmentId, await catalogVersion(db, environmentId))
  }

  /** What a new subscription gets. Null: there is no such plan or add-on, or it is archived. */
  latestVersion(db: Db, environmentId: string, kind: PackageKind, refId: string): Promise<PackageVersion | null> {
    const read = async () => {
      const id = await repository.findLatestVersionId(db, environmentId, kind, refId)
      return id === null ? null : this.#version(db, environmentId, id)
    }
    return this.#onceAt(db, `latest:${kind}:${refId}`, read, rowsOf)
  }

  /** The version of a package that was the latest at an instant; at one in the future, or at null, the latest of now. Null: the package has none. */
  async versionAt(db: Db, environmentId: string, packageId: string, at: EpochMs | null): Promise<PackageVersion | null> {
    const id = at === null ? null : await repository.findVersionIdAt(db, environmentId, packageId, at)
    return id === null ? this.#latestVersionOf(db, environmentId, packageId) : this.#version(db, environmentId, id)
  }

  /** All features by refId, archived ones too. */
  features(db: Db, environmentId: string): Promise<ReadonlyMap<string, CatalogFeature>> {
    const read = async () => {
      const features = await repository.allFeatures(db, environmentId)
      return new Map(features.map((feature) => [feature.refId, feature]))
    }
    return this.#onceAt(db, 'features', read, ({ size }) => size)
  }

  /** Our id of a coupon that may be given to somebody. Null: there is none of that name, or it is archived. */
  couponId(db: Db, environmentId: string, refId: string): Promise<string | null> {
    return repository.findCouponId(db, environmentId, refId)
  }

  /**
   * What the product says about its subscriptions, also when it is archived: they keep what they were promised, the downgrade to a plan that
   * is archived included. `productId` comes from a record that refers to the product, so it exists.
   */
  productRules(db: Db, environmentId: string, productId: string): Promise<ProductRules> {
    const read = () => this.#productRules(db, environmentId, productId)
    return this.#onceAt(db, `rules:${productId}`, read, ({ downgradePlan }) => rowsOf(downgradePlan))
  }

  async #productRules(db: Db, environmentId: string, productId: string): Promise<ProductRules> {
    const product = await repository.getProduct(db, environmentId, productId)
    const { id, refId, endSetting, cancellationTiming, downgradeTiming, usageOnPlanChange, allowsMultipleSubscriptions } = product
    const downgradePlan = await this.#latestVersionOf(db, environmentId, product.downgradePlanId)
    return { id, refId, endSetting, downgradePlan, cancellationTiming, downgradeTiming, usageOnPlanChange, allowsMultipleSubscriptions }
  }

  /** The oldest product that is not archived. Null: there is none. */
  defaultProduct(db: Db, environmentId: string): Promise<DefaultProduct | null> {
    const read = () => this.#defaultProduct(db, environmentId)
    return this.#onceAt(db, 'default', read, (product) => rowsOf(product?.plan ?? null))
  }

  async #defaultProduct(db: Db, environmentId: string): Promise<DefaultProduct | null> {
    const product = await repository.findOldestProduct(db, environmentId)
    if (!product) return null
    const { id, refId, newCustomerSetting, newCustomerPlanId } = product
    return { id, refId, newCustomer: newCustomerSetting, plan: await this.#latestVersionOf(db, environmentId, newCustomerPlanId) }
  }

  /** What is answered must not be changed by anybody: the next one gets it too. */
  async #onceAt<T>(db: Db, question: string, read: () => Promise<T>, rows: (answer: T) => number): Promise<T> {
    const at = this.#readsAt.get(db)
    if (at === undefined) return read()
    const key = `${at}:${question}`
    const known = this.#answers.get(key)
    if (known) return known.answer as T
    const answer = await read()
    this.#answers.set(key, { answer, rows: rows(answer) })
    return answer
  }

  async #latestVersionOf(db: Db, environmentId: string, packageId: string | null): Promise<PackageVersion | null> {
    const id = packageId && (await repository.findLatestVersionIdOf(db, environmentId, packageId))
    return id ? this.#version(db, environmentId, id) : null
  }

  async #version(db: Db, environmentId: string, id: string): Promise<PackageVersion | null> {
    return (await this.#withFeatures(db, environmentId, await this.#frozenVersions(db, environmentId, [id]))).get(id) ?? null
  }

  async #frozenVersions(db: Db, environmentId: string, ids: string[]): Promise<FrozenVersion[]> {
    const keyOf = (id: string) => `${environmentId}:${id}`
    const known = ids.flatMap((id) => this.#versions.get(keyOf(id)) ?? [])
    if (known.length === ids.length) return known
    const knownIds = new Set(known.map(({ id }) => id))
    const missing = ids.filter((id) => !knownIds.has(id))
    const found = await repository.findVersions(db, environmentId, missing)
    for (const version of found) this.#versions.set(keyOf(version.id), version)
    return [...known, ...found]
  }

  /** Features are read each time: a new display name or unit is to be seen at once, and one query costs little. */
  async #withFeatures(db: Db, environmentId: string, versions: Iterable<FrozenVersion>): Promise<Map<string, PackageVersion>> {
    const all = [...versions]
    const ids = await inSteps(featureIdsOf(all))
    const features = ids.size === 0 ? [] : await repository.findFeatures(db, environmentId, [...ids])
    const byId = new Map(features.map(({ isArchived, enumValues, ...feature }) => [feature.id, feature]))
    return inSteps(completed(all, byId))
  }
}

/** A step for each version. */
function* featureIdsOf(versions: readonly FrozenVersion[]): Generator<void, Set<string>> {
  const ids = new Set<string>()
  for (const { entitlements, prices } of versions) {
    for (const { featureId } of entitlements) ids.add(featureId)
    for (const { featureId } of prices) if (featureId !== null) ids.add(featureId)
    yield
  }
  return ids
}

/** By our id, with their features. A step for each version. */
function* completed(
  versions: readonly FrozenVersion[],
  features: ReadonlyMap<string, Feature>,
): Generator<void, Map<string, PackageVersion>> {
  const all = new Map<string, PackageVersion>()
  for (const version of versions) {
    const entitlements = version.entitlements.map((entitlement) => ({ ...entitlement, feature: features.get(entitlement.featureId)! }))
    const prices = version.prices.map((price) => ({ ...price, unitTransformation: unitTransformationOf(price, features) }))
    all.set(version.id, { ...version, entitlements, prices })
    yield
  }
  return all
}

function unitTransformationOf(
  { billingModel, featureId }: FrozenPrice,
  features: ReadonlyMap<string, Pick<Feature, 'unitTransformation'>>,
): Feature['unitTransformation'] {
  return billingModel === 'USAGE_BASED' && featureId !== null ? features.get(featureId)!.unitTransformation : null
}

function publishedPackage(kind: PackageKind, refId: string, packageVersion: number, forAll: ReadonlySet<string>): PublishedPackage {
  return {
    packageRefId: refId,
    packageType: kind === 'PLAN' ? 'Plan' : 'Addon',
    packageVersion,
    migrationType: forAll.has(`${kind.toLowerCase()} ${refId}`) ? 'ALL_CUSTOMERS' : 'NEW_CUSTOMERS',
  }
}
