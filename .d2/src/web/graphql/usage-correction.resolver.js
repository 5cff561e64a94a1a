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
import { fromRecomputeUsageInput, fromUsageEventNameInput, fromUsageMeasurementNameInput, RecomputeUsageInput, UsageEventNameInput, UsageEventReplacementInput, UsageMeasurementNameInput, UsageMeasurementReplacementInput, } from './usage-correction.inputs.js';
import { UsageRecomputation } from './usage-correction.types.js';
/** What was reported by mistake. Every number that followed from it follows. */
let UsageCorrectionResolver = class UsageCorrectionResolver {
    async removeUsageEvent(input, { app, identity }) {
        await app.usage.corrections.changeEvent(identity.environmentId, fromUsageEventNameInput(input), null);
        return null;
    }
    async replaceUsageEvent(input, { app, identity }) {
        await app.usage.corrections.changeEvent(identity.environmentId, fromUsageEventNameInput(input), input.dimensions);
        return null;
    }
    async removeUsageMeasurement(input, { app, identity }) {
        await app.usage.corrections.changeMeasurement(identity.environmentId, fromUsageMeasurementNameInput(input), null);
        return null;
    }
    async replaceUsageMeasurement(input, { app, identity }) {
        await app.usage.corrections.changeMeasurement(identity.environmentId, fromUsageMeasurementNameInput(input), input.value);
        return null;
    }
    recomputeUsage(input, { app, identity }) {
        return app.usage.recomputations.request(identity.environmentId, fromRecomputeUsageInput(input));
    }
    usageRecomputation(id, { app, identity }) {
        return app.usage.recomputations.progress(identity.environmentId, id);
    }
};
__decorate([
    Mutation(() => String, { nullable: true, description: 'Takes an event back. Answers null once the usage is what it is without it.' }),
    __param(0, Arg('input', () => UsageEventNameInput, { description: 'The event.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UsageEventNameInput, Object]),
    __metadata("design:returntype", Promise)
], UsageCorrectionResolver.prototype, "removeUsageEvent", null);
__decorate([
    Mutation(() => String, {
        nullable: true,
        description: 'Replaces the dimensions of an event. Answers null once the usage is what it is with them.',
    }),
    __param(0, Arg('input', () => UsageEventReplacementInput, { description: 'The event.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UsageEventReplacementInput, Object]),
    __metadata("design:returntype", Promise)
], UsageCorrectionResolver.prototype, "replaceUsageEvent", null);
__decorate([
    Mutation(() => String, {
        nullable: true,
        description: 'Takes a measurement back. Answers null once the usage is what it is without it.',
    }),
    __param(0, Arg('input', () => UsageMeasurementNameInput, { description: 'The measurement.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UsageMeasurementNameInput, Object]),
    __metadata("design:returntype", Promise)
], UsageCorrectionResolver.prototype, "removeUsageMeasurement", null);
__decorate([
    Mutation(() => String, {
        nullable: true,
        description: 'Replaces the value of a measurement. Answers null once the usage is what it is with it.',
    }),
    __param(0, Arg('input', () => UsageMeasurementReplacementInput, { description: 'The measurement.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UsageMeasurementReplacementInput, Object]),
    __metadata("design:returntype", Promise)
], UsageCorrectionResolver.prototype, "replaceUsageMeasurement", null);
__decorate([
    Mutation(() => UsageRecomputation, {
        description: 'Has usage counted anew from raw events, with the meter as it is now. Answers at once; the work is done in the background.',
    }),
    __param(0, Arg('input', () => RecomputeUsageInput, { description: 'What to count anew.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [RecomputeUsageInput, Object]),
    __metadata("design:returntype", void 0)
], UsageCorrectionResolver.prototype, "recomputeUsage", null);
__decorate([
    Query(() => UsageRecomputation, { description: 'How far a recomputation is.' }),
    __param(0, Arg('id', () => String, { description: 'As recomputeUsage answered it.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [String, Object]),
    __metadata("design:returntype", void 0)
], UsageCorrectionResolver.prototype, "usageRecomputation", null);
UsageCorrectionResolver = __decorate([
    Resolver()
], UsageCorrectionResolver);
export { UsageCorrectionResolver };
//# sourceMappingURL=usage-correction.resolver.js.map