import { LRUCache } from 'lru-cache'
import { catalogVersion } from '../environment/records/catalog-version.js'
import type { Columns } from '../platform/list/columns.js'
import { withRecords } from '../platform/list/page.js'
import type { ListRequest, Page } from '../platform/list/request.js'
import type { Db, PrismaClient } from '../platform/postgres.js'
import { type Coupon, couponExists } from './model/coupon.js'
import type { ShownFeature } from './model/feature.js'
import { Inheritance } from './model/inheritance.js'
import type { PackageEntitlement, PackageVersion, VersionFacts } from './model/package.js'
import { productNotFound } from './model/problems.js'
import type { ProductFacts } from './model/product.js'
import { type CatalogSizes, catalogSizes } from './model/sizes.js'
import { findCoupon, findCoupons } from './records/coupons.js'
import * as repository from './records/lists.js'
import type { CatalogService } from './service.js'
import { inSteps } from './steps.js'

/** What domains above the catalog know of what is in it. */
interface CatalogUsers {
  /** Those of the versions (our ids) that a subscription was ever made to. */
  subscribedVersions(db: Db, environmentId: string, versionIds: readonly string[]): Promise<ReadonlySet<string>>
  /** What coupons, called `coupon` in the statement, are filtered by beside their own fields. */
  couponColumns: Columns
}

/** The catalog for those who show it: many records at once, each found by the id that another record names it by. */
export class CatalogReader {
  readonly #prisma: PrismaClient
  readonly #catalog: CatalogService
  readonly #users: CatalogUsers
  /** By environment, of the version of its catalog that they were found out at. */
  readonly #sizes = new LRUCache<string, { version: number; sizes: CatalogSizes }>({ max: 1_000 })

  constructor({ prisma, catalog, users }: { prisma: PrismaClient; catalog: CatalogService; users: CatalogUsers }) {
    this.#prisma = prisma
    this.#catalog = catalog
    this.#users = users
  }

  /** By our id, archived ones too. */
  async products(environmentId: string, ids: readonly string[]): Promise<Map<string, ProductFacts>> {
    return byId(await repository.findProducts(this.#prisma, environmentId, ids))
  }

  /** By our id of the version. */
  async versionFacts(environmentId: string, versionIds: readonly string[]): Promise<Map<string, VersionFacts>> {
    const facts = await repository.findVersionFacts(this.#prisma, environmentId, versionIds)
    const subscribed = await this.#users.subscribedVersions(this.#prisma, environmentId, versionIds)
    return new Map([...facts].map(([id, known]) => [id, { ...known, hasSubscriptions: subscribed.has(id) }]))
  }

  /** By refId, archived ones too. */
  async features(environmentId: string, refIds: readonly string[]): Promise<Map<string, ShownFeature>> {
    const features = await repository.findShownFeatures(this.#prisma, environmentId, refIds)
    return new Map(features.map((feature) => [feature.refId, feature]))
  }

  /** By our id of the version; what they inherit from is in it too. */
  versions(environmentId: string, versionIds: readonly string[]): Promise<Map<string, PackageVersion>> {
    return this.#catalog.versions(this.#prisma, environmentId, versionIds)
  }

  /** What new subscriptions get of these packages, by our id of the package. Archived ones are left out. */
  async latestVersions(environmentId: string, packageIds: readonly string[]): Promise<Map<string, PackageVersion>> {
    const versions = await this.#latest(environmentId, { packageIds })
    return new Map(versions.map((version) => [version.packageId, version]))
  }

  /** The same of add-ons, by refId. */
  async latestAddons(environmentId: string, refIds: readonly string[]): Promise<Map<string, PackageVersion>> {
    const versions = await this.#latest(environmentId, { kind: 'ADDON', refIds })
    return new Map(versions.map((version) => [version.refId, version]))
  }

  /** What each of these versions (our ids) inherits. */
  async inherited(environmentId: string, versionIds: readonly string[]): Promise<Map<string, PackageEntitlement[]>> {
    const versions = await this.versions(environmentId, versionIds)
    return inSteps(inheritedBy(versionIds, versions))
  }

  /** The plans of a product that are sold now, in no order. Null: of the default product. Fails with PRODUCT_NOT_FOUND. */
  async plansOf(environmentId: string, productRefId: string | null): Promise<PackageVersion[]> {
    if (productRefId === null) {
      const product = await this.#catalog.defaultProduct(this.#prisma, environmentId)
      return product ? this.#latest(environmentId, { kind: 'PLAN', productId: product.id }) : []
    }
    const productId = await repository.findProductId(this.#prisma, environmentId, productRefId)
    if (productId === null) throw productNotFound(productRefId)
    return this.#latest(environmentId, { kind: 'PLAN', productId })
  }

  /** How long lists of what is sold now are. The catalog is read once for each of its versions. */
  async sizes(environmentId: string): Promise<CatalogSizes> {
    const version = await catalogVersion(this.#prisma, environmentId)
    const known = this.#sizes.get(environmentId)
    if (known?.version === version) return known.sizes
    const ids = await repository.findLatestVersionIds(this.#prisma, environmentId, {})
    const versions = await this.versions(environmentId, ids)
    const latest = ids.map((id) => versions.get(id)!)
    const sizes = await inSteps(catalogSizes(latest, versions))
    this.#sizes.set(environmentId, { version, sizes })
    return sizes
  }

  async listProducts(environmentId: string, request: ListRequest): Promise<Page<ProductFacts>> {
    const page = await repository.pageOfProducts(this.#prisma, environmentId, request)
    return withRecords(page, (ids) => this.products(environmentId, ids))
  }

  async listCoupons(environmentId: string, request: ListRequest): Promise<Page<Coupon>> {
    const page = await repository.pageOfCoupons(this.#prisma, environmentId, request, this.#users.couponColumns)
    return withRecords(page, (ids) => this.coupons(environmentId, ids))
  }

  /** By our id, archived ones too. */
  async coupons(environmentId: string, ids: readonly string[]): Promise<Map<string, Coupon>> {
    return byId(await findCoupons(this.#prisma, environmentId, ids))
  }

  /** Adds one to the catalog. Fails with DUPLICATED_ENTITY_NOT_ALLOWED when it is there, with BAD_USER_INPUT as `CatalogService.apply` does. */
  async createCoupon(environmentId: string, definition: { refId: string; [field: string]: unknown }): Promise<Coupon> {
    await this.#catalog.apply(environmentId, { coupons: [definition] }, { dryRun: false, archiveMissing: false, onlyNew: couponExists })
    return (await findCoupon(this.#prisma, environmentId, { refId: definition.refId }))!
  }

  async #latest(environmentId: string, which: Parameters<typeof repository.findLatestVersionIds>[2]): Promise<PackageVersion[]> {
    const ids = await repository.findLatestVersionIds(this.#prisma, environmentId, which)
    const versions = await this.versions(environmentId, ids)
    return ids.map((id) => versions.get(id)!)
  }
}

function* inheritedBy(
  versionIds: readonly string[],
  versions: ReadonlyMap<string, PackageVersion>,
): Generator<void, Map<string, PackageEntitlement[]>> {
  const inheritance = new Inheritance(versions)
  const inherited = new Map<string, PackageEntitlement[]>()
  for (const id of versionIds) {
    inherited.set(id, inheritance.of(versions.get(id)!))
    yield
  }
  return inherited
}

const byId = <T extends { id: string }>(records: readonly T[]) => new Map(records.map((record) => [record.id, record]))
