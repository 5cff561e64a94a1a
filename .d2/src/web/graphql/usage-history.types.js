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
import { lineCursor } from '../../metering/model/history-paging.js';
import * as enums from './enums.js';
import { ConnectionCursor, DateTime } from './scalars.js';
let UsageMarker = class UsageMarker {
    timestamp;
    type;
};
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], UsageMarker.prototype, "timestamp", void 0);
__decorate([
    Field(() => enums.UsageMarkerType),
    __metadata("design:type", Object)
], UsageMarker.prototype, "type", void 0);
UsageMarker = __decorate([
    ObjectType({ simpleResolvers: true, description: 'An instant at which usage was reset.' })
], UsageMarker);
export { UsageMarker };
let UsageMeasurementPoint = class UsageMeasurementPoint {
    date;
    isResetPoint;
    value;
};
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], UsageMeasurementPoint.prototype, "date", void 0);
__decorate([
    Field(() => Boolean, { description: 'Whether usage starts again here.' }),
    __metadata("design:type", Boolean)
], UsageMeasurementPoint.prototype, "isResetPoint", void 0);
__decorate([
    Field(() => Float, { description: 'Kept to 9 decimals.' }),
    __metadata("design:type", Number)
], UsageMeasurementPoint.prototype, "value", void 0);
UsageMeasurementPoint = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Usage at an instant.' })
], UsageMeasurementPoint);
export { UsageMeasurementPoint };
let GroupInfo = class GroupInfo {
    key;
    value;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], GroupInfo.prototype, "key", void 0);
__decorate([
    Field(() => String, { description: 'Empty where usage has no such dimension.' }),
    __metadata("design:type", String)
], GroupInfo.prototype, "value", void 0);
GroupInfo = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A dimension and its value.' })
], GroupInfo);
export { GroupInfo };
let GroupUsageHistory = class GroupUsageHistory {
    groupInfo;
    usageMeasurements;
};
__decorate([
    Field(() => [GroupInfo], { nullable: true }),
    __metadata("design:type", Object)
], GroupUsageHistory.prototype, "groupInfo", void 0);
__decorate([
    Field(() => [UsageMeasurementPoint], { nullable: true }),
    __metadata("design:type", Object)
], GroupUsageHistory.prototype, "usageMeasurements", void 0);
GroupUsageHistory = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Usage of one combination of dimensions.' })
], GroupUsageHistory);
export { GroupUsageHistory };
let UsageHistory = class UsageHistory {
    endDate;
    groups;
    markers;
    startDate;
    usageMeasurements;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive; default now.' }),
    __metadata("design:type", Object)
], UsageHistory.prototype, "endDate", void 0);
__decorate([
    Field(() => [GroupUsageHistory], { nullable: true }),
    __metadata("design:type", Object)
], UsageHistory.prototype, "groups", void 0);
__decorate([
    Field(() => [UsageMarker], { nullable: true }),
    __metadata("design:type", Object)
], UsageHistory.prototype, "markers", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], UsageHistory.prototype, "startDate", void 0);
__decorate([
    Field(() => [UsageMeasurementPoint], { nullable: true }),
    __metadata("design:type", Object)
], UsageHistory.prototype, "usageMeasurements", void 0);
UsageHistory = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Usage over time.' })
], UsageHistory);
export { UsageHistory };
let UsageHistoryPoint = class UsageHistoryPoint {
    isResetPoint;
    timestamp;
    value;
};
__decorate([
    Field(() => Boolean, { description: 'Whether usage starts again here.' }),
    __metadata("design:type", Boolean)
], UsageHistoryPoint.prototype, "isResetPoint", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], UsageHistoryPoint.prototype, "timestamp", void 0);
__decorate([
    Field(() => Float, { description: 'Kept to 9 decimals.' }),
    __metadata("design:type", Number)
], UsageHistoryPoint.prototype, "value", void 0);
UsageHistoryPoint = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Usage at an instant.' })
], UsageHistoryPoint);
export { UsageHistoryPoint };
let UsageHistorySeriesTag = class UsageHistorySeriesTag {
    key;
    value;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageHistorySeriesTag.prototype, "key", void 0);
__decorate([
    Field(() => String, { description: 'Empty where usage has no such dimension.' }),
    __metadata("design:type", String)
], UsageHistorySeriesTag.prototype, "value", void 0);
UsageHistorySeriesTag = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A dimension and its value.' })
], UsageHistorySeriesTag);
export { UsageHistorySeriesTag };
let UsageHistorySeries = class UsageHistorySeries {
    cursor;
    points;
    tags;
};
__decorate([
    Field(() => ConnectionCursor, { description: 'Its place among the series, for paging.' }),
    __metadata("design:type", String)
], UsageHistorySeries.prototype, "cursor", void 0);
__decorate([
    Field(() => [UsageHistoryPoint], { nullable: true }),
    __metadata("design:type", Object)
], UsageHistorySeries.prototype, "points", void 0);
__decorate([
    Field(() => [UsageHistorySeriesTag], { nullable: true, description: 'The dimensions and values of the group.' }),
    __metadata("design:type", Object)
], UsageHistorySeries.prototype, "tags", void 0);
UsageHistorySeries = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Usage of one combination of dimensions.' })
], UsageHistorySeries);
export { UsageHistorySeries };
let UsageHistoryV2 = class UsageHistoryV2 {
    markers;
    series;
};
__decorate([
    Field(() => [UsageMarker], { nullable: true }),
    __metadata("design:type", Object)
], UsageHistoryV2.prototype, "markers", void 0);
__decorate([
    Field(() => [UsageHistorySeries], { nullable: true }),
    __metadata("design:type", Object)
], UsageHistoryV2.prototype, "series", void 0);
UsageHistoryV2 = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Usage over time.' })
], UsageHistoryV2);
export { UsageHistoryV2 };
export function toUsageHistory({ lines, resets }, { groupBy, start, end }) {
    const isGrouped = groupBy.length > 0;
    return {
        startDate: start,
        endDate: end,
        markers: resets.map(toMarker),
        groups: isGrouped ? lines.map(({ tags, points }) => ({ groupInfo: tags, usageMeasurements: points.map(toMeasurementPoint) })) : [],
        usageMeasurements: isGrouped ? [] : lines.flatMap(({ points }) => points.map(toMeasurementPoint)),
    };
}
export function toUsageHistoryV2({ lines, resets }) {
    return {
        markers: resets.map(toMarker),
        series: lines.map(({ tags, points }) => ({
            cursor: lineCursor({ tags }),
            tags,
            points: points.map(({ at, value, isReset }) => ({ timestamp: at, value: decimal.toNumber(value), isResetPoint: isReset })),
        })),
    };
}
const toMarker = (timestamp) => ({ timestamp, type: 'PERIODIC_RESET' });
const toMeasurementPoint = ({ at, value, isReset }) => ({
    date: at,
    value: decimal.toNumber(value),
    isResetPoint: isReset,
});
//# sourceMappingURL=usage-history.types.js.map