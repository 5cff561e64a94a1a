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
import { decide } from '../../entitlement/rules/evaluate.js';
import * as decimal from '../../kernel/decimal.js';
import { EntitlementType, PublishMigrationType } from './catalog.enums.js';
import { Entitlement, HeldEntitlements, toEntitlement, toHeldEntitlements } from './entitlement.types.js';
import { EntitlementUnion, toFeatureEntitlements } from './entitlement-v2.types.js';
import * as enums from './enums.js';
import { DateTime } from './scalars.js';
let EntitlementsUpdated = class EntitlementsUpdated extends HeldEntitlements {
    customerId;
    resourceId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], EntitlementsUpdated.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Null: the customer itself.' }),
    __metadata("design:type", Object)
], EntitlementsUpdated.prototype, "resourceId", void 0);
EntitlementsUpdated = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Everything a customer or resource holds now: replaces what was known.' })
], EntitlementsUpdated);
export { EntitlementsUpdated };
export function toEntitlementsUpdated(state, now) {
    return { ...toHeldEntitlements(state, now), customerId: state.customerId, resourceId: state.resourceId };
}
let EntitlementsUpdatedV2 = class EntitlementsUpdatedV2 {
    accessDeniedReason;
    customerId;
    entitlements;
    resourceId;
};
__decorate([
    Field(() => enums.EntitlementsStateAccessDeniedReason, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementsUpdatedV2.prototype, "accessDeniedReason", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], EntitlementsUpdatedV2.prototype, "customerId", void 0);
__decorate([
    Field(() => [EntitlementUnion], { nullable: true }),
    __metadata("design:type", Object)
], EntitlementsUpdatedV2.prototype, "entitlements", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Null: the customer itself.' }),
    __metadata("design:type", Object)
], EntitlementsUpdatedV2.prototype, "resourceId", void 0);
EntitlementsUpdatedV2 = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The same as EntitlementsUpdated, with entitlements in their newer form.' })
], EntitlementsUpdatedV2);
export { EntitlementsUpdatedV2 };
export function toEntitlementsUpdatedV2(state, now) {
    const { deniedReason, customerId, resourceId } = state;
    return { accessDeniedReason: deniedReason, customerId, entitlements: toFeatureEntitlements(state, now), resourceId };
}
let UsageMeasurementUpdated = class UsageMeasurementUpdated {
    currentUsage;
    customerId;
    featureId;
    nextResetDate;
    resourceId;
    usagePeriodEnd;
    usagePeriodStart;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], UsageMeasurementUpdated.prototype, "currentUsage", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageMeasurementUpdated.prototype, "customerId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageMeasurementUpdated.prototype, "featureId", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The same as usagePeriodEnd.' }),
    __metadata("design:type", Object)
], UsageMeasurementUpdated.prototype, "nextResetDate", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UsageMeasurementUpdated.prototype, "resourceId", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Exclusive.' }),
    __metadata("design:type", Object)
], UsageMeasurementUpdated.prototype, "usagePeriodEnd", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], UsageMeasurementUpdated.prototype, "usagePeriodStart", void 0);
UsageMeasurementUpdated = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A usage that changed. Its times are epoch milliseconds.' })
], UsageMeasurementUpdated);
export { UsageMeasurementUpdated };
let UsageUpdated = class UsageUpdated {
    entitlement;
    usage;
};
__decorate([
    Field(() => Entitlement),
    __metadata("design:type", Entitlement)
], UsageUpdated.prototype, "entitlement", void 0);
__decorate([
    Field(() => UsageMeasurementUpdated),
    __metadata("design:type", UsageMeasurementUpdated)
], UsageUpdated.prototype, "usage", void 0);
UsageUpdated = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A usage that changed, and the entitlement that limits it.' })
], UsageUpdated);
export { UsageUpdated };
/** Null for a message that is not about usage that limits an entitlement. */
export function toUsageUpdated({ customerId, usage: change, ...message }, now) {
    const resourceId = message.resourceId ?? null;
    if (!change?.entitlement)
        return null;
    const { currentUsage, periodStart, periodEnd } = change.usage;
    return {
        entitlement: toEntitlement({ customerId, resourceId, accessVersion: change.accessVersion ?? null }, decide(change.entitlement, { now })),
        usage: {
            currentUsage: decimal.toNumber(decimal.max(currentUsage, decimal.zero)),
            customerId,
            featureId: change.featureId,
            nextResetDate: periodEnd,
            resourceId,
            usagePeriodEnd: periodEnd,
            usagePeriodStart: periodStart,
        },
    };
}
let EntitlementReference = class EntitlementReference {
    id;
    type;
};
__decorate([
    Field(() => String, { description: 'FEATURE: the refId of the feature.' }),
    __metadata("design:type", String)
], EntitlementReference.prototype, "id", void 0);
__decorate([
    Field(() => EntitlementType),
    __metadata("design:type", Object)
], EntitlementReference.prototype, "type", void 0);
EntitlementReference = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Names an entitlement.' })
], EntitlementReference);
export { EntitlementReference };
let UsageV2 = class UsageV2 {
    currentUsage;
    usagePeriodEnd;
    usagePeriodStart;
    usageUpdatedAt;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], UsageV2.prototype, "currentUsage", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive; null: never reset.' }),
    __metadata("design:type", Object)
], UsageV2.prototype, "usagePeriodEnd", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], UsageV2.prototype, "usagePeriodStart", void 0);
__decorate([
    Field(() => DateTime, { description: 'Version of the usage.' }),
    __metadata("design:type", Number)
], UsageV2.prototype, "usageUpdatedAt", void 0);
UsageV2 = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A usage in its current usage period.' })
], UsageV2);
export { UsageV2 };
let UsageUpdatedV2 = class UsageUpdatedV2 {
    customerId;
    entitlementReference;
    resourceId;
    usage;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageUpdatedV2.prototype, "customerId", void 0);
__decorate([
    Field(() => EntitlementReference),
    __metadata("design:type", EntitlementReference)
], UsageUpdatedV2.prototype, "entitlementReference", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Null: the customer itself.' }),
    __metadata("design:type", Object)
], UsageUpdatedV2.prototype, "resourceId", void 0);
__decorate([
    Field(() => UsageV2),
    __metadata("design:type", UsageV2)
], UsageUpdatedV2.prototype, "usage", void 0);
UsageUpdatedV2 = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A usage that changed, and the name of the entitlement that limits it.' })
], UsageUpdatedV2);
export { UsageUpdatedV2 };
/** Null for a message that is not about usage that limits an entitlement. */
export function toUsageUpdatedV2({ customerId, usage: change, ...message }) {
    if (!change?.entitlement)
        return null;
    const { currentUsage, periodStart, periodEnd, updatedAt } = change.usage;
    return {
        customerId,
        entitlementReference: { id: change.featureId, type: 'FEATURE' },
        resourceId: message.resourceId ?? null,
        usage: {
            currentUsage: decimal.toNumber(decimal.max(currentUsage, decimal.zero)),
            usagePeriodEnd: periodEnd,
            usagePeriodStart: periodStart,
            usageUpdatedAt: updatedAt,
        },
    };
}
let PackagePublished = class PackagePublished {
    accountId;
    environmentId;
    migrationType;
    packageRefId;
    packageType;
    packageVersion;
};
__decorate([
    Field(() => String, { description: 'The same as environmentId: Tollgate has no accounts above environments.' }),
    __metadata("design:type", String)
], PackagePublished.prototype, "accountId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PackagePublished.prototype, "environmentId", void 0);
__decorate([
    Field(() => PublishMigrationType),
    __metadata("design:type", Object)
], PackagePublished.prototype, "migrationType", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PackagePublished.prototype, "packageRefId", void 0);
__decorate([
    Field(() => String, { description: 'Plan or Addon.' }),
    __metadata("design:type", String)
], PackagePublished.prototype, "packageType", void 0);
__decorate([
    Field(() => Int),
    __metadata("design:type", Number)
], PackagePublished.prototype, "packageVersion", void 0);
PackagePublished = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A version of a plan or add-on that is sold from now on.' })
], PackagePublished);
export { PackagePublished };
/** Null for a message about another change of the catalog. */
export function toPackagePublished({ environmentId, package: published }) {
    return published ? { accountId: environmentId, environmentId, ...published } : null;
}
//# sourceMappingURL=updates.types.js.map