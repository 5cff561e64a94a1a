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
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { collected, collectedProvision } from './collected.js';
import { toEntitlements } from './entitlement.types.js';
import { toFeatureEntitlements } from './entitlement-v2.types.js';
import { ApplySubscriptionInput, fromApplySubscriptionInput, fromSubscriptionInput, ProvisionSubscription, SubscriptionInput, } from './subscription.inputs.js';
import { provision } from './subscription.resolver.js';
import { ApplySubscription, CustomerSubscription, ProvisionSubscriptionResult, toCustomerSubscription } from './subscription.types.js';
import { DelegateSubscriptionToCustomerInput, fromImportSubscriptionsBulkInput, fromUpdateSubscriptionInput, ImportSubscriptionsBulkInput, SubscriptionMigrationInput, SubscriptionUpdateScheduleCancellationInput, TransferSubscriptionInput, TransferSubscriptionToResourceInput, UpdateSubscriptionInput, } from './subscription-change.inputs.js';
/** Older ways to subscribe, and changes of a subscription in force. */
let SubscriptionChangeResolver = class SubscriptionChangeResolver {
    async provisionSubscription(input, context) {
        return provision(context, input);
    }
    async applySubscription(input, context) {
        const { app, identity, now } = context;
        const provisioned = await app.subscriptions.provision(identity.environmentId, fromApplySubscriptionInput(input));
        const { subscription, state } = await collectedProvision(context, provisioned);
        return {
            subscription: toCustomerSubscription(subscription),
            entitlements: toEntitlements(state, now),
            entitlementsV2: toFeatureEntitlements(state, now),
        };
    }
    async createSubscription(input, context) {
        const { app, identity } = context;
        const { subscription } = await app.subscriptions.provision(identity.environmentId, fromSubscriptionInput(input));
        return toCustomerSubscription(await collected(context, subscription));
    }
    async updateOneSubscription(input, context) {
        const { app, identity } = context;
        const updated = await app.subscriptionChanges.update(identity.environmentId, fromUpdateSubscriptionInput(input));
        return toCustomerSubscription(await collected(context, updated));
    }
    async cancelSchedule({ subscriptionId, status }, { app, identity }) {
        // Updates of any other status are not waiting any more, or never will here: there is nothing to take back.
        if (status && status !== 'Scheduled')
            return (await app.subscriptionReads.get(identity.environmentId, subscriptionId)).refId;
        return (await app.subscriptionChanges.cancelSchedule(identity.environmentId, subscriptionId)).refId;
    }
    async migrateSubscriptionToLatest({ subscriptionId, subscriptionMigrationTime }, context) {
        const { app, identity } = context;
        const time = subscriptionMigrationTime ?? 'END_OF_BILLING_PERIOD';
        const migrated = await app.subscriptionChanges.migrateToLatest(identity.environmentId, subscriptionId, time);
        return toCustomerSubscription(await collected(context, migrated));
    }
    async transferSubscription({ customerId, sourceResourceId, destinationResourceId }, { app, identity }) {
        const transfer = { customerRefId: customerId, sourceResourceRefId: sourceResourceId, destinationResourceRefId: destinationResourceId };
        return toCustomerSubscription(await app.transfers.transfer(identity.environmentId, transfer));
    }
    async transferSubscriptionToResource({ subscriptionId, destinationResourceId }, { app, identity }) {
        const { environmentId } = identity;
        return toCustomerSubscription(await app.transfers.transferToResource(environmentId, subscriptionId, destinationResourceId ?? null));
    }
    async delegateSubscriptionToCustomer({ subscriptionId, destinationCustomerId }, { app, identity }) {
        return toCustomerSubscription(await app.subscriptionChanges.delegate(identity.environmentId, subscriptionId, destinationCustomerId ?? null));
    }
    importSubscriptionsBulk(input, { app, identity }) {
        return app.imports.start(identity.environmentId, 'SUBSCRIPTIONS', fromImportSubscriptionsBulkInput(input));
    }
};
__decorate([
    Mutation(() => ProvisionSubscriptionResult, { description: 'The older form of provisionSubscriptionV2.' }),
    __param(0, Arg('input', () => ProvisionSubscription, { description: 'The subscription.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ProvisionSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "provisionSubscription", null);
__decorate([
    Mutation(() => ApplySubscription, {
        description: 'Subscribes a customer to a plan, or changes the subscription that it has to the plan’s product.',
    }),
    __param(0, Arg('input', () => ApplySubscriptionInput, { description: 'The plan and what is bought with it.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ApplySubscriptionInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "applySubscription", null);
__decorate([
    Mutation(() => CustomerSubscription, { description: 'Subscribes a customer to a plan; the oldest form of provisionSubscriptionV2.' }),
    __param(0, Arg('subscription', () => SubscriptionInput, { description: 'The subscription.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [SubscriptionInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "createSubscription", null);
__decorate([
    Mutation(() => CustomerSubscription, { description: 'Changes what is bought with a subscription; not its plan.' }),
    __param(0, Arg('input', () => UpdateSubscriptionInput, { description: 'What changes.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UpdateSubscriptionInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "updateOneSubscription", null);
__decorate([
    Mutation(() => String, {
        description: 'Takes back the scheduled updates of a subscription, and a scheduled cancellation. Answers its identifier.',
    }),
    __param(0, Arg('input', () => SubscriptionUpdateScheduleCancellationInput, { description: 'Whose updates.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [SubscriptionUpdateScheduleCancellationInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "cancelSchedule", null);
__decorate([
    Mutation(() => CustomerSubscription, { description: 'Moves a subscription to the latest version of its plan and add-ons.' }),
    __param(0, Arg('input', () => SubscriptionMigrationInput, { description: 'Which subscription, and when.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [SubscriptionMigrationInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "migrateSubscriptionToLatest", null);
__decorate([
    Mutation(() => CustomerSubscription, {
        description: 'Moves the subscription of one resource of a customer to another of its resources.',
    }),
    __param(0, Arg('input', () => TransferSubscriptionInput, { description: 'From where to where.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [TransferSubscriptionInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "transferSubscription", null);
__decorate([
    Mutation(() => CustomerSubscription, { description: 'Binds a subscription to a resource of its customer, or to the customer itself.' }),
    __param(0, Arg('input', () => TransferSubscriptionToResourceInput, { description: 'Which subscription, and where to.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [TransferSubscriptionToResourceInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "transferSubscriptionToResource", null);
__decorate([
    Mutation(() => CustomerSubscription, {
        description: 'Says which customer pays for a subscription. What it entitles to stays with its own customer.',
    }),
    __param(0, Arg('input', () => DelegateSubscriptionToCustomerInput, { description: 'Which subscription, and who pays.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [DelegateSubscriptionToCustomerInput, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionChangeResolver.prototype, "delegateSubscriptionToCustomer", null);
__decorate([
    Mutation(() => String, {
        nullable: true,
        description: 'Takes over subscriptions that exist elsewhere, in the background. Answers the id that `importJob` tells the outcomes of.',
    }),
    __param(0, Arg('input', () => ImportSubscriptionsBulkInput, { description: 'The subscriptions.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ImportSubscriptionsBulkInput, Object]),
    __metadata("design:returntype", void 0)
], SubscriptionChangeResolver.prototype, "importSubscriptionsBulk", null);
SubscriptionChangeResolver = __decorate([
    Resolver()
], SubscriptionChangeResolver);
export { SubscriptionChangeResolver };
//# sourceMappingURL=subscription-change.resolver.js.map