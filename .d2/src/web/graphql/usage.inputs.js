var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, InputType } from 'type-graphql';
import { Problem } from '../../kernel/problem.js';
import { refusedItem, withItems } from '../../metering/model/problems.js';
import { checkUsageValue } from '../../metering/model/usage-value.js';
import * as enums from './enums.js';
import { DateTime, Json } from './scalars.js';
let ReportUsageBaseInput = class ReportUsageBaseInput {
    createdAt;
    customerId;
    dimensions;
    featureId;
    idempotencyKey;
    resourceId;
    updateBehavior;
    value;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'When it was used: at most 35 days back; default now.' }),
    __metadata("design:type", Object)
], ReportUsageBaseInput.prototype, "createdAt", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], ReportUsageBaseInput.prototype, "customerId", void 0);
__decorate([
    Field(() => Json, { nullable: true, description: 'An object of texts, numbers and booleans.' }),
    __metadata("design:type", Object)
], ReportUsageBaseInput.prototype, "dimensions", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], ReportUsageBaseInput.prototype, "featureId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Makes the report safe to repeat: the same key counts once.' }),
    __metadata("design:type", Object)
], ReportUsageBaseInput.prototype, "idempotencyKey", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], ReportUsageBaseInput.prototype, "resourceId", void 0);
__decorate([
    Field(() => enums.UsageUpdateBehavior, { nullable: true, description: 'Default DELTA.' }),
    __metadata("design:type", Object)
], ReportUsageBaseInput.prototype, "updateBehavior", void 0);
__decorate([
    Field(() => Float, { description: 'Kept to 9 decimals.' }),
    __metadata("design:type", Number)
], ReportUsageBaseInput.prototype, "value", void 0);
ReportUsageBaseInput = __decorate([
    InputType({ description: 'Usage that the host application has counted itself.' })
], ReportUsageBaseInput);
export { ReportUsageBaseInput };
let ReportUsageInput = class ReportUsageInput extends ReportUsageBaseInput {
    environmentId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], ReportUsageInput.prototype, "environmentId", void 0);
ReportUsageInput = __decorate([
    InputType({ description: 'Usage that the host application has counted itself.' })
], ReportUsageInput);
export { ReportUsageInput };
let UsageMeasurementCreateInput = class UsageMeasurementCreateInput extends ReportUsageInput {
};
UsageMeasurementCreateInput = __decorate([
    InputType({ description: 'Usage that the host application has counted itself; the older form of ReportUsageInput.' })
], UsageMeasurementCreateInput);
export { UsageMeasurementCreateInput };
let ReportUsageBulkInput = class ReportUsageBulkInput {
    environmentId;
    usages;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], ReportUsageBulkInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => [ReportUsageBaseInput]),
    __metadata("design:type", Array)
], ReportUsageBulkInput.prototype, "usages", void 0);
ReportUsageBulkInput = __decorate([
    InputType({ description: 'At most 1,000 reports. All are counted or none.' })
], ReportUsageBulkInput);
export { ReportUsageBulkInput };
/** Values that cannot be kept are named with their place, like everything that is found wrong later. */
export function fromReportUsageBulkInput({ usages }) {
    const refused = [];
    let first;
    const reports = usages.flatMap((usage, index) => {
        try {
            return [fromReportUsageInput(usage)];
        }
        catch (error) {
            const problem = Problem.from(error);
            first ??= problem;
            refused.push(refusedItem(index, problem));
            return [];
        }
    });
    if (first)
        throw withItems(first, refused);
    return reports;
}
export function fromReportUsageInput(input) {
    const { customerId, featureId, value } = input;
    return {
        customerId,
        resourceId: input.resourceId ?? null,
        featureId,
        value: checkUsageValue(value),
        behavior: input.updateBehavior ?? 'DELTA',
        timestamp: input.createdAt ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
        dimensions: (input.dimensions ?? null),
    };
}
let UsageEventReportInput = class UsageEventReportInput {
    customerId;
    dimensions;
    eventName;
    idempotencyKey;
    resourceId;
    timestamp;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageEventReportInput.prototype, "customerId", void 0);
__decorate([
    Field(() => Json, { nullable: true, description: 'An object of texts, numbers and booleans.' }),
    __metadata("design:type", Object)
], UsageEventReportInput.prototype, "dimensions", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageEventReportInput.prototype, "eventName", void 0);
__decorate([
    Field(() => String, { description: 'Identifies the event: a repeat is accepted and not counted again.' }),
    __metadata("design:type", String)
], UsageEventReportInput.prototype, "idempotencyKey", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UsageEventReportInput.prototype, "resourceId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'When it happened: at most 35 days back; default now.' }),
    __metadata("design:type", Object)
], UsageEventReportInput.prototype, "timestamp", void 0);
UsageEventReportInput = __decorate([
    InputType({ description: 'A raw fact that meters count.' })
], UsageEventReportInput);
export { UsageEventReportInput };
let UsageEventsReportInput = class UsageEventsReportInput {
    environmentId;
    usageEvents;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], UsageEventsReportInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => [UsageEventReportInput]),
    __metadata("design:type", Array)
], UsageEventsReportInput.prototype, "usageEvents", void 0);
UsageEventsReportInput = __decorate([
    InputType({ description: 'At most 1,000 events.' })
], UsageEventsReportInput);
export { UsageEventsReportInput };
/** Dimensions are checked with the rest of the event, so that a bad one does not keep the others from being stored. */
export function fromUsageEvents({ usageEvents }) {
    return usageEvents.map(({ customerId, resourceId, eventName, idempotencyKey, timestamp, dimensions }) => ({
        customerId,
        resourceId: resourceId ?? null,
        eventName,
        idempotencyKey,
        timestamp: timestamp ?? null,
        dimensions: (dimensions ?? {}),
    }));
}
//# sourceMappingURL=usage.inputs.js.map