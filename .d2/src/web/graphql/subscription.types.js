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
import { AlwaysNull, ExperimentInfo } from './always-null.js';
import { Customer, toCustomer } from './customer.types.js';
import { Entitlement, toEntitlements } from './entitlement.types.js';
import { EntitlementUnion, toFeatureEntitlements } from './entitlement-v2.types.js';
import * as enums from './enums.js';
import { Addon, Plan, toAddon, toPlan } from './package.types.js';
import { Money, Price } from './price.types.js';
import { DateTime, Json } from './scalars.js';
import { SubscriptionFutureUpdate, SubscriptionScheduledUpdate, toScheduledUpdate } from './schedule.types.js';
let SubscriptionAddon = class SubscriptionAddon {
    addon;
    id;
    quantity;
};
__decorate([
    Field(() => Addon),
    __metadata("design:type", Addon)
], SubscriptionAddon.prototype, "addon", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], SubscriptionAddon.prototype, "id", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], SubscriptionAddon.prototype, "quantity", void 0);
SubscriptionAddon = __decorate([
    ObjectType({ simpleResolvers: true, description: 'An add-on that a subscription holds.' })
], SubscriptionAddon);
export { SubscriptionAddon };
export function toSubscriptionAddon(environmentId, { id, quantity, version }) {
    return { id, quantity, addon: toAddon(environmentId, version) };
}
let CustomerResource = class CustomerResource {
    resourceId;
};
__decorate([
    Field(() => String, { description: 'The identifier that the host application gave.' }),
    __metadata("design:type", String)
], CustomerResource.prototype, "resourceId", void 0);
CustomerResource = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The thing of a customer that holds its own subscription.' })
], CustomerResource);
export { CustomerResource };
let TrialConfiguration = class TrialConfiguration {
    trialEndBehavior;
};
__decorate([
    Field(() => enums.TrialEndBehavior),
    __metadata("design:type", Object)
], TrialConfiguration.prototype, "trialEndBehavior", void 0);
TrialConfiguration = __decorate([
    ObjectType({ simpleResolvers: true, description: 'How the trial of a subscription ends.' })
], TrialConfiguration);
export { TrialConfiguration };
let SubscriptionPrice = class SubscriptionPrice {
    billingModel;
    price;
    usageLimit;
};
__decorate([
    Field(() => enums.BillingModel, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPrice.prototype, "billingModel", void 0);
__decorate([
    Field(() => Price, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPrice.prototype, "price", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Of a price per unit: how many are bought.' }),
    __metadata("design:type", Object)
], SubscriptionPrice.prototype, "usageLimit", void 0);
SubscriptionPrice = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A price that a subscription is charged by.' })
], SubscriptionPrice);
export { SubscriptionPrice };
let CustomerSubscriptionTotalPrice = class CustomerSubscriptionTotalPrice {
    subTotal;
    total;
};
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], CustomerSubscriptionTotalPrice.prototype, "subTotal", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], CustomerSubscriptionTotalPrice.prototype, "total", void 0);
CustomerSubscriptionTotalPrice = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a subscription costs in a billing period, without usage.' })
], CustomerSubscriptionTotalPrice);
export { CustomerSubscriptionTotalPrice };
let CustomerSubscription = class CustomerSubscription {
    /** What it was made of, for the fields that `SubscriptionResolver` answers. Not in the schema. */
    source;
    additionalMetaData;
    addons;
    billingCycleAnchor;
    billingId;
    billingLinkUrl;
    billingPeriod;
    cancelReason;
    cancellationDate;
    createdAt;
    crmId;
    crmLinkUrl;
    effectiveEndDate;
    endDate;
    environmentId;
    experimentInfo;
    futureUpdates;
    id;
    oldBillingId;
    outdatedPricePackages;
    paymentCollection;
    plan;
    pricingType;
    refId;
    resource;
    resourceId;
    salesforceId;
    scheduledUpdates;
    startDate;
    status;
    subscriptionId;
    trialConfiguration;
    trialEndDate;
    wasInTrial;
};
__decorate([
    Field(() => Json, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => [SubscriptionAddon], { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "addons", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true, description: 'ISO 8601: what billing periods are counted from.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "billingCycleAnchor", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true, description: 'Identifier at the billing provider.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "billingId", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], CustomerSubscription.prototype, "billingLinkUrl", void 0);
__decorate([
    Field(() => enums.BillingPeriod, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => enums.SubscriptionCancelReason, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "cancelReason", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, simple: true, description: 'When cancellation was asked for; see effectiveEndDate.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "cancellationDate", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "createdAt", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true, description: 'Identifier in the CRM.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "crmId", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], CustomerSubscription.prototype, "crmLinkUrl", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, simple: true, description: 'When access ends or ended; exclusive.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "effectiveEndDate", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, simple: true, description: 'The end of a term that was agreed at the start; exclusive.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "endDate", void 0);
__decorate([
    Field(() => String, { simple: true }),
    __metadata("design:type", String)
], CustomerSubscription.prototype, "environmentId", void 0);
__decorate([
    AlwaysNull(() => ExperimentInfo),
    __metadata("design:type", void 0)
], CustomerSubscription.prototype, "experimentInfo", void 0);
__decorate([
    Field(() => [SubscriptionFutureUpdate], { nullable: true, simple: true, description: 'Changes that are yet to come.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "futureUpdates", void 0);
__decorate([
    Field(() => String, { simple: true, description: 'Our identifier.' }),
    __metadata("design:type", String)
], CustomerSubscription.prototype, "id", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], CustomerSubscription.prototype, "oldBillingId", void 0);
__decorate([
    AlwaysNull(() => [String]),
    __metadata("design:type", void 0)
], CustomerSubscription.prototype, "outdatedPricePackages", void 0);
__decorate([
    Field(() => enums.PaymentCollection, { simple: true }),
    __metadata("design:type", String)
], CustomerSubscription.prototype, "paymentCollection", void 0);
__decorate([
    Field(() => Plan, { simple: true }),
    __metadata("design:type", Plan)
], CustomerSubscription.prototype, "plan", void 0);
__decorate([
    Field(() => enums.PricingType, { simple: true }),
    __metadata("design:type", String)
], CustomerSubscription.prototype, "pricingType", void 0);
__decorate([
    Field(() => String, { simple: true, description: 'The older name of subscriptionId.' }),
    __metadata("design:type", String)
], CustomerSubscription.prototype, "refId", void 0);
__decorate([
    Field(() => CustomerResource, { nullable: true, simple: true, description: 'Null: the customer itself.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "resource", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "resourceId", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "salesforceId", void 0);
__decorate([
    Field(() => [SubscriptionScheduledUpdate], { nullable: true, simple: true, description: 'Changes that are scheduled.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "scheduledUpdates", void 0);
__decorate([
    Field(() => DateTime, { simple: true }),
    __metadata("design:type", Number)
], CustomerSubscription.prototype, "startDate", void 0);
__decorate([
    Field(() => enums.SubscriptionStatus, { simple: true }),
    __metadata("design:type", String)
], CustomerSubscription.prototype, "status", void 0);
__decorate([
    Field(() => String, { simple: true, description: 'The host application’s identifier; ours when it gave none.' }),
    __metadata("design:type", String)
], CustomerSubscription.prototype, "subscriptionId", void 0);
__decorate([
    Field(() => TrialConfiguration, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "trialConfiguration", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "trialEndDate", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, simple: true, description: 'Whether it began with a trial.' }),
    __metadata("design:type", Object)
], CustomerSubscription.prototype, "wasInTrial", void 0);
CustomerSubscription = __decorate([
    ObjectType({
        description: 'A customer’s subscription to a plan. Its status is the one of now: a transition that is due counts although it may not be recorded yet.',
    })
], CustomerSubscription);
export { CustomerSubscription };
export function toCustomerSubscription(source) {
    const { environmentId, resource, trialEndBehavior } = source;
    return {
        source,
        id: source.id,
        refId: source.refId,
        subscriptionId: source.refId,
        environmentId,
        additionalMetaData: source.additionalMetaData,
        addons: source.addons.map((addon) => toSubscriptionAddon(environmentId, addon)),
        billingCycleAnchor: new Date(source.billingAnchor).toISOString(),
        billingId: source.billingId,
        billingPeriod: source.billingPeriod,
        cancelReason: source.cancelReason,
        cancellationDate: source.cancellationDate,
        createdAt: source.createdAt,
        crmId: source.crmId,
        effectiveEndDate: source.effectiveEndDate,
        endDate: source.endDate,
        futureUpdates: source.scheduled.map(toScheduledUpdate),
        paymentCollection: source.paymentCollection,
        plan: toPlan(environmentId, source.plan),
        pricingType: source.pricingType,
        resource: resource && { resourceId: resource.refId },
        resourceId: resource?.refId ?? null,
        salesforceId: source.salesforceId,
        scheduledUpdates: source.scheduled.map(toScheduledUpdate),
        startDate: source.startDate,
        status: source.status,
        trialConfiguration: trialEndBehavior && { trialEndBehavior },
        trialEndDate: source.trialEndDate,
        wasInTrial: source.trialEndDate !== null,
    };
}
let ApplySubscription = class ApplySubscription {
    entitlements;
    entitlementsV2;
    subscription;
};
__decorate([
    Field(() => [Entitlement], { nullable: true, description: 'All entitlements of the customer or resource now.' }),
    __metadata("design:type", Object)
], ApplySubscription.prototype, "entitlements", void 0);
__decorate([
    Field(() => [EntitlementUnion], { nullable: true, description: 'The same in their newer form.' }),
    __metadata("design:type", Object)
], ApplySubscription.prototype, "entitlementsV2", void 0);
__decorate([
    Field(() => CustomerSubscription, { nullable: true }),
    __metadata("design:type", Object)
], ApplySubscription.prototype, "subscription", void 0);
ApplySubscription = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The subscription that the customer has now, and what it entitles to.' })
], ApplySubscription);
export { ApplySubscription };
let ProvisionSubscriptionResult = class ProvisionSubscriptionResult {
    checkoutBillingId;
    checkoutUrl;
    entitlements;
    entitlementsV2;
    id;
    isScheduled;
    status;
    subscription;
};
__decorate([
    Field(() => String, { nullable: true, description: 'The billing provider’s identifier of the checkout.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionResult.prototype, "checkoutBillingId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'With PAYMENT_REQUIRED: where the customer pays.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionResult.prototype, "checkoutUrl", void 0);
__decorate([
    Field(() => [Entitlement], { nullable: true, description: 'All entitlements of the customer or resource now.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionResult.prototype, "entitlements", void 0);
__decorate([
    Field(() => [EntitlementUnion], { nullable: true, description: 'The same in their newer form.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionResult.prototype, "entitlementsV2", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Our identifier of the subscription.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionResult.prototype, "id", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether it begins later.' }),
    __metadata("design:type", Object)
], ProvisionSubscriptionResult.prototype, "isScheduled", void 0);
__decorate([
    Field(() => enums.ProvisionSubscriptionStatus),
    __metadata("design:type", String)
], ProvisionSubscriptionResult.prototype, "status", void 0);
__decorate([
    Field(() => CustomerSubscription, { nullable: true }),
    __metadata("design:type", Object)
], ProvisionSubscriptionResult.prototype, "subscription", void 0);
ProvisionSubscriptionResult = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The provisioned subscription and what it entitles to.' })
], ProvisionSubscriptionResult);
export { ProvisionSubscriptionResult };
export function toProvisionSubscriptionResult({ subscription, state }, now) {
    return {
        checkoutBillingId: null,
        checkoutUrl: null,
        entitlements: toEntitlements(state, now),
        entitlementsV2: toFeatureEntitlements(state, now),
        id: subscription.id,
        isScheduled: subscription.status === 'NOT_STARTED',
        status: subscription.status === 'PAYMENT_PENDING' ? 'PAYMENT_REQUIRED' : 'SUCCESS',
        subscription: toCustomerSubscription(subscription),
    };
}
let ProvisionedCustomer = class ProvisionedCustomer {
    customer;
    entitlements;
    entitlementsV2;
    subscription;
    subscriptionDecisionStrategy;
};
__decorate([
    Field(() => Customer),
    __metadata("design:type", Customer)
], ProvisionedCustomer.prototype, "customer", void 0);
__decorate([
    Field(() => [Entitlement], { nullable: true, description: 'All entitlements of the customer now.' }),
    __metadata("design:type", Object)
], ProvisionedCustomer.prototype, "entitlements", void 0);
__decorate([
    Field(() => [EntitlementUnion], { nullable: true, description: 'The same in their newer form.' }),
    __metadata("design:type", Object)
], ProvisionedCustomer.prototype, "entitlementsV2", void 0);
__decorate([
    Field(() => CustomerSubscription, { nullable: true, description: 'The subscription that was made; null when none was.' }),
    __metadata("design:type", Object)
], ProvisionedCustomer.prototype, "subscription", void 0);
__decorate([
    Field(() => enums.SubscriptionDecisionStrategy),
    __metadata("design:type", String)
], ProvisionedCustomer.prototype, "subscriptionDecisionStrategy", void 0);
ProvisionedCustomer = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The provisioned customer and what it starts with.' })
], ProvisionedCustomer);
export { ProvisionedCustomer };
export function toProvisionedCustomer({ customer, subscription, decision, state }, now) {
    return {
        customer: toCustomer(customer),
        entitlements: toEntitlements(state, now),
        entitlementsV2: toFeatureEntitlements(state, now),
        subscription: subscription && toCustomerSubscription(subscription),
        subscriptionDecisionStrategy: decision,
    };
}
//# sourceMappingURL=subscription.types.js.map