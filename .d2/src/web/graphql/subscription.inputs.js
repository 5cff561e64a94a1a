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
import { CheckoutOptions, SubscriptionBillingInfo } from './billing.inputs.js';
import { fromBilling, fromBillingFacts, fromBudget } from './billing-request.js';
import * as enums from './enums.js';
import { fromMetaData, sameId } from './input-fields.js';
import { BudgetConfigurationInput, PriceOverrideInput, SubscriptionMinimumSpendValueInput } from './price.inputs.js';
import { DateTime, Json } from './scalars.js';
import { SubscriptionCouponInput } from './subscription-coupon.inputs.js';
import { fromSubscriptionEntitlements, SubscriptionEntitlementInput, SubscriptionEntitlementInputV2, } from './subscription-entitlement.inputs.js';
import { SubscriptionContent, TrialOverrideConfigurationInput } from './subscription-parts.inputs.js';
/** What a subscription is asked for with, whoever it is for. Not a type of the schema. */
let SubscriptionParams = class SubscriptionParams extends SubscriptionContent {
    additionalMetaData;
    appliedCoupon;
    awaitPaymentConfirmation;
    billingCountryCode;
    billingCycleAnchor;
    billingId;
    billingInformation;
    billingPeriod;
    budget;
    entitlements;
    minimumSpend;
    paymentCollectionMethod;
    planId;
    priceOverrides;
    promotionCode;
    resourceId;
    salesforceId;
    startDate;
    subscriptionEntitlements;
};
__decorate([
    Field(() => Json, { nullable: true, description: 'An object of your own facts.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "appliedCoupon", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'False: access does not wait for the payment.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "awaitPaymentConfirmation", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2: chooses prices of that country.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "billingCountryCode", void 0);
__decorate([
    Field(() => enums.SubscriptionBillingCycleAnchor, {
        nullable: true,
        description: 'Whether billing periods begin anew. Default: NOW where another subscription’s place is taken, UNCHANGED where the same one changes.',
    }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "billingCycleAnchor", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Identifier at the billing provider.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "billingId", void 0);
__decorate([
    Field(() => SubscriptionBillingInfo, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "billingInformation", void 0);
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => BudgetConfigurationInput, { nullable: true, description: 'For the usage-based charges of each billing period.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "budget", void 0);
__decorate([
    Field(() => [SubscriptionEntitlementInputV2], { nullable: true, description: 'The newer form of subscriptionEntitlements.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "entitlements", void 0);
__decorate([
    Field(() => SubscriptionMinimumSpendValueInput, { nullable: true, description: 'What is charged at least in a billing period.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "minimumSpend", void 0);
__decorate([
    Field(() => enums.PaymentCollectionMethod, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "paymentCollectionMethod", void 0);
__decorate([
    Field(() => String, { description: 'The plan’s identifier in the catalog.' }),
    __metadata("design:type", String)
], SubscriptionParams.prototype, "planId", void 0);
__decorate([
    Field(() => [PriceOverrideInput], { nullable: true, description: 'Prices agreed for this subscription.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "priceOverrides", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'A code of the billing provider.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "promotionCode", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "resourceId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "salesforceId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Default now.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "startDate", void 0);
__decorate([
    Field(() => [SubscriptionEntitlementInput], { nullable: true, description: 'In place of the plan’s for these features.' }),
    __metadata("design:type", Object)
], SubscriptionParams.prototype, "subscriptionEntitlements", void 0);
SubscriptionParams = __decorate([
    InputType()
], SubscriptionParams);
let ProvisionCustomerSubscriptionInput = class ProvisionCustomerSubscriptionInput extends SubscriptionParams {
    priceUnitAmount;
    refId;
    subscriptionId;
    trialOverrideConfiguration;
};
__decorate([
    Field(() => Float, { nullable: true, description: 'A price per unit agreed for this subscription.' }),
    __metadata("design:type", Object)
], ProvisionCustomerSubscriptionInput.prototype, "priceUnitAmount", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' }),
    __metadata("design:type", Object)
], ProvisionCustomerSubscriptionInput.prototype, "refId", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
    }),
    __metadata("design:type", Object)
], ProvisionCustomerSubscriptionInput.prototype, "subscriptionId", void 0);
__decorate([
    Field(() => TrialOverrideConfigurationInput, { nullable: true }),
    __metadata("design:type", Object)
], ProvisionCustomerSubscriptionInput.prototype, "trialOverrideConfiguration", void 0);
ProvisionCustomerSubscriptionInput = __decorate([
    InputType({ description: 'The subscription that a new customer starts with.' })
], ProvisionCustomerSubscriptionInput);
export { ProvisionCustomerSubscriptionInput };
let ProvisionSubscriptionInput = class ProvisionSubscriptionInput extends SubscriptionParams {
    cancellationDate;
    checkoutOptions;
    customerId;
    payingCustomerId;
    priceUnitAmount;
    refId;
    scheduleStrategy;
    skipTrial;
    subscriptionId;
    trialOverrideConfiguration;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Ends the subscription then.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "cancellationDate", void 0);
__decorate([
    Field(() => CheckoutOptions, { nullable: true }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "checkoutOptions", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], ProvisionSubscriptionInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Another customer that pays.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "payingCustomerId", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'A price per unit agreed for this subscription.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "priceUnitAmount", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "refId", void 0);
__decorate([
    Field(() => enums.ScheduleStrategy, { nullable: true, description: 'Wins over the product’s setting for downgrades.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "scheduleStrategy", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Starts without the plan’s trial.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "skipTrial", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
    }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "subscriptionId", void 0);
__decorate([
    Field(() => TrialOverrideConfigurationInput, { nullable: true }),
    __metadata("design:type", Object)
], ProvisionSubscriptionInput.prototype, "trialOverrideConfiguration", void 0);
ProvisionSubscriptionInput = __decorate([
    InputType({ description: 'A subscription of a customer to a plan.' })
], ProvisionSubscriptionInput);
export { ProvisionSubscriptionInput };
let ProvisionSubscription = class ProvisionSubscription extends ProvisionSubscriptionInput {
};
ProvisionSubscription = __decorate([
    InputType({ description: 'A subscription of a customer to a plan.' })
], ProvisionSubscription);
export { ProvisionSubscription };
let ApplySubscriptionInput = class ApplySubscriptionInput extends SubscriptionParams {
    cancellationDate;
    customerId;
    environmentId;
    payingCustomerId;
    paymentMethodId;
    scheduleStrategy;
    skipTrial;
    trialEndDate;
    trialOverrideConfiguration;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Ends the subscription then.' }),
    __metadata("design:type", Object)
], ApplySubscriptionInput.prototype, "cancellationDate", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], ApplySubscriptionInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], ApplySubscriptionInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Another customer that pays.' }),
    __metadata("design:type", Object)
], ApplySubscriptionInput.prototype, "payingCustomerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'What is charged of who pays from now on: the billing provider’s reference.' }),
    __metadata("design:type", Object)
], ApplySubscriptionInput.prototype, "paymentMethodId", void 0);
__decorate([
    Field(() => enums.ScheduleStrategy, { nullable: true, description: 'Wins over the product’s setting for downgrades.' }),
    __metadata("design:type", Object)
], ApplySubscriptionInput.prototype, "scheduleStrategy", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Starts without the plan’s trial.' }),
    __metadata("design:type", Object)
], ApplySubscriptionInput.prototype, "skipTrial", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], ApplySubscriptionInput.prototype, "trialEndDate", void 0);
__decorate([
    Field(() => TrialOverrideConfigurationInput, { nullable: true }),
    __metadata("design:type", Object)
], ApplySubscriptionInput.prototype, "trialOverrideConfiguration", void 0);
ApplySubscriptionInput = __decorate([
    InputType({ description: 'The plan that a customer is to be subscribed to.' })
], ApplySubscriptionInput);
export { ApplySubscriptionInput };
let SubscriptionInput = class SubscriptionInput extends SubscriptionParams {
    cancellationDate;
    crmId;
    customerId;
    endDate;
    environmentId;
    isCustomPriceSubscription;
    isOverridingTrialConfig;
    isTrial;
    payingCustomerId;
    priceUnitAmount;
    refId;
    scheduleStrategy;
    subscriptionId;
    trialEndBehavior;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Ends the subscription then.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "cancellationDate", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "crmId", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], SubscriptionInput.prototype, "customerId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'The end of a term that is agreed at the start; exclusive.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "endDate", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'True: it has prices of its own, which priceOverrides tells.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "isCustomPriceSubscription", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'False: the plan’s trial holds, whatever isTrial says.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "isOverridingTrialConfig", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Wins over the plan’s trial.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "isTrial", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Another customer that pays.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "payingCustomerId", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'A price per unit agreed for this subscription.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "priceUnitAmount", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "refId", void 0);
__decorate([
    Field(() => enums.ScheduleStrategy, { nullable: true, description: 'Wins over the product’s setting for downgrades.' }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "scheduleStrategy", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
    }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "subscriptionId", void 0);
__decorate([
    Field(() => enums.TrialEndBehavior, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInput.prototype, "trialEndBehavior", void 0);
SubscriptionInput = __decorate([
    InputType({ description: 'A subscription of a customer to a plan.' })
], SubscriptionInput);
export { SubscriptionInput };
export function fromSubscriptionParams(params) {
    const { planId, refId, subscriptionId, resourceId, billingPeriod, billingCountryCode, startDate, billingId, salesforceId } = params;
    return {
        planRefId: planId,
        subscriptionRefId: sameId({ subscriptionId, refId }),
        resourceRefId: resourceId,
        billingPeriod,
        billingCountryCode,
        startDate,
        ...fromContent(params),
        ownEntitlements: fromSubscriptionEntitlements(params),
        trialOverride: params.trialOverrideConfiguration,
        additionalMetaData: fromMetaData(params.additionalMetaData),
        billing: fromBilling(params),
        billingInformation: fromBillingFacts(params.billingInformation),
        billingCycleAnchor: params.billingCycleAnchor,
        budget: fromBudget(params.budget),
        billingId,
        salesforceId,
    };
}
/** What is bought beside the plan. */
export function fromContent({ addons, unitQuantity, ...content }) {
    return {
        addons: addons?.map(({ addonId, quantity }) => ({ addonRefId: addonId, quantity: quantity ?? 1 })),
        quantities: fromQuantities(content),
        unitQuantity: unitQuantity === null || unitQuantity === undefined ? null : decimal.fromNumber(unitQuantity),
    };
}
/** `charges` of type FEATURE are `billableFeatures` under their newer name. Undefined: neither was sent. */
export function fromQuantities({ billableFeatures, charges }) {
    if (charges?.some(({ type }) => type === 'CREDIT'))
        throw invalidInput('Tollgate has no credits: send charges of type FEATURE only.', { path: 'charges' });
    if (billableFeatures && charges)
        throw invalidInput('Send billableFeatures or charges, not both: they mean the same.', { path: 'charges' });
    const quantities = billableFeatures ?? charges?.map(({ id, quantity }) => ({ featureId: id, quantity }));
    return quantities?.map(({ featureId, quantity }) => ({ featureRefId: featureId, quantity: decimal.fromNumber(quantity) }));
}
/** The argument had another name once: exactly one of the two is sent. */
export function givenSubscription(input, subscription) {
    const given = input ?? subscription;
    if (!given || (input && subscription))
        throw invalidInput('Send exactly one of the arguments input and subscription');
    return given;
}
export function fromProvisionSubscriptionInput(input) {
    return { ...fromSubscriptionParams(input), ...fromLife(input), skipTrial: input.skipTrial };
}
/** What the inputs have in common that name a customer. */
function fromLife(input) {
    const { customerId, cancellationDate, payingCustomerId, scheduleStrategy } = input;
    return { customerRefId: customerId, cancellationDate, payingCustomerRefId: payingCustomerId, scheduleStrategy };
}
export function fromApplySubscriptionInput(input) {
    const { paymentMethodId, skipTrial, trialEndDate, trialOverrideConfiguration } = input;
    if (trialEndDate && trialOverrideConfiguration)
        throw invalidInput('Send trialEndDate in trialOverrideConfiguration, not beside it.', { path: 'trialEndDate' });
    const trialOverride = trialEndDate ? { isTrial: true, trialEndDate } : trialOverrideConfiguration;
    return { ...fromSubscriptionParams(input), ...fromLife(input), skipTrial, trialOverride, paymentMethodId };
}
/** In the oldest form the trial's override is spread over the input. */
export function fromSubscriptionInput(input) {
    const { crmId, endDate, isTrial, isOverridingTrialConfig, trialEndBehavior } = input;
    const hasOwnPrices = (input.priceOverrides?.length ?? 0) > 0 || typeof input.priceUnitAmount === 'number';
    if (input.isCustomPriceSubscription && !hasOwnPrices)
        throw invalidInput('A subscription with prices of its own needs them: send priceOverrides.', { path: 'isCustomPriceSubscription' });
    // False: whether there is a trial is the plan's to say.
    const isOverridden = typeof isTrial === 'boolean' && isOverridingTrialConfig !== false;
    const trialOverride = isOverridden ? { isTrial, trialEndBehavior } : null;
    return { ...fromSubscriptionParams(input), ...fromLife(input), crmId, endDate, trialOverride };
}
//# sourceMappingURL=subscription.inputs.js.map