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
import { SubscriptionBillingInfo } from './billing.inputs.js';
import { fromBilling, fromBillingFacts } from './billing-request.js';
import * as enums from './enums.js';
import { DateTime } from './scalars.js';
import { fromContent } from './subscription.inputs.js';
import { SubscriptionCouponInput } from './subscription-coupon.inputs.js';
import { SubscriptionContent, TrialOverrideConfigurationInput } from './subscription-parts.inputs.js';
let EstimateSubscriptionInput = class EstimateSubscriptionInput extends SubscriptionContent {
    appliedCoupon;
    billingCountryCode;
    billingInformation;
    billingPeriod;
    customerId;
    environmentId;
    payingCustomerId;
    planId;
    priceUnitAmount;
    promotionCode;
    resourceId;
    skipTrial;
    startDate;
    trialOverrideConfiguration;
};
__decorate([
    Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "appliedCoupon", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2: chooses prices of that country.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "billingCountryCode", void 0);
__decorate([
    Field(() => SubscriptionBillingInfo, { nullable: true }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "billingInformation", void 0);
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], EstimateSubscriptionInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Another customer that pays.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "payingCustomerId", void 0);
__decorate([
    Field(() => String, { description: 'The plan’s identifier in the catalog.' }),
    __metadata("design:type", String)
], EstimateSubscriptionInput.prototype, "planId", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'A price per unit agreed for this subscription.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "priceUnitAmount", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'A code of the billing provider.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "promotionCode", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "resourceId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Starts without the plan’s trial.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "skipTrial", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Default now.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "startDate", void 0);
__decorate([
    Field(() => TrialOverrideConfigurationInput, { nullable: true }),
    __metadata("design:type", Object)
], EstimateSubscriptionInput.prototype, "trialOverrideConfiguration", void 0);
EstimateSubscriptionInput = __decorate([
    InputType({ description: 'The subscription that is to be priced.' })
], EstimateSubscriptionInput);
export { EstimateSubscriptionInput };
let EstimateSubscriptionUpdateInput = class EstimateSubscriptionUpdateInput extends SubscriptionContent {
    appliedCoupon;
    environmentId;
    promotionCode;
    subscriptionId;
};
__decorate([
    Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionUpdateInput.prototype, "appliedCoupon", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionUpdateInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'A code of the billing provider.' }),
    __metadata("design:type", Object)
], EstimateSubscriptionUpdateInput.prototype, "promotionCode", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the subscription.' }),
    __metadata("design:type", String)
], EstimateSubscriptionUpdateInput.prototype, "subscriptionId", void 0);
EstimateSubscriptionUpdateInput = __decorate([
    InputType({ description: 'The change that is to be priced.' })
], EstimateSubscriptionUpdateInput);
export { EstimateSubscriptionUpdateInput };
let PreviewSubscriptionInput = class PreviewSubscriptionInput extends SubscriptionContent {
    appliedCoupon;
    billingCountryCode;
    billingCycleAnchor;
    billingInformation;
    billingPeriod;
    customerId;
    environmentId;
    payingCustomerId;
    planId;
    promotionCode;
    resourceId;
    scheduleStrategy;
    startDate;
    trialOverrideConfiguration;
};
__decorate([
    Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "appliedCoupon", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2: chooses prices of that country.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "billingCountryCode", void 0);
__decorate([
    Field(() => enums.SubscriptionBillingCycleAnchor, {
        nullable: true,
        description: 'Whether billing periods begin anew. Default: NOW where another subscription’s place is taken, UNCHANGED where the same one changes.',
    }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "billingCycleAnchor", void 0);
__decorate([
    Field(() => SubscriptionBillingInfo, { nullable: true }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "billingInformation", void 0);
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], PreviewSubscriptionInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Another customer that pays.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "payingCustomerId", void 0);
__decorate([
    Field(() => String, { description: 'The plan’s identifier in the catalog.' }),
    __metadata("design:type", String)
], PreviewSubscriptionInput.prototype, "planId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'A code of the billing provider.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "promotionCode", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "resourceId", void 0);
__decorate([
    Field(() => enums.ScheduleStrategy, { nullable: true, description: 'Wins over the product’s setting for downgrades.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "scheduleStrategy", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Default now.' }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "startDate", void 0);
__decorate([
    Field(() => TrialOverrideConfigurationInput, { nullable: true }),
    __metadata("design:type", Object)
], PreviewSubscriptionInput.prototype, "trialOverrideConfiguration", void 0);
PreviewSubscriptionInput = __decorate([
    InputType({ description: 'The subscription that is to be priced.' })
], PreviewSubscriptionInput);
export { PreviewSubscriptionInput };
let PreviewNextInvoiceInput = class PreviewNextInvoiceInput {
    environmentId;
    subscriptionId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], PreviewNextInvoiceInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the subscription.' }),
    __metadata("design:type", String)
], PreviewNextInvoiceInput.prototype, "subscriptionId", void 0);
PreviewNextInvoiceInput = __decorate([
    InputType({ description: 'Which subscription.' })
], PreviewNextInvoiceInput);
export { PreviewNextInvoiceInput };
export function fromEstimateSubscriptionInput(input) {
    const { customerId, planId, billingCountryCode, billingPeriod, payingCustomerId, resourceId, skipTrial, startDate } = input;
    // Passed on to nobody, as nothing changes; what would be refused is.
    fromBillingFacts(input.billingInformation);
    return {
        customerRefId: customerId,
        planRefId: planId,
        payingCustomerRefId: payingCustomerId,
        resourceRefId: resourceId,
        billingCountryCode,
        billingPeriod,
        skipTrial,
        startDate,
        ...fromContent(input),
        trialOverride: input.trialOverrideConfiguration,
        billing: fromBilling(input),
    };
}
export function fromPreviewSubscriptionInput(input) {
    const { billingCycleAnchor, scheduleStrategy } = input;
    return { ...fromEstimateSubscriptionInput(input), billingCycleAnchor, scheduleStrategy };
}
export function fromEstimateSubscriptionUpdateInput(input) {
    return { subscriptionRefId: input.subscriptionId, ...fromContent(input), billing: fromBilling(input) };
}
//# sourceMappingURL=estimate.inputs.js.map