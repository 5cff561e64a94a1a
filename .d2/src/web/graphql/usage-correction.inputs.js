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
import { invalidInput } from '../../kernel/problem.js';
import { DateTime, Json } from './scalars.js';
let UsageEventNameInput = class UsageEventNameInput {
    customerId;
    environmentId;
    eventName;
    idempotencyKey;
    resourceId;
    timestamp;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageEventNameInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], UsageEventNameInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageEventNameInput.prototype, "eventName", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageEventNameInput.prototype, "idempotencyKey", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UsageEventNameInput.prototype, "resourceId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'If it was reported with one.' }),
    __metadata("design:type", Object)
], UsageEventNameInput.prototype, "timestamp", void 0);
UsageEventNameInput = __decorate([
    InputType({ description: 'An event, named as it was reported.' })
], UsageEventNameInput);
export { UsageEventNameInput };
let UsageEventReplacementInput = class UsageEventReplacementInput extends UsageEventNameInput {
    dimensions;
};
__decorate([
    Field(() => Json, { description: 'All dimensions: an object of texts, numbers and booleans.' }),
    __metadata("design:type", Object)
], UsageEventReplacementInput.prototype, "dimensions", void 0);
UsageEventReplacementInput = __decorate([
    InputType({ description: 'An event, named as it was reported, and what it should have said.' })
], UsageEventReplacementInput);
export { UsageEventReplacementInput };
let UsageMeasurementNameInput = class UsageMeasurementNameInput {
    environmentId;
    id;
    idempotencyKey;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], UsageMeasurementNameInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UsageMeasurementNameInput.prototype, "id", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UsageMeasurementNameInput.prototype, "idempotencyKey", void 0);
UsageMeasurementNameInput = __decorate([
    InputType({ description: 'A measurement, by its id or by the idempotency key that it was reported with: exactly one of them.' })
], UsageMeasurementNameInput);
export { UsageMeasurementNameInput };
let UsageMeasurementReplacementInput = class UsageMeasurementReplacementInput extends UsageMeasurementNameInput {
    value;
};
__decorate([
    Field(() => Float, { description: 'Kept to 9 decimals.' }),
    __metadata("design:type", Number)
], UsageMeasurementReplacementInput.prototype, "value", void 0);
UsageMeasurementReplacementInput = __decorate([
    InputType({ description: 'A measurement, and the value that it should have had.' })
], UsageMeasurementReplacementInput);
export { UsageMeasurementReplacementInput };
let RecomputeUsageInput = class RecomputeUsageInput {
    customerId;
    endDate;
    environmentId;
    featureId;
    startDate;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Absent: all customers.' }),
    __metadata("design:type", Object)
], RecomputeUsageInput.prototype, "customerId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive; absent: up to now.' }),
    __metadata("design:type", Object)
], RecomputeUsageInput.prototype, "endDate", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], RecomputeUsageInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'A feature that is metered from raw events.' }),
    __metadata("design:type", String)
], RecomputeUsageInput.prototype, "featureId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Usage periods that touch the range are counted anew; absent: from ever.' }),
    __metadata("design:type", Object)
], RecomputeUsageInput.prototype, "startDate", void 0);
RecomputeUsageInput = __decorate([
    InputType({ description: 'Usage that is counted anew from raw events.' })
], RecomputeUsageInput);
export { RecomputeUsageInput };
export function fromUsageEventNameInput({ customerId, resourceId, eventName, idempotencyKey, timestamp }) {
    return { customerId, resourceId: resourceId ?? null, eventName, idempotencyKey, timestamp: timestamp ?? null };
}
export function fromUsageMeasurementNameInput({ id, idempotencyKey }) {
    if ((id ?? null) === null && typeof idempotencyKey === 'string')
        return { idempotencyKey };
    if ((idempotencyKey ?? null) === null && typeof id === 'string')
        return { id };
    throw invalidInput('Name the measurement by id or by idempotencyKey: exactly one of them.');
}
export function fromRecomputeUsageInput({ featureId, customerId, startDate, endDate }) {
    return { featureId, customerId: customerId ?? null, from: startDate ?? null, to: endDate ?? null };
}
//# sourceMappingURL=usage-correction.inputs.js.map