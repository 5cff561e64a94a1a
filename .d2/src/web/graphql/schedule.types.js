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
import * as decimal from '../../kernel/decimal.js';
import { AlwaysNull } from './always-null.js';
import * as enums from './enums.js';
let BillableFeature = class BillableFeature {
    featureId;
    quantity;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], BillableFeature.prototype, "featureId", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], BillableFeature.prototype, "quantity", void 0);
BillableFeature = __decorate([
    ObjectType({ simpleResolvers: true, description: 'How many units of a feature are bought.' })
], BillableFeature);
export { BillableFeature };
let PlanChangeAddon = class PlanChangeAddon {
    addonRefId;
    quantity;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PlanChangeAddon.prototype, "addonRefId", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], PlanChangeAddon.prototype, "quantity", void 0);
PlanChangeAddon = __decorate([
    ObjectType({ simpleResolvers: true, description: 'An add-on after the change.' })
], PlanChangeAddon);
export { PlanChangeAddon };
let PriceOverrideChangeVariables = class PriceOverrideChangeVariables {
    addonRefId;
    featureId;
    planRefId;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideChangeVariables.prototype, "addonRefId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideChangeVariables.prototype, "featureId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideChangeVariables.prototype, "planRefId", void 0);
PriceOverrideChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A price after the change.' })
], PriceOverrideChangeVariables);
export { PriceOverrideChangeVariables };
let AddonChangeVariables = class AddonChangeVariables {
    addonRefId;
    newQuantity;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], AddonChangeVariables.prototype, "addonRefId", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], AddonChangeVariables.prototype, "newQuantity", void 0);
AddonChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Another quantity of an add-on.' })
], AddonChangeVariables);
export { AddonChangeVariables };
let AddonPriceOverrideChangeVariables = class AddonPriceOverrideChangeVariables {
    addonRefId;
    featureId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], AddonPriceOverrideChangeVariables.prototype, "addonRefId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], AddonPriceOverrideChangeVariables.prototype, "featureId", void 0);
AddonPriceOverrideChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Another price of an add-on for this subscription.' })
], AddonPriceOverrideChangeVariables);
export { AddonPriceOverrideChangeVariables };
let BillingPeriodChangeVariables = class BillingPeriodChangeVariables {
    billingPeriod;
};
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true }),
    __metadata("design:type", Object)
], BillingPeriodChangeVariables.prototype, "billingPeriod", void 0);
BillingPeriodChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Another billing period.' })
], BillingPeriodChangeVariables);
export { BillingPeriodChangeVariables };
let CouponChangeVariables = class CouponChangeVariables {
    couponId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], CouponChangeVariables.prototype, "couponId", void 0);
CouponChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Another coupon.' })
], CouponChangeVariables);
export { CouponChangeVariables };
let DowngradeChangeVariables = class DowngradeChangeVariables {
    addons;
    billableFeatures;
    billingPeriod;
    downgradePlanRefId;
    priceOverrides;
};
__decorate([
    Field(() => [PlanChangeAddon], { nullable: true }),
    __metadata("design:type", Object)
], DowngradeChangeVariables.prototype, "addons", void 0);
__decorate([
    Field(() => [BillableFeature], { nullable: true }),
    __metadata("design:type", Object)
], DowngradeChangeVariables.prototype, "billableFeatures", void 0);
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true }),
    __metadata("design:type", Object)
], DowngradeChangeVariables.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], DowngradeChangeVariables.prototype, "downgradePlanRefId", void 0);
__decorate([
    Field(() => [PriceOverrideChangeVariables], { nullable: true }),
    __metadata("design:type", Object)
], DowngradeChangeVariables.prototype, "priceOverrides", void 0);
DowngradeChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A cheaper plan.' })
], DowngradeChangeVariables);
export { DowngradeChangeVariables };
let PlanChangeVariables = class PlanChangeVariables {
    addons;
    billableFeatures;
    billingPeriod;
    changeType;
    planRefId;
    priceOverrides;
};
__decorate([
    Field(() => [PlanChangeAddon], { nullable: true }),
    __metadata("design:type", Object)
], PlanChangeVariables.prototype, "addons", void 0);
__decorate([
    Field(() => [BillableFeature], { nullable: true }),
    __metadata("design:type", Object)
], PlanChangeVariables.prototype, "billableFeatures", void 0);
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true }),
    __metadata("design:type", Object)
], PlanChangeVariables.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => enums.PlanChangeType),
    __metadata("design:type", Object)
], PlanChangeVariables.prototype, "changeType", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PlanChangeVariables.prototype, "planRefId", void 0);
__decorate([
    Field(() => [PriceOverrideChangeVariables], { nullable: true }),
    __metadata("design:type", Object)
], PlanChangeVariables.prototype, "priceOverrides", void 0);
PlanChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Another plan.' })
], PlanChangeVariables);
export { PlanChangeVariables };
let PlanPriceOverrideChangeVariables = class PlanPriceOverrideChangeVariables {
    featureId;
    planRefId;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PlanPriceOverrideChangeVariables.prototype, "featureId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PlanPriceOverrideChangeVariables.prototype, "planRefId", void 0);
PlanPriceOverrideChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Another price of the plan for this subscription.' })
], PlanPriceOverrideChangeVariables);
export { PlanPriceOverrideChangeVariables };
let RecurringCreditsChangeVariables = class RecurringCreditsChangeVariables {
    customCurrencyId;
    newQuantity;
};
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], RecurringCreditsChangeVariables.prototype, "customCurrencyId", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], RecurringCreditsChangeVariables.prototype, "newQuantity", void 0);
RecurringCreditsChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Another amount of credits.' })
], RecurringCreditsChangeVariables);
export { RecurringCreditsChangeVariables };
let UnitAmountChangeVariables = class UnitAmountChangeVariables {
    featureId;
    newUnitAmount;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UnitAmountChangeVariables.prototype, "featureId", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], UnitAmountChangeVariables.prototype, "newUnitAmount", void 0);
UnitAmountChangeVariables = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Another quantity of a feature.' })
], UnitAmountChangeVariables);
export { UnitAmountChangeVariables };
let PackageDto = class PackageDto {
    displayName;
    id;
    refId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PackageDto.prototype, "displayName", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier.' }),
    __metadata("design:type", String)
], PackageDto.prototype, "id", void 0);
__decorate([
    Field(() => String, { description: 'The identifier that the catalog gave it.' }),
    __metadata("design:type", String)
], PackageDto.prototype, "refId", void 0);
PackageDto = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A plan or add-on by name.' })
], PackageDto);
export { PackageDto };
/** Told apart by class: values are instances. */
export const ScheduleVariables = createUnionType({
    name: 'ScheduleVariables',
    description: 'What a scheduled update changes, and to what.',
    types: () => [
        AddonChangeVariables,
        AddonPriceOverrideChangeVariables,
        BillingPeriodChangeVariables,
        CouponChangeVariables,
        DowngradeChangeVariables,
        PlanChangeVariables,
        PlanPriceOverrideChangeVariables,
        RecurringCreditsChangeVariables,
        UnitAmountChangeVariables,
    ],
});
let SubscriptionFutureUpdate = class SubscriptionFutureUpdate {
    scheduleStatus;
    scheduleVariables;
    scheduledExecutionTime;
    subscriptionScheduleType;
    targetPackage;
};
__decorate([
    Field(() => enums.SubscriptionScheduleStatus),
    __metadata("design:type", Object)
], SubscriptionFutureUpdate.prototype, "scheduleStatus", void 0);
__decorate([
    Field(() => ScheduleVariables, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionFutureUpdate.prototype, "scheduleVariables", void 0);
__decorate([
    Field(() => String, { description: 'ISO 8601.' }),
    __metadata("design:type", String)
], SubscriptionFutureUpdate.prototype, "scheduledExecutionTime", void 0);
__decorate([
    Field(() => enums.SubscriptionScheduleType),
    __metadata("design:type", Object)
], SubscriptionFutureUpdate.prototype, "subscriptionScheduleType", void 0);
__decorate([
    Field(() => PackageDto, { nullable: true, description: 'The plan or add-on that it leads to.' }),
    __metadata("design:type", Object)
], SubscriptionFutureUpdate.prototype, "targetPackage", void 0);
SubscriptionFutureUpdate = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A change of a subscription that is yet to come.' })
], SubscriptionFutureUpdate);
export { SubscriptionFutureUpdate };
let SubscriptionScheduledUpdate = class SubscriptionScheduledUpdate extends SubscriptionFutureUpdate {
};
SubscriptionScheduledUpdate = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A change of a subscription that is scheduled or was.' })
], SubscriptionScheduledUpdate);
export { SubscriptionScheduledUpdate };
export function toScheduledUpdate({ executeAt, change }) {
    const target = 'plan' in change ? change.plan : change.type === 'Addon' ? change.addon.version : null;
    return {
        scheduleStatus: 'Scheduled',
        scheduledExecutionTime: new Date(executeAt).toISOString(),
        subscriptionScheduleType: change.type,
        scheduleVariables: toVariables(change),
        targetPackage: target && { id: target.packageId, refId: target.refId, displayName: target.displayName },
    };
}
const toChanged = ({ plan, addons, quantities, billingPeriod, agreed }) => ({
    addons: addons.map(({ version, quantity }) => ({ addonRefId: version.refId, quantity })),
    billableFeatures: quantities.map(({ featureRefId, quantity }) => ({ featureId: featureRefId, quantity: decimal.toNumber(quantity) })),
    billingPeriod,
    priceOverrides: (agreed?.billing?.priceOverrides ?? []).map(({ addonRefId, featureRefId }) => ({
        addonRefId,
        featureId: featureRefId,
        planRefId: addonRefId === null ? plan.refId : null,
    })),
});
function toVariables(change) {
    switch (change.type) {
        case 'Plan':
            return Object.assign(new PlanChangeVariables(), {
                ...toChanged(change),
                changeType: 'UPGRADE',
                planRefId: change.plan.refId,
            });
        case 'Downgrade':
            return Object.assign(new DowngradeChangeVariables(), { ...toChanged(change), downgradePlanRefId: change.plan.refId });
        case 'BillingPeriod':
            return Object.assign(new BillingPeriodChangeVariables(), { billingPeriod: change.billingPeriod });
        case 'UnitAmount':
            return Object.assign(new UnitAmountChangeVariables(), {
                featureId: change.featureRefId,
                newUnitAmount: decimal.toNumber(change.quantity),
            });
        case 'Addon':
            return Object.assign(new AddonChangeVariables(), { addonRefId: change.addon.version.refId, newQuantity: change.addon.quantity });
        // The contract has no variables for it: the target package says all.
        case 'MigrateToLatest':
            return null;
    }
}
//# sourceMappingURL=schedule.types.js.map