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
import * as decimal from '../../kernel/decimal.js';
import { invalidInput } from '../../kernel/problem.js';
import * as enums from './enums.js';
import { refuseAbsent } from './not-here.js';
import { ResetPeriodInput } from './reset-period.inputs.js';
let SubscriptionEntitlementInput = class SubscriptionEntitlementInput extends ResetPeriodInput {
    description;
    featureId;
    hasSoftLimit;
    hasUnlimitedUsage;
    usageLimit;
};
__decorate([
    Field(() => String, { nullable: true, description: 'A note; nothing answers it, so it is not kept.' }),
    __metadata("design:type", Object)
], SubscriptionEntitlementInput.prototype, "description", void 0);
__decorate([
    Field(() => String, { description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", String)
], SubscriptionEntitlementInput.prototype, "featureId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], SubscriptionEntitlementInput.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionEntitlementInput.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' }),
    __metadata("design:type", Object)
], SubscriptionEntitlementInput.prototype, "usageLimit", void 0);
SubscriptionEntitlementInput = __decorate([
    InputType({ description: 'An entitlement of this subscription, in place of the plan’s for the feature.' })
], SubscriptionEntitlementInput);
export { SubscriptionEntitlementInput };
let UpdateSubscriptionEntitlementInput = class UpdateSubscriptionEntitlementInput extends ResetPeriodInput {
    featureId;
    hasSoftLimit;
    hasUnlimitedUsage;
    id;
    usageLimit;
};
__decorate([
    Field(() => String, { nullable: true, description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionEntitlementInput.prototype, "featureId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionEntitlementInput.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], UpdateSubscriptionEntitlementInput.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UpdateSubscriptionEntitlementInput.prototype, "id", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionEntitlementInput.prototype, "usageLimit", void 0);
UpdateSubscriptionEntitlementInput = __decorate([
    InputType({ description: 'An entitlement of this subscription, named by its id or its feature.' })
], UpdateSubscriptionEntitlementInput);
export { UpdateSubscriptionEntitlementInput };
let SubscriptionFeatureEntitlementInput = class SubscriptionFeatureEntitlementInput extends ResetPeriodInput {
    enumValues;
    featureGroupId;
    featureId;
    hasSoftLimit;
    hasUnlimitedUsage;
    usageLimit;
};
__decorate([
    Field(() => [String], { nullable: true, description: 'ENUM: the values held.' }),
    __metadata("design:type", Object)
], SubscriptionFeatureEntitlementInput.prototype, "enumValues", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Tollgate has no groups of features: it is refused.' }),
    __metadata("design:type", Object)
], SubscriptionFeatureEntitlementInput.prototype, "featureGroupId", void 0);
__decorate([
    Field(() => String, { description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", String)
], SubscriptionFeatureEntitlementInput.prototype, "featureId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], SubscriptionFeatureEntitlementInput.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionFeatureEntitlementInput.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' }),
    __metadata("design:type", Object)
], SubscriptionFeatureEntitlementInput.prototype, "usageLimit", void 0);
SubscriptionFeatureEntitlementInput = __decorate([
    InputType({ description: 'An entitlement to a feature.' })
], SubscriptionFeatureEntitlementInput);
export { SubscriptionFeatureEntitlementInput };
let SubscriptionCreditEntitlementInput = class SubscriptionCreditEntitlementInput {
    amount;
    cadence;
    customCurrencyId;
    hasSoftLimit;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], SubscriptionCreditEntitlementInput.prototype, "amount", void 0);
__decorate([
    Field(() => enums.CreditCadence),
    __metadata("design:type", Object)
], SubscriptionCreditEntitlementInput.prototype, "cadence", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], SubscriptionCreditEntitlementInput.prototype, "customCurrencyId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], SubscriptionCreditEntitlementInput.prototype, "hasSoftLimit", void 0);
SubscriptionCreditEntitlementInput = __decorate([
    InputType({ description: 'An entitlement to credits. Tollgate has none: it is refused.' })
], SubscriptionCreditEntitlementInput);
export { SubscriptionCreditEntitlementInput };
let SubscriptionEntitlementInputV2 = class SubscriptionEntitlementInputV2 {
    credit;
    feature;
};
__decorate([
    Field(() => SubscriptionCreditEntitlementInput, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionEntitlementInputV2.prototype, "credit", void 0);
__decorate([
    Field(() => SubscriptionFeatureEntitlementInput, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionEntitlementInputV2.prototype, "feature", void 0);
SubscriptionEntitlementInputV2 = __decorate([
    InputType({ description: 'An entitlement of this subscription, in place of the plan’s.' })
], SubscriptionEntitlementInputV2);
export { SubscriptionEntitlementInputV2 };
function fromGranted(input) {
    const { usageLimit, hasUnlimitedUsage, hasSoftLimit, enumValues, resetPeriod } = input;
    const rules = {
        MONTH: input.monthlyResetPeriodConfiguration?.accordingTo,
        WEEK: input.weeklyResetPeriodConfiguration?.accordingTo,
        YEAR: input.yearlyResetPeriodConfiguration?.accordingTo,
    };
    return {
        usageLimit: usageLimit === null || usageLimit === undefined ? null : decimal.fromNumber(usageLimit),
        hasUnlimitedUsage,
        hasSoftLimit,
        enumValues,
        resetPeriod,
        resetRule: resetPeriod && resetPeriod in rules ? (rules[resetPeriod] ?? null) : null,
    };
}
/** The older and the newer form are the same list; one of them is sent. Undefined: neither was. */
export function fromSubscriptionEntitlements(input) {
    const { subscriptionEntitlements, entitlements } = input;
    if (subscriptionEntitlements && entitlements)
        throw invalidInput('Send subscriptionEntitlements or entitlements, not both: they mean the same.', { path: 'entitlements' });
    if (entitlements) {
        return entitlements.map(({ credit, feature }) => {
            if (credit || !feature)
                throw invalidInput('Tollgate has no credits: name a feature.', { path: 'entitlements' });
            refuseAbsent('groups of features', feature, 'featureGroupId');
            return { ...fromGranted(feature), featureRefId: feature.featureId, id: null };
        });
    }
    return subscriptionEntitlements?.map((own) => ({
        ...fromGranted(own),
        featureRefId: own.featureId ?? '',
        id: 'id' in own ? (own.id ?? null) : null,
    }));
}
//# sourceMappingURL=subscription-entitlement.inputs.js.map