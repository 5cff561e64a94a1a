var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, InputType } from 'type-graphql';
import { CursorPaging } from './list.inputs.js';
import { ResetPeriodInput } from './reset-period.inputs.js';
import { DateTime } from './scalars.js';
let UsageHistoryInput = class UsageHistoryInput extends ResetPeriodInput {
    customerRefId;
    endDate;
    environmentId;
    featureRefId;
    groupBy;
    resourceRefId;
    startDate;
};
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], UsageHistoryInput.prototype, "customerRefId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive; default now.' }),
    __metadata("design:type", Object)
], UsageHistoryInput.prototype, "endDate", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], UsageHistoryInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", String)
], UsageHistoryInput.prototype, "featureRefId", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'Dimensions: one series for each combination of their values.' }),
    __metadata("design:type", Object)
], UsageHistoryInput.prototype, "groupBy", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Absent: the customer with all its resources.' }),
    __metadata("design:type", Object)
], UsageHistoryInput.prototype, "resourceRefId", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], UsageHistoryInput.prototype, "startDate", void 0);
UsageHistoryInput = __decorate([
    InputType({ description: 'Whose usage of which feature, from when to when.' })
], UsageHistoryInput);
export { UsageHistoryInput };
let UsageHistoryV2Input = class UsageHistoryV2Input {
    customerId;
    endDate;
    environmentId;
    featureId;
    groupBy;
    includeInactiveSubscriptions;
    paging;
    resourceId;
    startDate;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageHistoryV2Input.prototype, "customerId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive; default now.' }),
    __metadata("design:type", Object)
], UsageHistoryV2Input.prototype, "endDate", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], UsageHistoryV2Input.prototype, "environmentId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageHistoryV2Input.prototype, "featureId", void 0);
__decorate([
    Field(() => [String], { nullable: true, description: 'Dimensions: one series for each combination of their values.' }),
    __metadata("design:type", Object)
], UsageHistoryV2Input.prototype, "groupBy", void 0);
__decorate([
    Field(() => Boolean, {
        nullable: true,
        description: 'Default true. False leaves out, to the quarter of an hour, usage of the time before the subscriptions began that entitle to the feature now.',
    }),
    __metadata("design:type", Object)
], UsageHistoryV2Input.prototype, "includeInactiveSubscriptions", void 0);
__decorate([
    Field(() => CursorPaging, { nullable: true, description: 'Of the series, which are in the order of their values. Absent: all.' }),
    __metadata("design:type", Object)
], UsageHistoryV2Input.prototype, "paging", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Absent: the customer with all its resources.' }),
    __metadata("design:type", Object)
], UsageHistoryV2Input.prototype, "resourceId", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], UsageHistoryV2Input.prototype, "startDate", void 0);
UsageHistoryV2Input = __decorate([
    InputType({ description: 'Whose usage of which feature, from when to when.' })
], UsageHistoryV2Input);
export { UsageHistoryV2Input };
export function fromUsageHistoryInput(input, now) {
    const { customerRefId, featureRefId, resourceRefId, startDate, endDate, groupBy, resetPeriod } = input;
    return {
        customerId: customerRefId,
        featureId: featureRefId,
        resourceId: resourceRefId ?? null,
        start: startDate,
        end: endDate ?? now,
        groupBy: groupBy ?? [],
        reset: resetPeriod ? { period: resetPeriod, rule: ruleOf(input) } : null,
        isOfActiveOnly: false,
        paging: null,
    };
}
export function fromUsageHistoryV2Input(input, now) {
    const { customerId, featureId, resourceId, startDate, endDate, groupBy, includeInactiveSubscriptions, paging } = input;
    return {
        customerId,
        featureId,
        resourceId: resourceId ?? null,
        start: startDate,
        end: endDate ?? now,
        groupBy: groupBy ?? [],
        reset: null,
        isOfActiveOnly: includeInactiveSubscriptions === false,
        paging: paging
            ? { first: paging.first ?? null, last: paging.last ?? null, after: paging.after ?? null, before: paging.before ?? null }
            : null,
    };
}
function ruleOf(input) {
    const { resetPeriod, monthlyResetPeriodConfiguration: month, weeklyResetPeriodConfiguration: week } = input;
    if (resetPeriod === 'MONTH')
        return month?.accordingTo ?? null;
    return resetPeriod === 'WEEK' ? (week?.accordingTo ?? null) : null;
}
//# sourceMappingURL=usage-history.inputs.js.map