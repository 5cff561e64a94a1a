var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
var __param = (this && this.__param) || function (paramIndex, decorator) {
    return function (target, key) { decorator(target, key, paramIndex); }
};
import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { customerNotFound } from '../../customer/model/problems.js';
import { currentBillingPeriod } from '../../subscription/rules/billing-period.js';
import { fromCheckoutOptions } from './billing-request.js';
import { checkoutOf, collected, collectedProvision } from './collected.js';
import { Customer, toCustomer } from './customer.types.js';
import { DateTime } from './scalars.js';
import { fromProvisionSubscriptionInput, givenSubscription, ProvisionSubscriptionInput } from './subscription.inputs.js';
import { CustomerSubscription, ProvisionSubscriptionResult, toCustomerSubscription, toProvisionSubscriptionResult, } from './subscription.types.js';
import { fromCancellationInput, fromGetActiveSubscriptionsInput, GetActiveSubscriptionsInput, GetSubscriptionInput, SubscriptionCancellationInput, } from './subscription-change.inputs.js';
let SubscriptionResolver = class SubscriptionResolver {
    async getActiveSubscriptions(input, { app, identity }) {
        const subscriptions = await app.subscriptionReads.active(identity.environmentId, fromGetActiveSubscriptionsInput(input));
        return subscriptions.map(toCustomerSubscription);
    }
    async getSubscription({ subscriptionId }, { app, identity }) {
        return toCustomerSubscription(await app.subscriptionReads.get(identity.environmentId, subscriptionId));
    }
    async provisionSubscriptionV2(input, subscription, context) {
        return provision(context, givenSubscription(input, subscription));
    }
    async cancelSubscription(input, context) {
        const { app, identity } = context;
        const canceled = await app.cancellations.cancel(identity.environmentId, fromCancellationInput(input));
        return toCustomerSubscription(await collected(context, canceled));
    }
    async payingCustomer({ source }, context) {
        if (source.payingCustomerId === null || context.identity.kind !== 'SERVER')
            return null;
        return toCustomer(await loadCustomer(context, source.payingCustomerId));
    }
    async payingCustomerId({ source }, context) {
        return source.payingCustomerId === null ? null : (await loadCustomer(context, source.payingCustomerId)).refId;
    }
    async customer({ source }, context) {
        return toCustomer(await loadCustomer(context, source.customerId));
    }
    async customerId({ source }, context) {
        return (await loadCustomer(context, source.customerId)).refId;
    }
    currentBillingPeriodEnd({ source }) {
        return currentBillingPeriod(source)?.end ?? null;
    }
    currentBillingPeriodStart({ source }) {
        return currentBillingPeriod(source)?.start ?? null;
    }
};
__decorate([
    Query(() => [CustomerSubscription], { nullable: true, description: 'The subscriptions of a customer that give access now.' }),
    __param(0, Arg('input', () => GetActiveSubscriptionsInput, { description: 'Whose subscriptions.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [GetActiveSubscriptionsInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionResolver.prototype, "getActiveSubscriptions", null);
__decorate([
    Query(() => CustomerSubscription, { description: 'One subscription, whatever its status.' }),
    __param(0, Arg('input', () => GetSubscriptionInput, { description: 'Which subscription.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [GetSubscriptionInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionResolver.prototype, "getSubscription", null);
__decorate([
    Mutation(() => ProvisionSubscriptionResult, {
        description: 'Subscribes a customer to a plan, replacing its other subscription to the same product where the rules say so. Safe to repeat. Takes `input` or its other name, `subscription`.',
    }),
    __param(0, Arg('input', () => ProvisionSubscriptionInput, { nullable: true, description: 'The subscription.' })),
    __param(1, Arg('subscription', () => ProvisionSubscriptionInput, { nullable: true, description: 'The same as input.' })),
    __param(2, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionResolver.prototype, "provisionSubscriptionV2", null);
__decorate([
    Mutation(() => CustomerSubscription, { description: 'Ends a subscription, now or at a later date.' }),
    __param(0, Arg('input', () => SubscriptionCancellationInput, { description: 'Which subscription, and when.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [SubscriptionCancellationInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionResolver.prototype, "cancelSubscription", null);
__decorate([
    FieldResolver(() => Customer, {
        nullable: true,
        description: 'Who pays, when it is another customer. Null for client keys: they may not know of other customers.',
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionResolver.prototype, "payingCustomer", null);
__decorate([
    FieldResolver(() => String, {
        nullable: true,
        description: 'The host application’s identifier of the customer that pays, when it is another one.',
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionResolver.prototype, "payingCustomerId", null);
__decorate([
    FieldResolver(() => Customer),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionResolver.prototype, "customer", null);
__decorate([
    FieldResolver(() => String, { nullable: true, description: 'The host application’s identifier of the customer.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionResolver.prototype, "customerId", null);
__decorate([
    FieldResolver(() => DateTime, { nullable: true, description: 'Exclusive. In a trial: its end.' }),
    __param(0, Root()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription]),
    __metadata("design:returntype", Object)
], SubscriptionResolver.prototype, "currentBillingPeriodEnd", null);
__decorate([
    FieldResolver(() => DateTime, { nullable: true, description: 'In a trial: its start.' }),
    __param(0, Root()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription]),
    __metadata("design:returntype", Object)
], SubscriptionResolver.prototype, "currentBillingPeriodStart", null);
SubscriptionResolver = __decorate([
    Resolver(() => CustomerSubscription)
], SubscriptionResolver);
export { SubscriptionResolver };
/** Provisions, has the billing provider make the invoice, and tells where to pay when the payment comes first. */
export async function provision(context, input) {
    const { app, identity, now } = context;
    const checkout = fromCheckoutOptions(input.checkoutOptions);
    const request = fromProvisionSubscriptionInput(input);
    const provisioned = await collectedProvision(context, await app.subscriptions.provision(identity.environmentId, request));
    return { ...toProvisionSubscriptionResult(provisioned, now), ...(await checkoutOf(context, provisioned.subscription, checkout)) };
}
async function loadCustomer({ loaders }, id) {
    const customer = await loaders.customers.load(id);
    if (!customer)
        throw customerNotFound(id);
    return customer;
}
//# sourceMappingURL=subscription.resolver.js.map