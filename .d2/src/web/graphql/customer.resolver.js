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
import { Arg, Ctx, FieldResolver, Float, Mutation, Query, Resolver, Root } from 'type-graphql';
import { givesAccess } from '../../subscription/rules/subscription.js';
import { shownSubscriptions } from '../../subscription/use-cases/read.js';
import { collectedProvision } from './collected.js';
import { Coupon, toCoupon } from './coupon.types.js';
import { ArchiveCustomerInput, CustomerInput, fromCustomerInput, fromImportCustomerInput, fromProvisionCustomerInput, fromUpdateCustomerInput, GetCustomerByRefIdInput, ImportCustomerInput, ProvisionCustomerInput, UnarchiveCustomerInput, UpdateCustomerInput, } from './customer.inputs.js';
import { Customer, CustomerStatistics, EligibleForTrial, TrialedPlan, toCustomer } from './customer.types.js';
import { PromotionalEntitlement, toPromotionalEntitlement } from './promotional.types.js';
import { CustomerSubscription, ProvisionedCustomer, toCustomerSubscription, toProvisionedCustomer } from './subscription.types.js';
let CustomerResolver = class CustomerResolver {
    async getCustomerByRefId({ customerId }, { app, identity }) {
        const customer = await app.customers.get(identity.environmentId, customerId);
        return customer && toCustomer(customer);
    }
    async provisionCustomer(input, context) {
        const { app, identity, now } = context;
        const provisioned = await app.customers.provision(identity.environmentId, fromProvisionCustomerInput(input));
        const { subscription, state } = provisioned;
        const paid = subscription ? await collectedProvision(context, { subscription, state }) : provisioned;
        return toProvisionedCustomer({ ...provisioned, ...paid }, now);
    }
    async createOneCustomer(input, { app, identity }) {
        return toCustomer(await app.customers.create(identity.environmentId, fromCustomerInput(input)));
    }
    async updateOneCustomer(input, { app, identity }) {
        const { refId, change } = fromUpdateCustomerInput(input);
        return toCustomer(await app.customers.update(identity.environmentId, refId, change));
    }
    async importOneCustomer(input, { app, identity }) {
        return toCustomer(await app.customers.importOne(identity.environmentId, fromImportCustomerInput(input)));
    }
    async archiveCustomer({ customerId }, { app, identity }) {
        return toCustomer(await app.customers.archive(identity.environmentId, customerId));
    }
    async unarchiveCustomer({ customerId }, { app, identity }) {
        return toCustomer(await app.customers.unarchive(identity.environmentId, customerId));
    }
    async coupon({ couponId }, { loaders }) {
        const coupon = couponId && (await loaders.coupons.load(couponId));
        return coupon ? toCoupon(coupon) : null;
    }
    eligibleForTrial({ id }, { loaders }) {
        return loaders.trialEligibilityOfCustomer.load(id);
    }
    async hasActiveResource(customer, context) {
        return (await inForce(customer, context)).some(({ resource }) => resource !== null);
    }
    async hasActiveSubscription(customer, context) {
        return (await inForce(customer, context)).length > 0;
    }
    async promotionalEntitlements({ id }, { loaders }) {
        const held = await loaders.promotionalOfCustomer.load(id);
        return held.slice(0, shownPromotional).map(toPromotionalEntitlement);
    }
    async statistics(customer, context) {
        const counts = new Map();
        for (const { pricingType } of await inForce(customer, context))
            counts.set(pricingType, (counts.get(pricingType) ?? 0) + 1);
        return { activeSubscriptionsByPricingType: [...counts].map(([pricingType, totalCount]) => ({ pricingType, totalCount })) };
    }
    async subscriptions({ id }, { loaders }) {
        return (await loaders.subscriptionsOfCustomer.load(id)).slice(0, shownSubscriptions).map(toCustomerSubscription);
    }
    async totalActivePromotionalEntitlements({ id }, { loaders }) {
        return (await loaders.promotionalOfCustomer.load(id)).filter(({ status }) => status === 'Active').length;
    }
    async totalActiveSubscription(customer, context) {
        return (await inForce(customer, context)).length;
    }
    trialedPlans({ id }, { loaders }) {
        return loaders.trialedPlansOfCustomer.load(id);
    }
};
__decorate([
    Query(() => Customer, { nullable: true, description: 'The customer, or null when it was never provisioned or is archived.' }),
    __param(0, Arg('input', () => GetCustomerByRefIdInput, { description: 'Which customer.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [GetCustomerByRefIdInput, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "getCustomerByRefId", null);
__decorate([
    Mutation(() => ProvisionedCustomer, {
        description: 'Creates the customer with its first subscription. Safe to repeat: a known customer is updated and gets no second subscription.',
    }),
    __param(0, Arg('input', () => ProvisionCustomerInput, { description: 'The customer.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ProvisionCustomerInput, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "provisionCustomer", null);
__decorate([
    Mutation(() => Customer, { description: 'Creates a customer without a subscription. Refused when the identifier is taken.' }),
    __param(0, Arg('input', () => CustomerInput, { description: 'The customer.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerInput, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "createOneCustomer", null);
__decorate([
    Mutation(() => Customer, { description: 'Changes what is sent of a customer; null clears.' }),
    __param(0, Arg('input', () => UpdateCustomerInput, { description: 'Which customer, and what changes.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UpdateCustomerInput, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "updateOneCustomer", null);
__decorate([
    Mutation(() => Customer, { description: 'Creates a customer without a subscription, or changes what is sent of it. Safe to repeat.' }),
    __param(0, Arg('input', () => ImportCustomerInput, { description: 'The customer.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ImportCustomerInput, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "importOneCustomer", null);
__decorate([
    Mutation(() => Customer, {
        description: 'Ends all access of the customer for good: subscriptions are canceled, promotional entitlements revoked, name and email forgotten. It is no longer answered, and its identifier stays taken. Safe to repeat.',
    }),
    __param(0, Arg('input', () => ArchiveCustomerInput, { description: 'Which customer.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ArchiveCustomerInput, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "archiveCustomer", null);
__decorate([
    Mutation(() => Customer, {
        description: 'Brings an archived customer back, without what archiving ended and forgot: subscribe it anew. Safe to repeat.',
    }),
    __param(0, Arg('input', () => UnarchiveCustomerInput, { description: 'Which customer.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UnarchiveCustomerInput, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "unarchiveCustomer", null);
__decorate([
    FieldResolver(() => Coupon, { nullable: true, description: 'Of everything that the customer pays.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "coupon", null);
__decorate([
    FieldResolver(() => [EligibleForTrial], { nullable: true, description: 'Of each product: whether a trial would be given.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "eligibleForTrial", null);
__decorate([
    FieldResolver(() => Boolean, { description: 'Whether a resource of the customer has a subscription in force.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "hasActiveResource", null);
__decorate([
    FieldResolver(() => Boolean, { description: 'Whether the customer or a resource has a subscription in force.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "hasActiveSubscription", null);
__decorate([
    FieldResolver(() => [PromotionalEntitlement], { nullable: true, description: 'The latest 10, expired ones too; the newest first.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "promotionalEntitlements", null);
__decorate([
    FieldResolver(() => CustomerStatistics, { nullable: true }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "statistics", null);
__decorate([
    FieldResolver(() => [CustomerSubscription], { nullable: true, description: 'The latest 10, ended ones too; the newest first.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "subscriptions", null);
__decorate([
    FieldResolver(() => Float, { description: 'How many promotional entitlements count now.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "totalActivePromotionalEntitlements", null);
__decorate([
    FieldResolver(() => Float, { description: 'How many subscriptions of the customer and its resources are in force.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "totalActiveSubscription", null);
__decorate([
    FieldResolver(() => [TrialedPlan], { nullable: true, description: 'The plans that it has had a trial of, the first one first.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerResolver.prototype, "trialedPlans", null);
CustomerResolver = __decorate([
    Resolver(() => Customer)
], CustomerResolver);
export { CustomerResolver };
/** As nested lists are. */
const shownPromotional = 10;
async function inForce({ id }, { loaders }) {
    return (await loaders.subscriptionsOfCustomer.load(id)).filter(({ status }) => givesAccess(status));
}
//# sourceMappingURL=customer.resolver.js.map