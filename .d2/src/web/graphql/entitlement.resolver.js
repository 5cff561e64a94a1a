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
import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { EntitlementCheckRequested, FetchEntitlementQuery, FetchEntitlementsQuery, fromFetchEntitlementQuery, fromGetEntitlementV2Input, GetEntitlementV2Input, } from './entitlement.inputs.js';
import { Entitlement, toEntitlement, toEntitlements } from './entitlement.types.js';
import { EntitlementsState, EntitlementUnion, toEntitlementsState, toFeatureEntitlement } from './entitlement-v2.types.js';
let EntitlementResolver = class EntitlementResolver {
    async entitlement(query, { app, identity }) {
        const { accessVersion, ...decision } = await app.entitlements.check(identity.environmentId, fromFetchEntitlementQuery(query));
        if (query.options?.shouldTrack)
            app.checks.record(identity.environmentId, decision);
        return toEntitlement({ customerId: query.customerId, resourceId: query.resourceId ?? null, accessVersion }, decision, query.options ?? {});
    }
    async entitlementV2(query, { app, identity }) {
        const { accessVersion, ...decision } = await app.entitlements.check(identity.environmentId, fromGetEntitlementV2Input(query));
        if (query.options?.shouldTrack)
            app.checks.record(identity.environmentId, decision);
        return toFeatureEntitlement({ customerId: query.customerId, resourceId: query.resourceId ?? null, accessVersion }, decision);
    }
    async cachedEntitlements({ customerId, resourceId }, { app, identity, now }) {
        return toEntitlements(await app.entitlements.state(identity.environmentId, customerId, resourceId ?? null), now);
    }
    async entitlementsState({ customerId, resourceId }, { app, identity, now }) {
        return toEntitlementsState(await app.entitlements.state(identity.environmentId, customerId, resourceId ?? null), now);
    }
    reportEntitlementCheckRequested({ entitlementCheckResult: { hasAccess, accessDeniedReason } }, { app, identity }) {
        app.checks.record(identity.environmentId, { granted: hasAccess, reason: accessDeniedReason ?? null });
        return true;
    }
};
__decorate([
    Query(() => Entitlement, {
        description: 'May this customer use this feature, now? A denial is an answer with its reason, also for an unknown customer.',
    }),
    __param(0, Arg('query', () => FetchEntitlementQuery, { description: 'The question.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [FetchEntitlementQuery, Object]),
    __metadata("design:returntype", Promise)
], EntitlementResolver.prototype, "entitlement", null);
__decorate([
    Query(() => EntitlementUnion, { nullable: true, description: 'The newer form of entitlement.' }),
    __param(0, Arg('query', () => GetEntitlementV2Input, { description: 'The question.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [GetEntitlementV2Input, Object]),
    __metadata("design:returntype", Promise)
], EntitlementResolver.prototype, "entitlementV2", null);
__decorate([
    Query(() => [Entitlement], {
        nullable: true,
        description: 'Everything the customer or resource holds. Empty when it is unknown or has no access.',
    }),
    __param(0, Arg('query', () => FetchEntitlementsQuery, { description: 'Whose entitlements.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [FetchEntitlementsQuery, Object]),
    __metadata("design:returntype", Promise)
], EntitlementResolver.prototype, "cachedEntitlements", null);
__decorate([
    Query(() => EntitlementsState, { description: 'The same as cachedEntitlements, with the reason when there are none.' }),
    __param(0, Arg('query', () => FetchEntitlementsQuery, { description: 'Whose entitlements.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [FetchEntitlementsQuery, Object]),
    __metadata("design:returntype", Promise)
], EntitlementResolver.prototype, "entitlementsState", null);
__decorate([
    Mutation(() => Boolean, { description: 'Counts a check that an SDK answered from what it holds, in the metric of reported checks.' }),
    __param(0, Arg('entitlementCheckRequested', () => EntitlementCheckRequested, { description: 'The check and its answer.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [EntitlementCheckRequested, Object]),
    __metadata("design:returntype", Boolean)
], EntitlementResolver.prototype, "reportEntitlementCheckRequested", null);
EntitlementResolver = __decorate([
    Resolver()
], EntitlementResolver);
export { EntitlementResolver };
//# sourceMappingURL=entitlement.resolver.js.map