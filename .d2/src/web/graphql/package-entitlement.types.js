var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { createUnionType, Field, Float, ObjectType } from 'type-graphql';
import { AlwaysNull } from './always-null.js';
import * as enums from './enums.js';
import { Feature, toFeature } from './feature.types.js';
import { CustomCurrency, toNumber } from './price.types.js';
let PackageEntitlement = class PackageEntitlement {
    displayNameOverride;
    enumValues;
    feature;
    featureId;
    hasSoftLimit;
    hasUnlimitedUsage;
    hiddenFromWidgets;
    isCustom;
    isGranted;
    packageId;
    resetPeriod;
    usageLimit;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PackageEntitlement.prototype, "displayNameOverride", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'ENUM: the values held.' }),
    __metadata("design:type", Object)
], PackageEntitlement.prototype, "enumValues", void 0);
__decorate([
    Field(() => Feature),
    __metadata("design:type", Feature)
], PackageEntitlement.prototype, "feature", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier of the feature.' }),
    __metadata("design:type", String)
], PackageEntitlement.prototype, "featureId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], PackageEntitlement.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], PackageEntitlement.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    AlwaysNull(() => [enums.WidgetType]),
    __metadata("design:type", void 0)
], PackageEntitlement.prototype, "hiddenFromWidgets", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether the amount is agreed on with each customer; always false.' }),
    __metadata("design:type", Object)
], PackageEntitlement.prototype, "isCustom", void 0);
__decorate([
    Field(() => Boolean, { description: 'Always true: what a package does not entitle to is not in the list.' }),
    __metadata("design:type", Boolean)
], PackageEntitlement.prototype, "isGranted", void 0);
__decorate([
    Field(() => String, { description: 'The version of the plan or add-on that it belongs to.' }),
    __metadata("design:type", String)
], PackageEntitlement.prototype, "packageId", void 0);
__decorate([
    Field(() => enums.EntitlementResetPeriod, { nullable: true }),
    __metadata("design:type", Object)
], PackageEntitlement.prototype, "resetPeriod", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PackageEntitlement.prototype, "usageLimit", void 0);
PackageEntitlement = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a plan or add-on entitles to.' })
], PackageEntitlement);
export { PackageEntitlement };
let PackageFeatureEntitlement = class PackageFeatureEntitlement {
    behavior;
    description;
    displayNameOverride;
    enumValues;
    feature;
    featureId;
    hasSoftLimit;
    hasUnlimitedUsage;
    hiddenFromWidgets;
    id;
    isCustom;
    isGranted;
    order;
    resetPeriod;
    usageLimit;
};
__decorate([
    Field(() => enums.EntitlementBehavior),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "behavior", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], PackageFeatureEntitlement.prototype, "description", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "displayNameOverride", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'ENUM: the values held.' }),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "enumValues", void 0);
__decorate([
    Field(() => Feature),
    __metadata("design:type", Feature)
], PackageFeatureEntitlement.prototype, "feature", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier of the feature.' }),
    __metadata("design:type", String)
], PackageFeatureEntitlement.prototype, "featureId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    AlwaysNull(() => [enums.WidgetType]),
    __metadata("design:type", void 0)
], PackageFeatureEntitlement.prototype, "hiddenFromWidgets", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier.' }),
    __metadata("design:type", String)
], PackageFeatureEntitlement.prototype, "id", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether the amount is agreed on with each customer; always false.' }),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "isCustom", void 0);
__decorate([
    Field(() => Boolean, { description: 'Always true: what a package does not entitle to is not in the list.' }),
    __metadata("design:type", Boolean)
], PackageFeatureEntitlement.prototype, "isGranted", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "order", void 0);
__decorate([
    Field(() => enums.EntitlementResetPeriod, { nullable: true }),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "resetPeriod", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PackageFeatureEntitlement.prototype, "usageLimit", void 0);
PackageFeatureEntitlement = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a plan or add-on entitles to.' })
], PackageFeatureEntitlement);
export { PackageFeatureEntitlement };
let PackageCreditEntitlement = class PackageCreditEntitlement {
    amount;
    behavior;
    cadence;
    customCurrency;
    customCurrencyId;
    dependencyFeature;
    description;
    displayNameOverride;
    hasSoftLimit;
    hiddenFromWidgets;
    id;
    isCustom;
    isGranted;
    order;
};
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "amount", void 0);
__decorate([
    Field(() => enums.EntitlementBehavior),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "behavior", void 0);
__decorate([
    Field(() => enums.CreditCadence),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "cadence", void 0);
__decorate([
    Field(() => CustomCurrency),
    __metadata("design:type", CustomCurrency)
], PackageCreditEntitlement.prototype, "customCurrency", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PackageCreditEntitlement.prototype, "customCurrencyId", void 0);
__decorate([
    Field(() => Feature, { nullable: true }),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "dependencyFeature", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "description", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "displayNameOverride", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "hasSoftLimit", void 0);
__decorate([
    AlwaysNull(() => [enums.WidgetType]),
    __metadata("design:type", void 0)
], PackageCreditEntitlement.prototype, "hiddenFromWidgets", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier.' }),
    __metadata("design:type", String)
], PackageCreditEntitlement.prototype, "id", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether the amount is agreed on with each customer; always false.' }),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "isCustom", void 0);
__decorate([
    Field(() => Boolean, { description: 'Always true: what a package does not entitle to is not in the list.' }),
    __metadata("design:type", Boolean)
], PackageCreditEntitlement.prototype, "isGranted", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PackageCreditEntitlement.prototype, "order", void 0);
PackageCreditEntitlement = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Credits that a plan or add-on gives. There are no credits in Tollgate.' })
], PackageCreditEntitlement);
export { PackageCreditEntitlement };
export const PackageEntitlementUnion = createUnionType({
    name: 'PackageEntitlementUnion',
    description: 'What a plan or add-on entitles to. There are no credits in Tollgate, so each is a PackageFeatureEntitlement.',
    types: () => [PackageCreditEntitlement, PackageFeatureEntitlement],
    resolveType: () => PackageFeatureEntitlement,
});
export function toPackageEntitlement(packageId, entitlement) {
    const { displayNameOverride, enumValues, feature, featureId, hasSoftLimit, hasUnlimitedUsage, resetPeriod, usageLimit } = entitlement;
    return {
        displayNameOverride,
        enumValues: feature.featureType === 'ENUM' ? enumValues : null,
        feature: toFeature(feature),
        featureId,
        hasSoftLimit,
        hasUnlimitedUsage,
        isCustom: false,
        isGranted: true,
        packageId,
        resetPeriod,
        usageLimit: toNumber(usageLimit),
    };
}
export function toPackageFeatureEntitlement(packageId, entitlement) {
    const { packageId: _, ...facts } = toPackageEntitlement(packageId, entitlement);
    return { ...facts, id: entitlement.id, behavior: entitlement.behavior, order: entitlement.order ?? null };
}
//# sourceMappingURL=package-entitlement.types.js.map