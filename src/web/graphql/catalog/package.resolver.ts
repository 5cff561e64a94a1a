import { type ClassType, Ctx, FieldResolver, Resolver, Root } from 'type-graphql'
import type { VersionFacts } from '../../../catalog/model/package.js'
import type { EpochMs } from '../../../kernel/clock.js'
import type { RequestContext } from '../operations/context.js'
import * as enums from '../schema/enums.js'
import { DateTime, Json } from '../schema/scalars.js'
import { Feature, toFeature } from './feature.types.js'
import { Addon, type Package, Plan, Product, ProductSettings, toAddon, toPlan, toProduct } from './package.types.js'
import {
  PackageEntitlement,
  PackageEntitlementUnion,
  type PackageFeatureEntitlement,
  toPackageEntitlement,
  toPackageFeatureEntitlement,
} from './package-entitlement.types.js'
import { Price } from './price.types.js'

/** What plans and add-ons are told of that can change although the version cannot. */
function packageResolver<P extends Package>(type: ClassType<P>) {
  @Resolver(() => type)
  abstract class PackageResolver {
    @FieldResolver(() => DateTime, { nullable: true, description: 'When the version was made.' })
    async createdAt(@Root() version: Package, @Ctx() context: RequestContext): Promise<EpochMs | null> {
      return (await factsOf(version.id, context)).createdAt
    }

    @FieldResolver(() => Boolean, { nullable: true, description: 'Whether new subscriptions get this version.' })
    async isLatest(@Root() version: Package, @Ctx() context: RequestContext): Promise<boolean | null> {
      return (await factsOf(version.id, context)).isLatest
    }

    @FieldResolver(() => enums.PackageStatus, { description: 'ARCHIVED: not sold any more.' })
    async status(@Root() version: Package, @Ctx() context: RequestContext): Promise<keyof typeof enums.PackageStatus> {
      return (await factsOf(version.id, context)).status
    }

    @FieldResolver(() => DateTime, { nullable: true, description: 'A version never changes: the same as createdAt.' })
    async updatedAt(@Root() version: Package, @Ctx() context: RequestContext): Promise<EpochMs | null> {
      return (await factsOf(version.id, context)).createdAt
    }
  }
  return PackageResolver
}

async function factsOf(versionId: string, { loaders }: RequestContext): Promise<VersionFacts> {
  return (await loaders.versionFacts.load(versionId))!
}

@Resolver(() => Plan)
export class PlanResolver extends packageResolver(Plan) {
  @FieldResolver(() => Plan, { nullable: true, description: 'The version that this one inherits from.' })
  async basePlan(@Root() { source, environmentId }: Plan, @Ctx() { loaders }: RequestContext): Promise<Plan | null> {
    const version = source.basePlanVersionId === null ? null : await loaders.versions.load(source.basePlanVersionId)
    return version ? toPlan(environmentId, version) : null
  }

  @FieldResolver(() => [Addon], { nullable: true, description: 'What can be held beside it, in the version that is sold now.' })
  async compatibleAddons(@Root() { source, environmentId }: Plan, @Ctx() { loaders }: RequestContext): Promise<Addon[]> {
    const versions = await Promise.all(source.compatibleAddonIds.map((id) => loaders.latestVersions.load(id)))
    return versions.flatMap((version) => (version ? [toAddon(environmentId, version)] : []))
  }

  @FieldResolver(() => [PackageEntitlement], { nullable: true, description: 'Those of the base plan, with what that one inherits.' })
  async inheritedEntitlements(@Root() { id }: Plan, @Ctx() { loaders, turns }: RequestContext): Promise<PackageEntitlement[]> {
    const inherited = (await loaders.inherited.load(id)) ?? []
    // Those of many plans are there at once.
    await turns?.pause()
    return inherited.map((entitlement) => toPackageEntitlement(id, entitlement))
  }

  @FieldResolver(() => [PackageEntitlementUnion], { nullable: true, description: 'The same as inheritedEntitlements.' })
  async inheritedPackageEntitlements(
    @Root() { id }: Plan,
    @Ctx() { loaders, turns }: RequestContext,
  ): Promise<PackageFeatureEntitlement[]> {
    const inherited = (await loaders.inherited.load(id)) ?? []
    await turns?.pause()
    return inherited.map((entitlement) => toPackageFeatureEntitlement(id, entitlement))
  }

  @FieldResolver(() => Boolean, { description: 'Whether other plans inherit from this version.' })
  async isParent(@Root() { id }: Plan, @Ctx() context: RequestContext): Promise<boolean> {
    return (await factsOf(id, context)).isParent
  }

  @FieldResolver(() => Product)
  async product(@Root() { source }: Plan, @Ctx() { loaders }: RequestContext): Promise<Product> {
    return toProduct((await loaders.products.load(source.productId))!)
  }
}

@Resolver(() => Addon)
export class AddonResolver extends packageResolver(Addon) {
  @FieldResolver(() => [Addon], { nullable: true, description: 'Add-ons that must be held as well, in the version that is sold now.' })
  async dependencies(@Root() { source, environmentId }: Addon, @Ctx() { loaders }: RequestContext): Promise<Addon[]> {
    const versions = await Promise.all(source.dependencies.map((refId) => loaders.latestAddons.load(refId)))
    return versions.flatMap((version) => (version ? [toAddon(environmentId, version)] : []))
  }

  @FieldResolver(() => Boolean, { description: 'Whether a subscription ever held this version.' })
  async hasSubscriptions(@Root() { id }: Addon, @Ctx() context: RequestContext): Promise<boolean> {
    return (await factsOf(id, context)).hasSubscriptions
  }
}

@Resolver(() => Price)
export class PriceResolver {
  @FieldResolver(() => DateTime, { nullable: true })
  async createdAt(@Root() { versionId }: Price, @Ctx() context: RequestContext): Promise<EpochMs | null> {
    return (await factsOf(versionId, context)).createdAt
  }

  @FieldResolver(() => Feature, { nullable: true, description: 'What is counted; null for a flat fee.' })
  async feature(@Root() { featureRefId }: Price, @Ctx() { loaders }: RequestContext): Promise<Feature | null> {
    const feature = featureRefId === null ? undefined : await loaders.features.load(featureRefId)
    return feature ? toFeature(feature) : null
  }

  @FieldResolver(() => Boolean, { nullable: true, description: 'Whether a subscription was ever made to the version that it belongs to.' })
  async usedInSubscriptions(@Root() { versionId }: Price, @Ctx() context: RequestContext): Promise<boolean> {
    return (await factsOf(versionId, context)).hasSubscriptions
  }
}

@Resolver(() => Feature)
export class FeatureResolver {
  @FieldResolver(() => Json, { nullable: true, description: 'Facts of the catalog’s author.' })
  async additionalMetaData(@Root() { refId }: Feature, @Ctx() { loaders }: RequestContext): Promise<unknown> {
    return (await loaders.features.load(refId))?.additionalMetaData ?? null
  }
}

@Resolver(() => Product)
export class ProductResolver {
  @FieldResolver(() => Plan, { nullable: true, description: 'The plan that follows when a subscription ends; null: none does.' })
  async downgradePlan(@Root() product: Product, @Ctx() context: RequestContext): Promise<Plan | null> {
    return downgradePlanOf(product, context)
  }

  @FieldResolver(() => ProductSettings)
  async productSettings(@Root() product: Product, @Ctx() context: RequestContext): Promise<ProductSettings> {
    return { downgradePlan: await downgradePlanOf(product, context) }
  }
}

async function downgradePlanOf({ downgradePlanId }: Product, { loaders, identity }: RequestContext): Promise<Plan | null> {
  const version = downgradePlanId === null ? null : await loaders.latestVersions.load(downgradePlanId)
  return version ? toPlan(identity.environmentId, version) : null
}
