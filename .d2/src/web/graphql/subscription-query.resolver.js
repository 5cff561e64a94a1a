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
import { Arg, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { currentBillingPeriod } from '../../subscription/rules/billing-period.js';
import { connectionType, toConnection } from './connection.types.js';
import { Customer, toCustomer } from './customer.types.js';
import { SubscriptionQueryFilter } from './filter.inputs.js';
import { CursorPaging, SubscriptionQuerySort } from './list.inputs.js';
import { DateTime } from './scalars.js';
import { SubscriptionQuery, toSubscriptionQuery } from './subscription-query.types.js';
const SubscriptionQueryConnection = connectionType('SubscriptionQuery', SubscriptionQuery, 'subscriptions');
let SubscriptionQueryResolver = class SubscriptionQueryResolver {
    async subscriptions(filter, paging, sorting, { app, identity }) {
        return toConnection(await app.subscriptionList.page(identity.environmentId, { filter, paging, sorting }), toSubscriptionQuery);
    }
    currentBillingPeriodEnd({ source }) {
        return currentBillingPeriod(source)?.end ?? null;
    }
    async customer({ source }, { loaders }) {
        return toCustomer((await loaders.customers.load(source.customerId)));
    }
    async payingCustomer({ source }, { loaders }) {
        const customer = source.payingCustomerId === null ? null : await loaders.customers.load(source.payingCustomerId);
        return customer && toCustomer(customer);
    }
};
__decorate([
    Query(() => SubscriptionQueryConnection, {
        description: 'The subscriptions of the environment, whatever their status; the newest first.',
    }),
    __param(0, Arg('filter', () => SubscriptionQueryFilter, { nullable: true, description: 'Which ones.' })),
    __param(1, Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' })),
    __param(2, Arg('sorting', () => [SubscriptionQuerySort], { nullable: true, description: 'In which order.' })),
    __param(3, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object, Object, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionQueryResolver.prototype, "subscriptions", null);
__decorate([
    FieldResolver(() => DateTime, { nullable: true, description: 'Exclusive. In a trial: its end.' }),
    __param(0, Root()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [SubscriptionQuery]),
    __metadata("design:returntype", Object)
], SubscriptionQueryResolver.prototype, "currentBillingPeriodEnd", null);
__decorate([
    FieldResolver(() => Customer),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [SubscriptionQuery, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionQueryResolver.prototype, "customer", null);
__decorate([
    FieldResolver(() => Customer, { nullable: true, description: 'Who pays, when it is another customer.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [SubscriptionQuery, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionQueryResolver.prototype, "payingCustomer", null);
SubscriptionQueryResolver = __decorate([
    Resolver(() => SubscriptionQuery)
], SubscriptionQueryResolver);
export { SubscriptionQueryResolver };
//# sourceMappingURL=subscription-query.resolver.js.map