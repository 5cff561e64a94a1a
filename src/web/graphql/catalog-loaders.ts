import DataLoader from 'dataloader'
import type { Coupon } from '../../catalog/model/coupon.js'
import type { ShownFeature } from '../../catalog/model/feature.js'
import type { PackageEntitlement, PackageVersion, VersionFacts } from '../../catalog/model/package.js'
import type { ProductFacts } from '../../catalog/model/product.js'
import type { App } from '../../wiring/app.js'

/** Records of the catalog; undefined: unknown. All ids are ours unless it says refId. */
export interface CatalogLoaders {
  coupons: DataLoader<string, Coupon | undefined>
  /** By refId. */
  features: DataLoader<string, ShownFeature | undefined>
  /** What a version inherits, by id of the version. */
  inherited: DataLoader<string, PackageEntitlement[] | undefined>
  /** What is sold now of an add-on, by refId; archived ones are unknown. */
  latestAddons: DataLoader<string, PackageVersion | undefined>
  /** What is sold now of a plan or add-on, by id of the package; archived ones are unknown. */
  latestVersions: DataLoader<string, PackageVersion | undefined>
  products: DataLoader<string, ProductFacts | undefined>
  versionFacts: DataLoader<string, VersionFacts | undefined>
  versions: DataLoader<string, PackageVersion | undefined>
}

export function createCatalogLoaders({ offers }: Pick<App, 'offers'>, environmentId: string): CatalogLoaders {
  return {
    coupons: loader((ids) => offers.coupons(environmentId, ids)),
    features: loader((refIds) => offers.features(environmentId, refIds)),
    inherited: loader((ids) => offers.inherited(environmentId, ids)),
    latestAddons: loader((refIds) => offers.latestAddons(environmentId, refIds)),
    latestVersions: loader((ids) => offers.latestVersions(environmentId, ids)),
    products: loader((ids) => offers.products(environmentId, ids)),
    versionFacts: loader((ids) => offers.versionFacts(environmentId, ids)),
    versions: loader((ids) => offers.versions(environmentId, ids)),
  }
}

function loader<T>(load: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>): DataLoader<string, T | undefined> {
  return new DataLoader(async (keys) => {
    const found = await load(keys)
    return keys.map((key) => found.get(key))
  })
}
