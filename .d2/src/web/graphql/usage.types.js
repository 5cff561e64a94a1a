var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, ObjectType } from 'type-graphql';
import * as decimal from '../../kernel/decimal.js';
import { AlwaysNull } from './always-null.js';
import { DateTime } from './scalars.js';
let UsageMeasurementCredit = class UsageMeasurementCredit {
    consumed;
    currencyId;
    currentUsage;
    timestamp;
    usagePeriodEnd;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], UsageMeasurementCredit.prototype, "consumed", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageMeasurementCredit.prototype, "currencyId", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], UsageMeasurementCredit.prototype, "currentUsage", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], UsageMeasurementCredit.prototype, "timestamp", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], UsageMeasurementCredit.prototype, "usagePeriodEnd", void 0);
UsageMeasurementCredit = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Credits that a measurement consumed. There are no credits in Tollgate.' })
], UsageMeasurementCredit);
export { UsageMeasurementCredit };
let UsageMeasurementWithCurrentUsage = class UsageMeasurementWithCurrentUsage {
    credit;
    currentUsage;
    customerId;
    featureId;
    id;
    nextResetDate;
    resourceId;
    timestamp;
    usagePeriodEnd;
    usagePeriodStart;
};
__decorate([
    AlwaysNull(() => UsageMeasurementCredit),
    __metadata("design:type", void 0)
], UsageMeasurementWithCurrentUsage.prototype, "credit", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], UsageMeasurementWithCurrentUsage.prototype, "currentUsage", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageMeasurementWithCurrentUsage.prototype, "customerId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageMeasurementWithCurrentUsage.prototype, "featureId", void 0);
__decorate([
    Field(() => String, { description: 'Of the measurement.' }),
    __metadata("design:type", String)
], UsageMeasurementWithCurrentUsage.prototype, "id", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'The same as usagePeriodEnd.' }),
    __metadata("design:type", Object)
], UsageMeasurementWithCurrentUsage.prototype, "nextResetDate", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], UsageMeasurementWithCurrentUsage.prototype, "resourceId", void 0);
__decorate([
    Field(() => DateTime, { description: 'Version of the usage.' }),
    __metadata("design:type", Number)
], UsageMeasurementWithCurrentUsage.prototype, "timestamp", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive; null when usage is never reset or the customer is not entitled.' }),
    __metadata("design:type", Object)
], UsageMeasurementWithCurrentUsage.prototype, "usagePeriodEnd", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], UsageMeasurementWithCurrentUsage.prototype, "usagePeriodStart", void 0);
UsageMeasurementWithCurrentUsage = __decorate([
    ObjectType({
        simpleResolvers: true,
        description: 'A stored measurement and the usage in the current usage period, also for a report that was dated back.',
    })
], UsageMeasurementWithCurrentUsage);
export { UsageMeasurementWithCurrentUsage };
export function toUsageMeasurement(usage) {
    const { id, customerId, resourceId, featureId, currentUsage, periodStart, periodEnd, timestamp } = usage;
    return {
        id,
        customerId,
        resourceId,
        featureId,
        currentUsage: decimal.toNumber(currentUsage),
        nextResetDate: periodEnd,
        timestamp,
        usagePeriodEnd: periodEnd,
        usagePeriodStart: periodStart,
    };
}
//# sourceMappingURL=usage.types.js.map