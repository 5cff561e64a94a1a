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
import * as enums from './enums.js';
import { ResetPeriodInput } from './reset-period.inputs.js';
import { DateTime } from './scalars.js';
let GrantPromotionalEntitlementInput = class GrantPromotionalEntitlementInput extends ResetPeriodInput {
    customEndDate;
    enumValues;
    featureId;
    hasSoftLimit;
    hasUnlimitedUsage;
    isVisible;
    period;
    usageLimit;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'With period CUSTOM: when it ends; exclusive.' }),
    __metadata("design:type", Object)
], GrantPromotionalEntitlementInput.prototype, "customEndDate", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'ENUM: the values held.' }),
    __metadata("design:type", Object)
], GrantPromotionalEntitlementInput.prototype, "enumValues", void 0);
__decorate([
    Field(() => String, { description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", String)
], GrantPromotionalEntitlementInput.prototype, "featureId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], GrantPromotionalEntitlementInput.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], GrantPromotionalEntitlementInput.prototype, "hasUnlimitedUsage", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether you show it to the customer; default true.' }),
    __metadata("design:type", Object)
], GrantPromotionalEntitlementInput.prototype, "isVisible", void 0);
__decorate([
    Field(() => enums.PromotionalEntitlementPeriod, { description: 'How long it is held, on the calendar of the customer’s time zone.' }),
    __metadata("design:type", Object)
], GrantPromotionalEntitlementInput.prototype, "period", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The cap of a metered feature, the value of a NUMBER without a meter.' }),
    __metadata("design:type", Object)
], GrantPromotionalEntitlementInput.prototype, "usageLimit", void 0);
GrantPromotionalEntitlementInput = __decorate([
    InputType({ description: 'A feature that a customer is entitled to beside its subscriptions.' })
], GrantPromotionalEntitlementInput);
export { GrantPromotionalEntitlementInput };
let GrantPromotionalEntitlementsInput = class GrantPromotionalEntitlementsInput {
    customerId;
    environmentId;
    promotionalEntitlements;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], GrantPromotionalEntitlementsInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], GrantPromotionalEntitlementsInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => [GrantPromotionalEntitlementInput], { description: 'At most 100, each of another feature.' }),
    __metadata("design:type", Array)
], GrantPromotionalEntitlementsInput.prototype, "promotionalEntitlements", void 0);
GrantPromotionalEntitlementsInput = __decorate([
    InputType({ description: 'Rights for one customer, granted all or nothing. What it was granted of the same features is replaced.' })
], GrantPromotionalEntitlementsInput);
export { GrantPromotionalEntitlementsInput };
let RevokePromotionalEntitlementInput = class RevokePromotionalEntitlementInput {
    customerId;
    environmentId;
    featureId;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], RevokePromotionalEntitlementInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], RevokePromotionalEntitlementInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", String)
], RevokePromotionalEntitlementInput.prototype, "featureId", void 0);
RevokePromotionalEntitlementInput = __decorate([
    InputType({ description: 'Which customer, and which feature.' })
], RevokePromotionalEntitlementInput);
export { RevokePromotionalEntitlementInput };
export function fromGrantInput(input) {
    const { featureId: featureRefId, monthlyResetPeriodConfiguration, weeklyResetPeriodConfiguration, yearlyResetPeriodConfiguration } = input;
    const { customEndDate, enumValues, hasSoftLimit, hasUnlimitedUsage, isVisible, period, resetPeriod, usageLimit } = input;
    return {
        featureRefId,
        customEndDate,
        enumValues,
        hasSoftLimit,
        hasUnlimitedUsage,
        isVisible,
        period,
        resetPeriod,
        usageLimit,
        resetRules: {
            MONTH: monthlyResetPeriodConfiguration?.accordingTo,
            WEEK: weeklyResetPeriodConfiguration?.accordingTo,
            YEAR: yearlyResetPeriodConfiguration?.accordingTo,
        },
    };
}
//# sourceMappingURL=promotional.inputs.js.map