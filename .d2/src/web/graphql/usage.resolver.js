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
import { fromReportUsageBulkInput, fromReportUsageInput, fromUsageEvents, ReportUsageBulkInput, ReportUsageInput, UsageEventsReportInput, UsageMeasurementCreateInput, } from './usage.inputs.js';
import { toUsageMeasurement, UsageMeasurementWithCurrentUsage } from './usage.types.js';
let UsageResolver = class UsageResolver {
    async reportUsage(input, { app, identity }) {
        const [usage] = await app.usage.report(identity.environmentId, [fromReportUsageInput(input)]);
        return toUsageMeasurement(usage);
    }
    async reportUsageBulk(input, { app, identity }) {
        const usages = await app.usage.report(identity.environmentId, fromReportUsageBulkInput(input));
        return usages.map(toUsageMeasurement);
    }
    createUsageMeasurement(usage, context) {
        return this.reportUsage(usage, context);
    }
    async reportEvent(input, { app, identity, events }) {
        await app.usage.reportEvents(identity.environmentId, events ?? fromUsageEvents(input));
        return null;
    }
};
__decorate([
    Mutation(() => UsageMeasurementWithCurrentUsage, {
        description: 'Reports usage of a feature. Answers once it is stored: an error means that it was not counted. Usage over the limit is stored all the same.',
    }),
    __param(0, Arg('input', () => ReportUsageInput, { description: 'The usage.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ReportUsageInput, Object]),
    __metadata("design:returntype", Promise)
], UsageResolver.prototype, "reportUsage", null);
__decorate([
    Mutation(() => [UsageMeasurementWithCurrentUsage], {
        nullable: true,
        description: 'Reports usage of several features or customers, all or none: when some are refused none is counted, and the error names them in `extensions.items`.',
    }),
    __param(0, Arg('input', () => ReportUsageBulkInput, { description: 'The usages.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [ReportUsageBulkInput, Object]),
    __metadata("design:returntype", Promise)
], UsageResolver.prototype, "reportUsageBulk", null);
__decorate([
    Mutation(() => UsageMeasurementWithCurrentUsage, { description: 'The older form of reportUsage.' }),
    __param(0, Arg('usageMeasurement', () => UsageMeasurementCreateInput, { description: 'The usage.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UsageMeasurementCreateInput, Object]),
    __metadata("design:returntype", void 0)
], UsageResolver.prototype, "createUsageMeasurement", null);
__decorate([
    Mutation(() => String, {
        nullable: true,
        description: 'Reports raw events. Answers null once they are stored. When some are refused the others are stored, and the error names the refused ones in `extensions.items`.',
    }),
    __param(0, Arg('events', () => UsageEventsReportInput, { description: 'The events.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [UsageEventsReportInput, Object]),
    __metadata("design:returntype", Promise)
], UsageResolver.prototype, "reportEvent", null);
UsageResolver = __decorate([
    Resolver()
], UsageResolver);
export { UsageResolver };
//# sourceMappingURL=usage.resolver.js.map