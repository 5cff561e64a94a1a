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
import { decide } from '../../entitlement/rules/evaluate.js';
import { AlwaysNull } from './always-null.js';
import * as enums from './enums.js';
import { FeatureFacts, ResetPeriodConfiguration, toFeature, toResetPeriodConfiguration, UnitTransformation } from './feature.types.js';
import { CreditRate, toNumber } from './price.types.js';
import { DateTime } from './scalars.js';
let EntitlementFeature = class EntitlementFeature extends FeatureFacts {
    unitTransformation;
};
__decorate([
    Field(() => UnitTransformation, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementFeature.prototype, "unitTransformation", void 0);
EntitlementFeature = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A feature as an entitlement carries it.' })
], EntitlementFeature);
export { EntitlementFeature };
let Entitlement = class Entitlement {
    accessDeniedReason;
    creditRate;
    currentUsage;
    customerId;
    displayNameOverride;
    entitlementUpdatedAt;
    enumValues;
    feature;
    hasSoftLimit;
    hasUnlimitedUsage;
    hiddenFromWidgets;
    isGranted;
    meterId;
    nextResetDate;
    requestedUsage;
    requestedValues;
    resetPeriod;
    resetPeriodConfiguration;
    resourceId;
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
], Entitlement.prototype, "accessDeniedReason", void 0);
__decorate([
    AlwaysNull(() => CreditRate),
    __metadata("design:type", void 0)
], Entitlement.prototype, "creditRate", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'In the current usage period; null for features without a meter.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "currentUsage", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Entitlement.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'What the plan or add-on calls the feature; null: its own name.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "displayNameOverride", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Version of the last change that was more than usage.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "entitlementUpdatedAt", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'ENUM: the values held.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "enumValues", void 0);
__decorate([
    Field(() => EntitlementFeature, { nullable: true, description: 'Null when the customer does not hold the feature.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "feature", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean),
    __metadata("design:type", Boolean)
], Entitlement.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    AlwaysNull(() => [enums.WidgetType]),
    __metadata("design:type", void 0)
], Entitlement.prototype, "hiddenFromWidgets", void 0);
__decorate([
    Field(() => Boolean),
    __metadata("design:type", Boolean)
], Entitlement.prototype, "isGranted", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Entitlement.prototype, "meterId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'The same as usagePeriodEnd.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "nextResetDate", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'As it was asked.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "requestedUsage", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'As they were asked.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "requestedValues", void 0);
__decorate([
    Field(() => enums.EntitlementResetPeriod, { nullable: true, description: 'Null: usage is never reset.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "resetPeriod", void 0);
__decorate([
    Field(() => ResetPeriodConfiguration, { nullable: true }),
    __metadata("design:type", void 0)
], Entitlement.prototype, "resetPeriodConfiguration", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Entitlement.prototype, "resourceId", void 0);
__decorate([
    Field(() => Float, {
        nullable: true,
        description: 'The cap of a metered feature, the value of a NUMBER without a meter; null when unlimited.',
    }),
    __metadata("design:type", Object)
], Entitlement.prototype, "usageLimit", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], Entitlement.prototype, "usagePeriodAnchor", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "usagePeriodEnd", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], Entitlement.prototype, "usagePeriodStart", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Version of the usage.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "usageUpdatedAt", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Epoch milliseconds: from then on another entitlement may hold.' }),
    __metadata("design:type", Object)
], Entitlement.prototype, "validUntil", void 0);
Entitlement = __decorate([
    ObjectType({
        simpleResolvers: true,
        description: 'The right of a customer (or of one of its resources) to use a feature, and the decision about it.',
    })
], Entitlement);
export { Entitlement };
export function toEntitlement(owner, decision, requested = {}) {
    const { entitlement } = decision;
    return {
        ...(entitlement ? held(entitlement) : nothingHeld),
        customerId: owner.customerId,
        resourceId: owner.resourceId,
        isGranted: decision.granted,
        accessDeniedReason: decision.granted ? null : decision.reason,
        requestedUsage: requested.requestedUsage ?? null,
        requestedValues: requested.requestedValues ?? null,
        entitlementUpdatedAt: owner.accessVersion,
        usageUpdatedAt: entitlement?.usage?.updatedAt ?? owner.accessVersion,
    };
}
const nothingHeld = {
    currentUsage: null,
    displayNameOverride: null,
    enumValues: null,
    feature: null,
    hasSoftLimit: null,
    hasUnlimitedUsage: false,
    nextResetDate: null,
    resetPeriod: null,
    resetPeriodConfiguration: null,
    usageLimit: null,
    usagePeriodAnchor: null,
    usagePeriodEnd: null,
    usagePeriodStart: null,
    validUntil: null,
};
/** States are kept in memory and read over and over. */
const known = new WeakMap();
function held(entitlement) {
    const before = known.get(entitlement);
    if (before)
        return before;
    const made = toHeld(entitlement);
    known.set(entitlement, made);
    return made;
}
function toHeld({ feature, usage, reset, usageLimit, validUntil, ...entitlement }) {
    return {
        currentUsage: toNumber(usage?.currentUsage ?? null),
        displayNameOverride: entitlement.displayNameOverride ?? null,
        enumValues: feature.featureType === 'ENUM' ? entitlement.enumValues : null,
        feature: { ...toFeature(feature), unitTransformation: feature.unitTransformation },
        hasSoftLimit: entitlement.hasSoftLimit,
        hasUnlimitedUsage: entitlement.hasUnlimitedUsage,
        nextResetDate: usage?.periodEnd ?? null,
        resetPeriod: reset?.period ?? null,
        resetPeriodConfiguration: reset && toResetPeriodConfiguration(reset.period, reset.rule),
        usageLimit: entitlement.hasUnlimitedUsage ? null : toNumber(usageLimit),
        usagePeriodAnchor: reset?.anchor ?? null,
        usagePeriodEnd: usage?.periodEnd ?? null,
        usagePeriodStart: usage?.periodStart ?? null,
        validUntil,
    };
}
/** All entitlements of a state, each with the decision for a request of nothing. */
export function toEntitlements(state, now) {
    return state.entitlements.map((entitlement) => toEntitlement(state, decide(entitlement, { now })));
}
let NextEntitlements = class NextEntitlements {
    accessDeniedReason;
    entitlements;
    unknownFeatureIds;
    validFrom;
    validUntil;
};
__decorate([
    Field(() => enums.EntitlementsStateAccessDeniedReason, { nullable: true, description: 'Why nothing is held then.' }),
    __metadata("design:type", Object)
], NextEntitlements.prototype, "accessDeniedReason", void 0);
__decorate([
    Field(() => [Entitlement], {
        description: 'A usage whose `usageUpdatedAt` is `validFrom` begins then; others go on from the usage of the same feature and period that is held by then.',
    }),
    __metadata("design:type", Array)
], NextEntitlements.prototype, "entitlements", void 0);
__decorate([
    Field(() => [String], {
        description: 'Features that are held then too, with a usage that goes on from what is counted elsewhere until then: it has to be asked for.',
    }),
    __metadata("design:type", Array)
], NextEntitlements.prototype, "unknownFeatureIds", void 0);
__decorate([
    Field(() => Float, { description: 'Epoch milliseconds.' }),
    __metadata("design:type", Number)
], NextEntitlements.prototype, "validFrom", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Epoch milliseconds, exclusive. Null: no end is known.' }),
    __metadata("design:type", Object)
], NextEntitlements.prototype, "validUntil", void 0);
NextEntitlements = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What is held from an instant on, unless something happens before.' })
], NextEntitlements);
export { NextEntitlements };
/** What a customer or resource holds, or why it holds nothing. Not a type of the schema. */
let HeldEntitlements = class HeldEntitlements {
    accessDeniedReason;
    entitlements;
    validUntil;
    next;
};
__decorate([
    Field(() => enums.EntitlementsStateAccessDeniedReason, { nullable: true }),
    __metadata("design:type", Object)
], HeldEntitlements.prototype, "accessDeniedReason", void 0);
__decorate([
    Field(() => [Entitlement], { nullable: true }),
    __metadata("design:type", Object)
], HeldEntitlements.prototype, "entitlements", void 0);
__decorate([
    Field(() => Float, {
        nullable: true,
        description: 'Epoch milliseconds: from then on time alone may have changed what is held, also where that is nothing now. Null: no such instant is known.',
    }),
    __metadata("design:type", Object)
], HeldEntitlements.prototype, "validUntil", void 0);
__decorate([
    Field(() => NextEntitlements, {
        nullable: true,
        description: 'What time alone makes of it next: for readers that cannot ask then. Null: no such change is known, or not what it leads to.',
    }),
    __metadata("design:type", Object)
], HeldEntitlements.prototype, "next", void 0);
HeldEntitlements = __decorate([
    ObjectType({ simpleResolvers: true })
], HeldEntitlements);
export { HeldEntitlements };
export function toHeldEntitlements(state, now) {
    return {
        accessDeniedReason: state.deniedReason,
        entitlements: toEntitlements(state, now),
        validUntil: state.validUntil ?? null,
        next: state.next ? toNextEntitlements(state, state.next) : null,
    };
}
function toNextEntitlements(state, { deniedReason, entitlements, ...next }) {
    return { ...next, accessDeniedReason: deniedReason, entitlements: toEntitlements({ ...state, entitlements }, next.validFrom) };
}
//# sourceMappingURL=entitlement.types.js.map