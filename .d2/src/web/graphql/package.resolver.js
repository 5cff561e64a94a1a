var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
var __param = (this && this.__param) || function (paramIndex, decorator) {
    return function (target, key) { decorator(target, key, paramIndex); }
};
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import * as enums from './enums.js';
import { Feature, toFeature } from './feature.types.js';
import { Addon, Plan, Product, ProductSettings, toAddon, toPlan, toProduct } from './package.types.js';
import { PackageEntitlement, PackageEntitlementUnion, toPackageEntitlement, toPackageFeatureEntitlement, } from './package-entitlement.types.js';
import { Price } from './price.types.js';
import { DateTime, Json } from './scalars.js';
/** What plans and add-ons are told of that can change although the version cannot. */
function packageResolver(type) {
    let PackageResolver = class PackageResolver {
        async createdAt(version, context) {
            return (await factsOf(version.id, context)).createdAt;
        }
        async isLatest(version, context) {
            return (await factsOf(version.id, context)).isLatest;
        }
        async status(version, context) {
            return (await factsOf(version.id, context)).status;
        }
        async updatedAt(version, context) {
            return (await factsOf(version.id, context)).createdAt;
        }
    };
    __decorate([
        FieldResolver(() => DateTime, { nullable: true, description: 'When the version was made.' }),
        __param(0, Root()),
        __param(1, Ctx()),
        __metadata("design:type", Function),
        __metadata("design:paramtypes", [Function, Object]),
        __metadata("design:returntype", Promise)
    ], PackageResolver.prototype, "createdAt", null);
    __decorate([
        FieldResolver(() => Boolean, { nullable: true, description: 'Whether new subscriptions get this version.' }),
        __param(0, Root()),
        __param(1, Ctx()),
        __metadata("design:type", Function),
        __metadata("design:paramtypes", [Function, Object]),
        __metadata("design:returntype", Promise)
    ], PackageResolver.prototype, "isLatest", null);
    __decorate([
        FieldResolver(() => enums.PackageStatus, { description: 'ARCHIVED: not sold any more.' }),
        __param(0, Root()),
        __param(1, Ctx()),
        __metadata("design:type", Function),
        __metadata("design:paramtypes", [Function, Object]),
        __metadata("design:returntype", Promise)
    ], PackageResolver.prototype, "status", null);
    __decorate([
        FieldResolver(() => DateTime, { nullable: true, description: 'A version never changes: the same as createdAt.' }),
        __param(0, Root()),
        __param(1, Ctx()),
        __metadata("design:type", Function),
        __metadata("design:paramtypes", [Function, Object]),
        __metadata("design:returntype", Promise)
    ], PackageResolver.prototype, "updatedAt", null);
    PackageResolver = __decorate([
        Resolver(() => type)
    ], PackageResolver);
    return PackageResolver;
}
async function factsOf(versionId, { loaders }) {
    return (await loaders.versionFacts.load(versionId));
}
let PlanResolver = class PlanResolver extends packageResolver(Plan) {
    async basePlan({ source, environmentId }, { loaders }) {
        const version = source.basePlanVersionId === null ? null : await loaders.versions.load(source.basePlanVersionId);
        return version ? toPlan(environmentId, version) : null;
    }
    async compatibleAddons({ source, environmentId }, { loaders }) {
        const versions = await Promise.all(source.compatibleAddonIds.map((id) => loaders.latestVersions.load(id)));
        return versions.flatMap((version) => (version ? [toAddon(environmentId, version)] : []));
    }
    async inheritedEntitlements({ id }, { loaders }) {
        return ((await loaders.inherited.load(id)) ?? []).map((entitlement) => toPackageEntitlement(id, entitlement));
    }
    async inheritedPackageEntitlements({ id }, { loaders }) {
        return ((await loaders.inherited.load(id)) ?? []).map((entitlement) => toPackageFeatureEntitlement(id, entitlement));
    }
    async isParent({ id }, context) {
        return (await factsOf(id, context)).isParent;
    }
    async product({ source }, { loaders }) {
        return toProduct((await loaders.products.load(source.productId)));
    }
};
__decorate([
    FieldResolver(() => Plan, { nullable: true, description: 'The version that this one inherits from.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Plan, Object]),
    __metadata("design:returntype", Promise)
], PlanResolver.prototype, "basePlan", null);
__decorate([
    FieldResolver(() => [Addon], { nullable: true, description: 'What can be held beside it, in the version that is sold now.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Plan, Object]),
    __metadata("design:returntype", Promise)
], PlanResolver.prototype, "compatibleAddons", null);
__decorate([
    FieldResolver(() => [PackageEntitlement], { nullable: true, description: 'Those of the base plan, with what that one inherits.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Plan, Object]),
    __metadata("design:returntype", Promise)
], PlanResolver.prototype, "inheritedEntitlements", null);
__decorate([
    FieldResolver(() => [PackageEntitlementUnion], { nullable: true, description: 'The same as inheritedEntitlements.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Plan, Object]),
    __metadata("design:returntype", Promise)
], PlanResolver.prototype, "inheritedPackageEntitlements", null);
__decorate([
    FieldResolver(() => Boolean, { description: 'Whether other plans inherit from this version.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Plan, Object]),
    __metadata("design:returntype", Promise)
], PlanResolver.prototype, "isParent", null);
__decorate([
    FieldResolver(() => Product),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Plan, Object]),
    __metadata("design:returntype", Promise)
], PlanResolver.prototype, "product", null);
PlanResolver = __decorate([
    Resolver(() => Plan)
], PlanResolver);
export { PlanResolver };
let AddonResolver = class AddonResolver extends packageResolver(Addon) {
    async dependencies({ source, environmentId }, { loaders }) {
        const versions = await Promise.all(source.dependencies.map((refId) => loaders.latestAddons.load(refId)));
        return versions.flatMap((version) => (version ? [toAddon(environmentId, version)] : []));
    }
    async hasSubscriptions({ id }, context) {
        return (await factsOf(id, context)).hasSubscriptions;
    }
};
__decorate([
    FieldResolver(() => [Addon], { nullable: true, description: 'Add-ons that must be held as well, in the version that is sold now.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Addon, Object]),
    __metadata("design:returntype", Promise)
], AddonResolver.prototype, "dependencies", null);
__decorate([
    FieldResolver(() => Boolean, { description: 'Whether a subscription ever held this version.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Addon, Object]),
    __metadata("design:returntype", Promise)
], AddonResolver.prototype, "hasSubscriptions", null);
AddonResolver = __decorate([
    Resolver(() => Addon)
], AddonResolver);
export { AddonResolver };
let PriceResolver = class PriceResolver {
    async createdAt({ versionId }, context) {
        return (await factsOf(versionId, context)).createdAt;
    }
    async feature({ featureRefId }, { loaders }) {
        const feature = featureRefId === null ? undefined : await loaders.features.load(featureRefId);
        return feature ? toFeature(feature) : null;
    }
    async usedInSubscriptions({ versionId }, context) {
        return (await factsOf(versionId, context)).hasSubscriptions;
    }
};
__decorate([
    FieldResolver(() => DateTime, { nullable: true }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Price, Object]),
    __metadata("design:returntype", Promise)
], PriceResolver.prototype, "createdAt", null);
__decorate([
    FieldResolver(() => Feature, { nullable: true, description: 'What is counted; null for a flat fee.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Price, Object]),
    __metadata("design:returntype", Promise)
], PriceResolver.prototype, "feature", null);
__decorate([
    FieldResolver(() => Boolean, { nullable: true, description: 'Whether a subscription was ever made to the version that it belongs to.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Price, Object]),
    __metadata("design:returntype", Promise)
], PriceResolver.prototype, "usedInSubscriptions", null);
PriceResolver = __decorate([
    Resolver(() => Price)
], PriceResolver);
export { PriceResolver };
let FeatureResolver = class FeatureResolver {
    async additionalMetaData({ refId }, { loaders }) {
        return (await loaders.features.load(refId))?.additionalMetaData ?? null;
    }
};
__decorate([
    FieldResolver(() => Json, { nullable: true, description: 'Facts of the catalog’s author.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Feature, Object]),
    __metadata("design:returntype", Promise)
], FeatureResolver.prototype, "additionalMetaData", null);
FeatureResolver = __decorate([
    Resolver(() => Feature)
], FeatureResolver);
export { FeatureResolver };
let ProductResolver = class ProductResolver {
    async downgradePlan(product, context) {
        return downgradePlanOf(product, context);
    }
    async productSettings(product, context) {
        return { downgradePlan: await downgradePlanOf(product, context) };
    }
};
__decorate([
    FieldResolver(() => Plan, { nullable: true, description: 'The plan that follows when a subscription ends; null: none does.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Product, Object]),
    __metadata("design:returntype", Promise)
], ProductResolver.prototype, "downgradePlan", null);
__decorate([
    FieldResolver(() => ProductSettings),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Product, Object]),
    __metadata("design:returntype", Promise)
], ProductResolver.prototype, "productSettings", null);
ProductResolver = __decorate([
    Resolver(() => Product)
], ProductResolver);
export { ProductResolver };
async function downgradePlanOf({ downgradePlanId }, { loaders, identity }) {
    const version = downgradePlanId === null ? null : await loaders.latestVersions.load(downgradePlanId);
    return version ? toPlan(identity.environmentId, version) : null;
}
//# sourceMappingURL=package.resolver.js.map