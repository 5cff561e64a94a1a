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
import { fromGrantInput, GrantPromotionalEntitlementsInput, RevokePromotionalEntitlementInput } from './promotional.inputs.js';
import { PromotionalEntitlement, toPromotionalEntitlement } from './promotional.types.js';
let PromotionalResolver = class PromotionalResolver {
    async grantPromotionalEntitlements({ customerId, promotionalEntitlements }, { app, identity }) {
        const granted = await app.promotional.grant(identity.environmentId, customerId, promotionalEntitlements.map(fromGrantInput));
        return granted.map(toPromotionalEntitlement);
    }
    async revokePromotionalEntitlement({ customerId, featureId }, { app, identity }) {
        return toPromotionalEntitlement(await app.promotional.revoke(identity.environmentId, customerId, featureId));
    }
};
__decorate([
    Mutation(() => [PromotionalEntitlement], {
        nullable: true,
        description: 'Entitles one customer to features beside its subscriptions, for a while or for life.',
    }),
    __param(0, Arg('input', () => GrantPromotionalEntitlementsInput, { description: 'Who gets what, and for how long.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [GrantPromotionalEntitlementsInput, Object]),
    __metadata("design:returntype", Promise)
], PromotionalResolver.prototype, "grantPromotionalEntitlements", null);
__decorate([
    Mutation(() => PromotionalEntitlement, { description: 'Takes back what was granted of a feature, at once. Answers what was held.' }),
    __param(0, Arg('input', () => RevokePromotionalEntitlementInput, { description: 'From whom, and what.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [RevokePromotionalEntitlementInput, Object]),
    __metadata("design:returntype", Promise)
], PromotionalResolver.prototype, "revokePromotionalEntitlement", null);
PromotionalResolver = __decorate([
    Resolver()
], PromotionalResolver);
export { PromotionalResolver };
//# sourceMappingURL=promotional.resolver.js.map