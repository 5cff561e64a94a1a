var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, ObjectType } from 'type-graphql';
import { AlwaysNull } from './always-null.js';
import * as enums from './enums.js';
import { Feature, toFeature } from './feature.types.js';
import { toNumber } from './price.types.js';
import { DateTime } from './scalars.js';
let PromotionalEntitlement = class PromotionalEntitlement {
    createdAt;
    description;
    endDate;
    enumValues;
    environmentId;
    feature;
    featureGroupIds;
    featureId;
    hasSoftLimit;
    hasUnlimitedUsage;
    id;
    isVisible;
    period;
    resetPeriod;
    startDate;
    status;
    unlimited;
    updatedAt;
    usageLimit;
};
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "createdAt", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "description", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive; null: for life.' }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "endDate", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'ENUM: the values held.' }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "enumValues", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PromotionalEntitlement.prototype, "environmentId", void 0);
__decorate([
    Field(() => Feature),
    __metadata("design:type", Feature)
], PromotionalEntitlement.prototype, "feature", void 0);
__decorate([
    AlwaysNull(() => [String]),
    __metadata("design:type", void 0)
], PromotionalEntitlement.prototype, "featureGroupIds", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier of the feature.' }),
    __metadata("design:type", String)
], PromotionalEntitlement.prototype, "featureId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier.' }),
    __metadata("design:type", String)
], PromotionalEntitlement.prototype, "id", void 0);
__decorate([
    Field(() => Boolean, { description: 'Whether you show it to the customer; decides nothing here.' }),
    __metadata("design:type", Boolean)
], PromotionalEntitlement.prototype, "isVisible", void 0);
__decorate([
    Field(() => enums.PromotionalEntitlementPeriod),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "period", void 0);
__decorate([
    Field(() => enums.EntitlementResetPeriod, { nullable: true }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "resetPeriod", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], PromotionalEntitlement.prototype, "startDate", void 0);
__decorate([
    Field(() => enums.PromotionalEntitlementStatus, { description: 'Now. A revoked one is Expired.' }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "status", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'The older name of hasUnlimitedUsage.' }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "unlimited", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "updatedAt", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' }),
    __metadata("design:type", Object)
], PromotionalEntitlement.prototype, "usageLimit", void 0);
PromotionalEntitlement = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A right that was given to one customer beside its subscriptions, for a while.' })
], PromotionalEntitlement);
export { PromotionalEntitlement };
export function toPromotionalEntitlement({ feature, ...facts }) {
    return {
        ...facts,
        enumValues: feature.featureType === 'ENUM' ? facts.enumValues : null,
        feature: toFeature(feature),
        featureId: feature.id,
        unlimited: facts.hasUnlimitedUsage,
        usageLimit: toNumber(facts.usageLimit),
    };
}
//# sourceMappingURL=promotional.types.js.map