var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, Int, ObjectType } from 'type-graphql';
import { AlwaysNull } from './always-null.js';
import * as enums from './enums.js';
import { PackageEntitlement, PackageEntitlementUnion, toPackageEntitlement, toPackageFeatureEntitlement, } from './package-entitlement.types.js';
import { Price, toPrice } from './price.types.js';
import { Json } from './scalars.js';
let PlanCompatiblePackageGroupOptions = class PlanCompatiblePackageGroupOptions {
    freeItems;
    minItems;
};
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PlanCompatiblePackageGroupOptions.prototype, "freeItems", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PlanCompatiblePackageGroupOptions.prototype, "minItems", void 0);
PlanCompatiblePackageGroupOptions = __decorate([
    ObjectType({ simpleResolvers: true, description: 'How many of a group must be chosen.' })
], PlanCompatiblePackageGroupOptions);
export { PlanCompatiblePackageGroupOptions };
let BudgetConfiguration = class BudgetConfiguration {
    limit;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], BudgetConfiguration.prototype, "limit", void 0);
BudgetConfiguration = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What usage-based charges may come to in a trial.' })
], BudgetConfiguration);
export { BudgetConfiguration };
let DefaultTrialConfig = class DefaultTrialConfig {
    budget;
    duration;
    trialEndBehavior;
    units;
};
__decorate([
    AlwaysNull(() => BudgetConfiguration),
    __metadata("design:type", void 0)
], DefaultTrialConfig.prototype, "budget", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], DefaultTrialConfig.prototype, "duration", void 0);
__decorate([
    Field(() => enums.TrialEndBehavior, { nullable: true, description: 'What the end of the trial does.' }),
    __metadata("design:type", Object)
], DefaultTrialConfig.prototype, "trialEndBehavior", void 0);
__decorate([
    Field(() => enums.TrialPeriodUnits),
    __metadata("design:type", Object)
], DefaultTrialConfig.prototype, "units", void 0);
DefaultTrialConfig = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The trial that subscriptions to a plan start with.' })
], DefaultTrialConfig);
export { DefaultTrialConfig };
/** What plans and add-ons have in common. Not a type of the schema. */
let Package = class Package {
    /** What it was made of, for the fields that resolvers answer. Not in the schema. */
    source;
    additionalMetaData;
    billingId;
    billingLinkUrl;
    description;
    displayName;
    entitlements;
    environmentId;
    hiddenFromWidgets;
    id;
    overageBillingPeriod;
    overagePrices;
    packageEntitlements;
    prices;
    pricingType;
    productId;
    refId;
    type;
    versionNumber;
};
__decorate([
    Field(() => Json, { nullable: true }),
    __metadata("design:type", Object)
], Package.prototype, "additionalMetaData", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Package.prototype, "billingId", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Package.prototype, "billingLinkUrl", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Package.prototype, "description", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], Package.prototype, "displayName", void 0);
__decorate([
    Field(() => [PackageEntitlement], { nullable: true, description: 'Its own, without those of the base plan.' }),
    __metadata("design:type", Object)
], Package.prototype, "entitlements", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], Package.prototype, "environmentId", void 0);
__decorate([
    AlwaysNull(() => [enums.WidgetType]),
    __metadata("design:type", void 0)
], Package.prototype, "hiddenFromWidgets", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier.' }),
    __metadata("design:type", String)
], Package.prototype, "id", void 0);
__decorate([
    AlwaysNull(() => enums.OverageBillingPeriod),
    __metadata("design:type", void 0)
], Package.prototype, "overageBillingPeriod", void 0);
__decorate([
    AlwaysNull(() => [Price]),
    __metadata("design:type", void 0)
], Package.prototype, "overagePrices", void 0);
__decorate([
    Field(() => [PackageEntitlementUnion], { nullable: true, description: 'The same as entitlements.' }),
    __metadata("design:type", Object)
], Package.prototype, "packageEntitlements", void 0);
__decorate([
    Field(() => [Price], { nullable: true }),
    __metadata("design:type", Object)
], Package.prototype, "prices", void 0);
__decorate([
    Field(() => enums.PricingType, { nullable: true }),
    __metadata("design:type", Object)
], Package.prototype, "pricingType", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Our identifier of the product.' }),
    __metadata("design:type", Object)
], Package.prototype, "productId", void 0);
__decorate([
    Field(() => String, { description: 'The identifier that the catalog gave it.' }),
    __metadata("design:type", String)
], Package.prototype, "refId", void 0);
__decorate([
    Field(() => String, { description: 'Plan or Addon.' }),
    __metadata("design:type", String)
], Package.prototype, "type", void 0);
__decorate([
    Field(() => Int, { description: 'From 1, growing with each publication.' }),
    __metadata("design:type", Number)
], Package.prototype, "versionNumber", void 0);
Package = __decorate([
    ObjectType({ simpleResolvers: true })
], Package);
export { Package };
let Plan = class Plan extends Package {
    awsMarketplacePlanDimension;
    compatiblePackageGroups;
    defaultTrialConfig;
};
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Plan.prototype, "awsMarketplacePlanDimension", void 0);
__decorate([
    AlwaysNull(() => [PlanCompatiblePackageGroups]),
    __metadata("design:type", void 0)
], Plan.prototype, "compatiblePackageGroups", void 0);
__decorate([
    Field(() => DefaultTrialConfig, { nullable: true }),
    __metadata("design:type", Object)
], Plan.prototype, "defaultTrialConfig", void 0);
Plan = __decorate([
    ObjectType({
        simpleResolvers: true,
        description: 'A published version of a plan. It never changes; a subscription keeps the one it started with.',
    })
], Plan);
export { Plan };
let Addon = class Addon extends Package {
    maxQuantity;
};
__decorate([
    Field(() => Float, { nullable: true, description: 'How many of it one subscription may hold.' }),
    __metadata("design:type", Object)
], Addon.prototype, "maxQuantity", void 0);
Addon = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A published version of an add-on.' })
], Addon);
export { Addon };
let ProductSettings = class ProductSettings {
    downgradePlan;
};
__decorate([
    Field(() => Plan, { nullable: true, description: 'The plan that follows when a subscription ends; null: none does.' }),
    __metadata("design:type", Object)
], ProductSettings.prototype, "downgradePlan", void 0);
ProductSettings = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What happens by itself to subscriptions of a product.' })
], ProductSettings);
export { ProductSettings };
let Product = class Product {
    /** Our id of the plan, for the fields that `ProductResolver` answers. Not in the schema. */
    downgradePlanId;
    additionalMetaData;
    awsMarketplaceProductId;
    description;
    displayName;
    refId;
};
__decorate([
    Field(() => Json, { nullable: true }),
    __metadata("design:type", Object)
], Product.prototype, "additionalMetaData", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Product.prototype, "awsMarketplaceProductId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Product.prototype, "description", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Product.prototype, "displayName", void 0);
__decorate([
    Field(() => String, { description: 'The identifier that the catalog gave it.' }),
    __metadata("design:type", String)
], Product.prototype, "refId", void 0);
Product = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What plans and add-ons belong to.' })
], Product);
export { Product };
let PlanCompatiblePackageGroups = class PlanCompatiblePackageGroups {
    addons;
    displayName;
    options;
    packageGroupId;
};
__decorate([
    Field(() => [Addon], { nullable: true }),
    __metadata("design:type", Object)
], PlanCompatiblePackageGroups.prototype, "addons", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PlanCompatiblePackageGroups.prototype, "displayName", void 0);
__decorate([
    Field(() => PlanCompatiblePackageGroupOptions),
    __metadata("design:type", PlanCompatiblePackageGroupOptions)
], PlanCompatiblePackageGroups.prototype, "options", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PlanCompatiblePackageGroups.prototype, "packageGroupId", void 0);
PlanCompatiblePackageGroups = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Add-ons of which some must be chosen. Tollgate has no such groups.' })
], PlanCompatiblePackageGroups);
export { PlanCompatiblePackageGroups };
function toPackage(environmentId, version) {
    const { id, additionalMetaData, description, displayName, pricingType, productId, refId, versionNumber } = version;
    return {
        source: version,
        id,
        refId,
        environmentId,
        additionalMetaData,
        description,
        displayName,
        entitlements: version.entitlements.map((entitlement) => toPackageEntitlement(id, entitlement)),
        packageEntitlements: version.entitlements.map((entitlement) => toPackageFeatureEntitlement(id, entitlement)),
        prices: version.prices.map((price) => toPrice(environmentId, id, price)),
        pricingType,
        productId,
        type: version.kind === 'PLAN' ? 'Plan' : 'Addon',
        versionNumber,
    };
}
export function toPlan(environmentId, version) {
    const { trial } = version;
    return {
        ...toPackage(environmentId, version),
        defaultTrialConfig: trial && { duration: trial.duration, units: trial.units, trialEndBehavior: trial.endBehavior },
    };
}
export function toAddon(environmentId, version) {
    return { ...toPackage(environmentId, version), maxQuantity: version.maxQuantity };
}
export function toProduct({ refId, displayName, description, additionalMetaData, downgradePlanId }) {
    return { refId, displayName, description, additionalMetaData, downgradePlanId };
}
//# sourceMappingURL=package.types.js.map