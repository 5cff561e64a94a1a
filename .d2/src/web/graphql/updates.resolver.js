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
import { Ctx, Resolver, Root, Subscription } from 'type-graphql';
import { EntitlementsUpdated, EntitlementsUpdatedV2, PackagePublished, toEntitlementsUpdated, toEntitlementsUpdatedV2, toPackagePublished, toUsageUpdated, toUsageUpdatedV2, UsageUpdated, UsageUpdatedV2, } from './updates.types.js';
/** Subscriptions take no variables: the key names the environment. They are resolved once for all sockets that sent the same document. */
let UpdatesResolver = class UpdatesResolver {
    async entitlementsUpdated(change, context) {
        return toEntitlementsUpdated(await stateAfter(change, context), context.now);
    }
    async entitlementsUpdatedV2(change, context) {
        return toEntitlementsUpdatedV2(await stateAfter(change, context), context.now);
    }
    usageUpdated(change, { now }) {
        return toUsageUpdated(change, now);
    }
    usageUpdatedV2(change) {
        return toUsageUpdatedV2(change);
    }
    packagePublished(change) {
        return toPackagePublished(change);
    }
};
__decorate([
    Subscription(() => EntitlementsUpdated, {
        nullable: true,
        description: 'Each change of what a customer or resource holds, with everything it holds then.',
        subscribe: ({ context }) => context.changes(['entitlements', 'purge']),
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object]),
    __metadata("design:returntype", Promise)
], UpdatesResolver.prototype, "entitlementsUpdated", null);
__decorate([
    Subscription(() => EntitlementsUpdatedV2, {
        nullable: true,
        description: 'The same as entitlementsUpdated, with entitlements in their newer form.',
        subscribe: ({ context }) => context.changes(['entitlements', 'purge']),
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object]),
    __metadata("design:returntype", Promise)
], UpdatesResolver.prototype, "entitlementsUpdatedV2", null);
__decorate([
    Subscription(() => UsageUpdated, {
        nullable: true,
        description: 'Each change of a usage that limits an entitlement; changes in quick succession are sent as one.',
        subscribe: ({ context }) => context.changes(['usage']),
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object]),
    __metadata("design:returntype", void 0)
], UpdatesResolver.prototype, "usageUpdated", null);
__decorate([
    Subscription(() => UsageUpdatedV2, {
        nullable: true,
        description: 'The same as usageUpdated, naming the entitlement instead of carrying it.',
        subscribe: ({ context }) => context.changes(['usage']),
    }),
    __param(0, Root()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object]),
    __metadata("design:returntype", void 0)
], UpdatesResolver.prototype, "usageUpdatedV2", null);
__decorate([
    Subscription(() => PackagePublished, {
        nullable: true,
        description: 'Each version of a plan or add-on that is published.',
        subscribe: ({ context }) => context.changes(['package']),
    }),
    __param(0, Root()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object]),
    __metadata("design:returntype", void 0)
], UpdatesResolver.prototype, "packagePublished", null);
UpdatesResolver = __decorate([
    Resolver()
], UpdatesResolver);
export { UpdatesResolver };
/** What is held after the change; asked for when the message does not carry it. */
async function stateAfter({ customerId, state, ...message }, { app, identity }) {
    return state ?? (await app.entitlements.state(identity.environmentId, customerId, message.resourceId ?? null));
}
//# sourceMappingURL=updates.resolver.js.map