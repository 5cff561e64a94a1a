var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, InputType } from 'type-graphql';
import { invalidInput } from '../../kernel/problem.js';
import { SubscriptionBillingInfo } from './billing.inputs.js';
import { fromBilling, fromBillingFacts, fromBudget } from './billing-request.js';
import * as enums from './enums.js';
import { fromMetaData, sameId } from './input-fields.js';
import { BudgetConfigurationInput, PriceOverrideInput, SubscriptionMinimumSpendValueInput } from './price.inputs.js';
import { DateTime, Json } from './scalars.js';
import { fromContent } from './subscription.inputs.js';
import { SubscriptionCouponInput } from './subscription-coupon.inputs.js';
import { fromSubscriptionEntitlements, SubscriptionEntitlementInput, SubscriptionEntitlementInputV2, UpdateSubscriptionEntitlementInput, } from './subscription-entitlement.inputs.js';
import { SubscriptionContent } from './subscription-parts.inputs.js';
let GetSubscriptionInput = class GetSubscriptionInput {
    environmentId;
    subscriptionId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], GetSubscriptionInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the subscription.' }),
    __metadata("design:type", String)
], GetSubscriptionInput.prototype, "subscriptionId", void 0);
GetSubscriptionInput = __decorate([
    InputType({ description: 'Which subscription.' })
], GetSubscriptionInput);
export { GetSubscriptionInput };
let GetActiveSubscriptionsInput = class GetActiveSubscriptionsInput {
    customerId;
    environmentId;
    resourceId;
    resourceIds;
};
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], GetActiveSubscriptionsInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], GetActiveSubscriptionsInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Only those of this resource.' }),
    __metadata("design:type", Object)
], GetActiveSubscriptionsInput.prototype, "resourceId", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'Only those of these resources.' }),
    __metadata("design:type", Object)
], GetActiveSubscriptionsInput.prototype, "resourceIds", void 0);
GetActiveSubscriptionsInput = __decorate([
    InputType({ description: 'Whose subscriptions.' })
], GetActiveSubscriptionsInput);
export { GetActiveSubscriptionsInput };
let SubscriptionCancellationInput = class SubscriptionCancellationInput {
    awaitSubscriptionCancellation;
    endDate;
    environmentId;
    prorate;
    subscriptionCancellationAction;
    subscriptionCancellationTime;
    subscriptionRefId;
};
__decorate([
    Field(() => Boolean, { nullable: true, description: 'The answer always comes after the cancellation; accepted for older clients.' }),
    __metadata("design:type", Object)
], SubscriptionCancellationInput.prototype, "awaitSubscriptionCancellation", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'With SPECIFIC_DATE: when.' }),
    __metadata("design:type", Object)
], SubscriptionCancellationInput.prototype, "endDate", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], SubscriptionCancellationInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Credits the unused time.' }),
    __metadata("design:type", Object)
], SubscriptionCancellationInput.prototype, "prorate", void 0);
__decorate([
    Field(() => enums.SubscriptionCancellationAction, { nullable: true, description: 'Default DEFAULT.' }),
    __metadata("design:type", Object)
], SubscriptionCancellationInput.prototype, "subscriptionCancellationAction", void 0);
__decorate([
    Field(() => enums.SubscriptionCancellationTime, {
        nullable: true,
        description: 'Absent: the product’s setting; trials and free plans end at once.',
    }),
    __metadata("design:type", Object)
], SubscriptionCancellationInput.prototype, "subscriptionCancellationTime", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the subscription.' }),
    __metadata("design:type", String)
], SubscriptionCancellationInput.prototype, "subscriptionRefId", void 0);
SubscriptionCancellationInput = __decorate([
    InputType({ description: 'Which subscription ends, and when.' })
], SubscriptionCancellationInput);
export { SubscriptionCancellationInput };
let UpdateSubscriptionInput = class UpdateSubscriptionInput extends SubscriptionContent {
    additionalMetaData;
    appliedCoupon;
    awaitPaymentConfirmation;
    billingCycleAnchor;
    billingInformation;
    billingPeriod;
    budget;
    cancellationDate;
    entitlements;
    environmentId;
    minimumSpend;
    priceOverrides;
    promotionCode;
    refId;
    salesforceId;
    scheduleStrategy;
    subscriptionEntitlements;
    subscriptionId;
    trialEndDate;
};
__decorate([
    Field(() => Json, { nullable: true, description: 'An object of your own facts.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => SubscriptionCouponInput, { nullable: true, description: 'A discount for this subscription.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "appliedCoupon", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'False: access does not wait for the payment.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "awaitPaymentConfirmation", void 0);
__decorate([
    Field(() => enums.SubscriptionBillingCycleAnchor, {
        nullable: true,
        description: 'NOW: a billing period begins with the change, which is at once. Default UNCHANGED.',
    }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "billingCycleAnchor", void 0);
__decorate([
    Field(() => SubscriptionBillingInfo, { nullable: true }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "billingInformation", void 0);
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true, description: 'Changes the billing period.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => BudgetConfigurationInput, { nullable: true, description: 'For the usage-based charges of each billing period; null: none.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "budget", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Null takes a scheduled cancellation back.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "cancellationDate", void 0);
__decorate([
    Field(() => [SubscriptionEntitlementInputV2], { nullable: true, description: 'The newer form of subscriptionEntitlements.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "entitlements", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => SubscriptionMinimumSpendValueInput, { nullable: true, description: 'What is charged at least in a billing period.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "minimumSpend", void 0);
__decorate([
    Field(() => [PriceOverrideInput], { nullable: true, description: 'Prices agreed for this subscription.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "priceOverrides", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'A code of the billing provider.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "promotionCode", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The older name of subscriptionId; when both are sent they must be the same.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "refId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "salesforceId", void 0);
__decorate([
    Field(() => enums.ScheduleStrategy, {
        nullable: true,
        description: 'When quantities, add-ons and the billing period change. All else of the update is at once.',
    }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "scheduleStrategy", void 0);
__decorate([
    Field(() => [UpdateSubscriptionEntitlementInput], { nullable: true, description: 'In place of the plan’s for these features.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "subscriptionEntitlements", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Your identifier of the subscription.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "subscriptionId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Moves the end of the trial.' }),
    __metadata("design:type", Object)
], UpdateSubscriptionInput.prototype, "trialEndDate", void 0);
UpdateSubscriptionInput = __decorate([
    InputType({ description: 'What changes about a subscription: what is absent stays, null clears.' })
], UpdateSubscriptionInput);
export { UpdateSubscriptionInput };
let SubscriptionMigrationInput = class SubscriptionMigrationInput {
    environmentId;
    subscriptionId;
    subscriptionMigrationTime;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], SubscriptionMigrationInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the subscription.' }),
    __metadata("design:type", String)
], SubscriptionMigrationInput.prototype, "subscriptionId", void 0);
__decorate([
    Field(() => enums.SubscriptionMigrationTime, { nullable: true, description: 'Default END_OF_BILLING_PERIOD.' }),
    __metadata("design:type", Object)
], SubscriptionMigrationInput.prototype, "subscriptionMigrationTime", void 0);
SubscriptionMigrationInput = __decorate([
    InputType({ description: 'Which subscription moves to the latest version of its plan.' })
], SubscriptionMigrationInput);
export { SubscriptionMigrationInput };
let SubscriptionUpdateScheduleCancellationInput = class SubscriptionUpdateScheduleCancellationInput {
    environmentId;
    status;
    subscriptionId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], SubscriptionUpdateScheduleCancellationInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => enums.SubscriptionScheduleStatus, { nullable: true, description: 'Only updates with this status. Default Scheduled.' }),
    __metadata("design:type", Object)
], SubscriptionUpdateScheduleCancellationInput.prototype, "status", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the subscription.' }),
    __metadata("design:type", String)
], SubscriptionUpdateScheduleCancellationInput.prototype, "subscriptionId", void 0);
SubscriptionUpdateScheduleCancellationInput = __decorate([
    InputType({ description: 'Whose scheduled updates are taken back.' })
], SubscriptionUpdateScheduleCancellationInput);
export { SubscriptionUpdateScheduleCancellationInput };
let TransferSubscriptionInput = class TransferSubscriptionInput {
    customerId;
    destinationResourceId;
    sourceResourceId;
};
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], TransferSubscriptionInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the resource.' }),
    __metadata("design:type", String)
], TransferSubscriptionInput.prototype, "destinationResourceId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], TransferSubscriptionInput.prototype, "sourceResourceId", void 0);
TransferSubscriptionInput = __decorate([
    InputType({ description: 'From which resource of a customer to which other.' })
], TransferSubscriptionInput);
export { TransferSubscriptionInput };
let TransferSubscriptionToResourceInput = class TransferSubscriptionToResourceInput {
    destinationResourceId;
    environmentId;
    subscriptionId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Null: the customer itself.' }),
    __metadata("design:type", Object)
], TransferSubscriptionToResourceInput.prototype, "destinationResourceId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], TransferSubscriptionToResourceInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the subscription.' }),
    __metadata("design:type", String)
], TransferSubscriptionToResourceInput.prototype, "subscriptionId", void 0);
TransferSubscriptionToResourceInput = __decorate([
    InputType({ description: 'Which subscription, and the resource that it is to be bound to.' })
], TransferSubscriptionToResourceInput);
export { TransferSubscriptionToResourceInput };
let DelegateSubscriptionToCustomerInput = class DelegateSubscriptionToCustomerInput {
    destinationCustomerId;
    environmentId;
    subscriptionId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Null: the customer pays itself again.' }),
    __metadata("design:type", Object)
], DelegateSubscriptionToCustomerInput.prototype, "destinationCustomerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], DelegateSubscriptionToCustomerInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the subscription.' }),
    __metadata("design:type", String)
], DelegateSubscriptionToCustomerInput.prototype, "subscriptionId", void 0);
DelegateSubscriptionToCustomerInput = __decorate([
    InputType({ description: 'Which subscription, and who pays for it.' })
], DelegateSubscriptionToCustomerInput);
export { DelegateSubscriptionToCustomerInput };
let ImportSubscriptionInput = class ImportSubscriptionInput extends SubscriptionContent {
    additionalMetaData;
    billingId;
    billingPeriod;
    customerId;
    endDate;
    entitlements;
    planId;
    resourceId;
    salesforceId;
    startDate;
    subscriptionEntitlements;
    subscriptionId;
    updatedAt;
};
__decorate([
    Field(() => Json, { nullable: true, description: 'An object of your own facts.' }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Identifier at the billing provider.' }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "billingId", void 0);
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true, description: 'Needed when the plan has prices for several.' }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], ImportSubscriptionInput.prototype, "customerId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'The end of a term that is agreed at the start; exclusive.' }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "endDate", void 0);
__decorate([
    Field(() => [SubscriptionEntitlementInputV2], { nullable: true, description: 'The newer form of subscriptionEntitlements.' }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "entitlements", void 0);
__decorate([
    Field(() => String, { description: 'The plan’s identifier in the catalog.' }),
    __metadata("design:type", String)
], ImportSubscriptionInput.prototype, "planId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Binds the subscription to a resource of the customer.' }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "resourceId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "salesforceId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'When it began; default now.' }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "startDate", void 0);
__decorate([
    Field(() => [SubscriptionEntitlementInput], { nullable: true, description: 'In place of the plan’s for these features.' }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "subscriptionEntitlements", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'Your identifier of the subscription; absent: one is made. The same one never makes two.',
    }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "subscriptionId", void 0);
__decorate([
    Field(() => DateTime, {
        nullable: true,
        description: 'When it last changed there: an import that is older than the last one of the same subscriptionId changes nothing.',
    }),
    __metadata("design:type", Object)
], ImportSubscriptionInput.prototype, "updatedAt", void 0);
ImportSubscriptionInput = __decorate([
    InputType({ description: 'A subscription that exists elsewhere.' })
], ImportSubscriptionInput);
export { ImportSubscriptionInput };
let ImportSubscriptionsBulkInput = class ImportSubscriptionsBulkInput {
    environmentId;
    integrationId;
    subscriptions;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], ImportSubscriptionsBulkInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, {
        nullable: true,
        description: 'Where the subscriptions come from. There is one billing provider, so any value is fine.',
    }),
    __metadata("design:type", Object)
], ImportSubscriptionsBulkInput.prototype, "integrationId", void 0);
__decorate([
    Field(() => [ImportSubscriptionInput]),
    __metadata("design:type", Array)
], ImportSubscriptionsBulkInput.prototype, "subscriptions", void 0);
ImportSubscriptionsBulkInput = __decorate([
    InputType({ description: 'Subscriptions that exist elsewhere.' })
], ImportSubscriptionsBulkInput);
export { ImportSubscriptionsBulkInput };
export function fromGetActiveSubscriptionsInput({ customerId, resourceId, resourceIds }) {
    const named = [...(resourceId ? [resourceId] : []), ...(resourceIds ?? [])];
    return { customerRefId: customerId, resourceRefIds: named.length > 0 ? named : undefined };
}
export function fromCancellationInput(input) {
    const { subscriptionRefId, subscriptionCancellationTime, subscriptionCancellationAction, prorate, endDate } = input;
    return {
        subscriptionRefId,
        time: subscriptionCancellationTime ?? null,
        endDate: endDate ?? null,
        revokesEntitlements: subscriptionCancellationAction === 'REVOKE_ENTITLEMENTS',
        billing: { creditsUnused: prorate },
    };
}
export function fromUpdateSubscriptionInput(input) {
    const { subscriptionId, refId, trialEndDate, billingPeriod, cancellationDate, scheduleStrategy, salesforceId } = input;
    const subscriptionRefId = sameId({ subscriptionId, refId });
    if (subscriptionRefId === null)
        throw invalidInput('Name the subscription: send subscriptionId.', { path: 'subscriptionId' });
    return {
        subscriptionRefId,
        ...fromContent(input),
        ownEntitlements: fromSubscriptionEntitlements(input),
        additionalMetaData: fromMetaData(input.additionalMetaData),
        trialEndDate,
        billingPeriod,
        cancellationDate,
        scheduleStrategy,
        billing: fromBilling(input),
        billingInformation: fromBillingFacts(input.billingInformation),
        billingCycleAnchor: input.billingCycleAnchor,
        budget: fromBudget(input.budget),
        salesforceId,
    };
}
/** As it is kept until it is imported. What exists elsewhere has had its trial there. */
export function fromImportSubscriptionsBulkInput({ subscriptions }) {
    return subscriptions.map((input) => {
        const { customerId, planId, subscriptionId, resourceId, billingPeriod, billingId, salesforceId, startDate, endDate } = input;
        return {
            customerRefId: customerId,
            planRefId: planId,
            subscriptionRefId: subscriptionId,
            resourceRefId: resourceId,
            billingPeriod,
            billingId,
            salesforceId,
            startDate,
            endDate,
            updatedAt: input.updatedAt,
            ...fromContent(input),
            ownEntitlements: fromSubscriptionEntitlements(input),
            additionalMetaData: fromMetaData(input.additionalMetaData),
            skipTrial: true,
        };
    });
}
//# sourceMappingURL=subscription-change.inputs.js.map