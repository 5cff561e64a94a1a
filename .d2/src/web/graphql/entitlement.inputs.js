var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, InputType } from 'type-graphql';
import { checkRequestedUsage } from '../../entitlement/rules/evaluate.js';
import { invalidInput } from '../../kernel/problem.js';
import * as enums from './enums.js';
import { refuseCredits } from './not-here.js';
import { ResetPeriodInput } from './reset-period.inputs.js';
import { DateTime } from './scalars.js';
let EntitlementOptions = class EntitlementOptions {
    requestedUsage;
    requestedValues;
    shouldTrack;
};
__decorate([
    Field(() => Float, { nullable: true, description: 'How much the caller wants to consume; default 0, which is granted at the limit.' }),
    __metadata("design:type", Object)
], EntitlementOptions.prototype, "requestedUsage", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'ENUM: the values that must all be held.' }),
    __metadata("design:type", Object)
], EntitlementOptions.prototype, "requestedValues", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Counts the check in the metric of reported checks.' }),
    __metadata("design:type", Object)
], EntitlementOptions.prototype, "shouldTrack", void 0);
EntitlementOptions = __decorate([
    InputType({ description: 'What is asked of a feature.' })
], EntitlementOptions);
export { EntitlementOptions };
let FetchEntitlementQuery = class FetchEntitlementQuery {
    customerId;
    environmentId;
    featureId;
    options;
    resourceId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], FetchEntitlementQuery.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], FetchEntitlementQuery.prototype, "environmentId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], FetchEntitlementQuery.prototype, "featureId", void 0);
__decorate([
    Field(() => EntitlementOptions, { nullable: true }),
    __metadata("design:type", Object)
], FetchEntitlementQuery.prototype, "options", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Absent: what the customer itself holds.' }),
    __metadata("design:type", Object)
], FetchEntitlementQuery.prototype, "resourceId", void 0);
FetchEntitlementQuery = __decorate([
    InputType({ description: 'Which customer, and which feature.' })
], FetchEntitlementQuery);
export { FetchEntitlementQuery };
let FetchEntitlementsQuery = class FetchEntitlementsQuery {
    customerId;
    environmentId;
    resourceId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], FetchEntitlementsQuery.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], FetchEntitlementsQuery.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Absent: what the customer itself holds.' }),
    __metadata("design:type", Object)
], FetchEntitlementsQuery.prototype, "resourceId", void 0);
FetchEntitlementsQuery = __decorate([
    InputType({ description: 'Which customer, or which of its resources.' })
], FetchEntitlementsQuery);
export { FetchEntitlementsQuery };
let GetEntitlementV2Input = class GetEntitlementV2Input {
    currencyId;
    customerId;
    environmentId;
    featureId;
    options;
    resourceId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'A currency of credits: Tollgate has none, so it is refused.' }),
    __metadata("design:type", Object)
], GetEntitlementV2Input.prototype, "currencyId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], GetEntitlementV2Input.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], GetEntitlementV2Input.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", Object)
], GetEntitlementV2Input.prototype, "featureId", void 0);
__decorate([
    Field(() => EntitlementOptions, { nullable: true }),
    __metadata("design:type", Object)
], GetEntitlementV2Input.prototype, "options", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Absent: what the customer itself holds.' }),
    __metadata("design:type", Object)
], GetEntitlementV2Input.prototype, "resourceId", void 0);
GetEntitlementV2Input = __decorate([
    InputType({ description: 'Which customer, and which feature.' })
], GetEntitlementV2Input);
export { GetEntitlementV2Input };
let EntitlementCheckResult = class EntitlementCheckResult extends ResetPeriodInput {
    accessDeniedReason;
    currentUsage;
    enumValues;
    hasAccess;
    hasSoftLimit;
    hasUnlimitedUsage;
    nextResetDate;
    requestedUsage;
    requestedValues;
    usageLimit;
};
__decorate([
    Field(() => enums.AccessDeniedReason, { nullable: true, description: 'Absent when access was granted.' }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "accessDeniedReason", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "currentUsage", void 0);
__decorate([
    Field(() => [String], { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "enumValues", void 0);
__decorate([
    Field(() => Boolean),
    __metadata("design:type", Boolean)
], EntitlementCheckResult.prototype, "hasAccess", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "nextResetDate", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "requestedUsage", void 0);
__decorate([
    Field(() => [String], { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "requestedValues", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckResult.prototype, "usageLimit", void 0);
EntitlementCheckResult = __decorate([
    InputType({ description: 'What an SDK answered from what it holds.' })
], EntitlementCheckResult);
export { EntitlementCheckResult };
let EntitlementCheckRequested = class EntitlementCheckRequested {
    customerId;
    entitlementCheckResult;
    environmentId;
    featureId;
    requestedUsage;
    requestedValues;
    resourceId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], EntitlementCheckRequested.prototype, "customerId", void 0);
__decorate([
    Field(() => EntitlementCheckResult, { description: 'The answer.' }),
    __metadata("design:type", EntitlementCheckResult)
], EntitlementCheckRequested.prototype, "entitlementCheckResult", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], EntitlementCheckRequested.prototype, "environmentId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], EntitlementCheckRequested.prototype, "featureId", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckRequested.prototype, "requestedUsage", void 0);
__decorate([
    Field(() => [String], { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckRequested.prototype, "requestedValues", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], EntitlementCheckRequested.prototype, "resourceId", void 0);
EntitlementCheckRequested = __decorate([
    InputType({ description: 'A check that an SDK answered itself.' })
], EntitlementCheckRequested);
export { EntitlementCheckRequested };
export function fromFetchEntitlementQuery({ customerId, featureId, resourceId, options }) {
    return {
        customerRefId: customerId,
        featureRefId: featureId,
        resourceRefId: resourceId ?? null,
        requestedUsage: checkRequestedUsage(options?.requestedUsage),
        requestedValues: options?.requestedValues ?? null,
    };
}
export function fromGetEntitlementV2Input(input) {
    refuseCredits(input, 'currencyId');
    if (!input.featureId)
        throw invalidInput('Send featureId: it says what is asked for.', { path: 'featureId' });
    return fromFetchEntitlementQuery({ ...input, featureId: input.featureId });
}
//# sourceMappingURL=entitlement.inputs.js.map