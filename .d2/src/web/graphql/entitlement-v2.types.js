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
import { decide } from '../../entitlement/rules/evaluate.js';
import { AlwaysNull } from './always-null.js';
import { EntitlementFeature, HeldEntitlements, toEntitlement, toHeldEntitlements } from './entitlement.types.js';
import * as enums from './enums.js';
import { ResetPeriodConfiguration } from './feature.types.js';
import { CreditRate } from './price.types.js';
import { DateTime, Json } from './scalars.js';
let EntitlementCurrency = class EntitlementCurrency {
    additionalMetaData;
    currencyId;
    description;
    displayName;
    unitPlural;
    unitSingular;
};
__decorate([
    Field(() => Json, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCurrency.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], EntitlementCurrency.prototype, "currencyId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCurrency.prototype, "description", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], EntitlementCurrency.prototype, "displayName", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCurrency.prototype, "unitPlural", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCurrency.prototype, "unitSingular", void 0);
EntitlementCurrency = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A currency of credits. There are no credits in Tollgate.' })
], EntitlementCurrency);
export { EntitlementCurrency };
let CreditEntitlement = class CreditEntitlement {
    accessDeniedReason;
    currency;
    currentUsage;
    entitlementUpdatedAt;
    hasSoftLimit;
    isGranted;
    usageLimit;
    usagePeriodEnd;
    usageUpdatedAt;
    validUntil;
};
__decorate([
    Field(() => enums.AccessDeniedReason, { nullable: true, description: 'Null when granted.' }),
    __metadata("design:type", Object)
], CreditEntitlement.prototype, "accessDeniedReason", void 0);
__decorate([
    Field(() => EntitlementCurrency),
    __metadata("design:type", EntitlementCurrency)
], CreditEntitlement.prototype, "currency", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'In the current usage period; null for features without a meter.' }),
    __metadata("design:type", Object)
], CreditEntitlement.prototype, "currentUsage", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Version of the last change that was more than usage.' }),
    __metadata("design:type", Object)
], CreditEntitlement.prototype, "entitlementUpdatedAt", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], CreditEntitlement.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean),
    __metadata("design:type", Boolean)
], CreditEntitlement.prototype, "isGranted", void 0);
__decorate([
    Field(() => Float, {
        nullable: true,
        description: 'The cap of a metered feature, the value of a NUMBER without a meter; null when unlimited.',
    }),
    __metadata("design:type", Object)
], CreditEntitlement.prototype, "usageLimit", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive.' }),
    __metadata("design:type", Object)
], CreditEntitlement.prototype, "usagePeriodEnd", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Version of the usage.' }),
    __metadata("design:type", Object)
], CreditEntitlement.prototype, "usageUpdatedAt", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'ISO 8601: from then on another entitlement may hold.' }),
    __metadata("design:type", Object)
], CreditEntitlement.prototype, "validUntil", void 0);
CreditEntitlement = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The right to use credits. There are no credits in Tollgate.' })
], CreditEntitlement);
export { CreditEntitlement };
let FeatureEntitlement = class FeatureEntitlement {
    accessDeniedReason;
    creditRate;
    currentUsage;
    entitlementUpdatedAt;
    enumValues;
    feature;
    hasSoftLimit;
    hasUnlimitedUsage;
    isGranted;
    resetPeriod;
    resetPeriodConfiguration;
    usageLimit;
    usagePeriodAnchor;
    usagePeriodEnd;
    usagePeriodStart;
    usageUpdatedAt;
    validUntil;
};
__decorate([
    Field(() => enums.AccessDeniedReason, { nullable: true, description: 'Null when granted.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "accessDeniedReason", void 0);
__decorate([
    AlwaysNull(() => CreditRate),
    __metadata("design:type", void 0)
], FeatureEntitlement.prototype, "creditRate", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'In the current usage period; null for features without a meter.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "currentUsage", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Version of the last change that was more than usage.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "entitlementUpdatedAt", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'ENUM: the values held.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "enumValues", void 0);
__decorate([
    Field(() => EntitlementFeature, { nullable: true }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "feature", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean),
    __metadata("design:type", Boolean)
], FeatureEntitlement.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    Field(() => Boolean),
    __metadata("design:type", Boolean)
], FeatureEntitlement.prototype, "isGranted", void 0);
__decorate([
    Field(() => enums.EntitlementResetPeriod, { nullable: true, description: 'Null: usage is never reset.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "resetPeriod", void 0);
__decorate([
    Field(() => ResetPeriodConfiguration, { nullable: true }),
    __metadata("design:type", void 0)
], FeatureEntitlement.prototype, "resetPeriodConfiguration", void 0);
__decorate([
    Field(() => Float, {
        nullable: true,
        description: 'The cap of a metered feature, the value of a NUMBER without a meter; null when unlimited.',
    }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "usageLimit", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "usagePeriodAnchor", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "usagePeriodEnd", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "usagePeriodStart", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Version of the usage.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "usageUpdatedAt", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'ISO 8601: from then on another entitlement may hold.' }),
    __metadata("design:type", Object)
], FeatureEntitlement.prototype, "validUntil", void 0);
FeatureEntitlement = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The right to use a feature, and the decision about it.' })
], FeatureEntitlement);
export { FeatureEntitlement };
export const EntitlementUnion = createUnionType({
    name: 'EntitlementUnion',
    description: 'The newer form of an entitlement. There are no credits in Tollgate, so each is a FeatureEntitlement.',
    types: () => [CreditEntitlement, FeatureEntitlement],
    resolveType: () => FeatureEntitlement,
});
export function toFeatureEntitlement(owner, decision) {
    const { customerId, resourceId, displayNameOverride, nextResetDate, requestedUsage, requestedValues, validUntil, ...entitlement } = toEntitlement(owner, decision);
    return { ...entitlement, validUntil: validUntil === null ? null : new Date(validUntil).toISOString() };
}
/** All entitlements of a state, each with the decision for a request of nothing. */
export function toFeatureEntitlements(state, now) {
    return state.entitlements.map((entitlement) => toFeatureEntitlement(state, decide(entitlement, { now })));
}
let EntitlementsState = class EntitlementsState extends HeldEntitlements {
    entitlementsV2;
};
__decorate([
    Field(() => [EntitlementUnion], { nullable: true, description: 'The same in their newer form.' }),
    __metadata("design:type", Object)
], EntitlementsState.prototype, "entitlementsV2", void 0);
EntitlementsState = __decorate([
    ObjectType({
        simpleResolvers: true,
        description: 'All entitlements of a customer (or of one of its resources), or the reason why there are none.',
    })
], EntitlementsState);
export { EntitlementsState };
export function toEntitlementsState(state, now) {
    return { ...toHeldEntitlements(state, now), entitlementsV2: toFeatureEntitlements(state, now) };
}
//# sourceMappingURL=entitlement-v2.types.js.map