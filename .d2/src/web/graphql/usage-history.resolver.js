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
import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { fromUsageHistoryInput, fromUsageHistoryV2Input, UsageHistoryInput, UsageHistoryV2Input } from './usage-history.inputs.js';
import { toUsageHistory, toUsageHistoryV2, UsageHistory, UsageHistoryV2 } from './usage-history.types.js';
let UsageHistoryResolver = class UsageHistoryResolver {
    async usageHistory(input, { app, identity, now }) {
        const question = fromUsageHistoryInput(input, now);
        return toUsageHistory(await app.usage.history.read(identity.environmentId, question), question);
    }
    async usageHistoryV2(input, { app, identity, now }) {
        return toUsageHistoryV2(await app.usage.history.read(identity.environmentId, fromUsageHistoryV2Input(input, now)));
    }
};
__decorate([
    Query(() => UsageHistory, {
        description: 'The usage of a feature over time. With a reset period, one point for each of them; without, in the finest steps that give a readable line.',
    }),
    __param(0, Arg('usageHistoryInput', () => UsageHistoryInput, { description: 'Whose usage of what, from when to when.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UsageHistoryInput, Object]),
    __metadata("design:returntype", Promise)
], UsageHistoryResolver.prototype, "usageHistory", null);
__decorate([
    Query(() => UsageHistoryV2, {
        description: 'The usage of a feature over time, one series for each combination of dimensions: where it stood at the end of each step since it last started again.',
    }),
    __param(0, Arg('input', () => UsageHistoryV2Input, { description: 'Whose usage of what, from when to when.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UsageHistoryV2Input, Object]),
    __metadata("design:returntype", Promise)
], UsageHistoryResolver.prototype, "usageHistoryV2", null);
UsageHistoryResolver = __decorate([
    Resolver()
], UsageHistoryResolver);
export { UsageHistoryResolver };
//# sourceMappingURL=usage-history.resolver.js.map