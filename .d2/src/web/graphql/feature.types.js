var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { createUnionType, Field, Float, ObjectType } from 'type-graphql';
import * as enums from './enums.js';
let UnitTransformation = class UnitTransformation {
    divide;
    round;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], UnitTransformation.prototype, "divide", void 0);
__decorate([
    Field(() => enums.UnitTransformationRound),
    __metadata("design:type", Object)
], UnitTransformation.prototype, "round", void 0);
UnitTransformation = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Converts measured units to the coarser ones that are answered and limited.' })
], UnitTransformation);
export { UnitTransformation };
/** What is said of a feature wherever it is named. Not a type of the schema. */
let FeatureFacts = class FeatureFacts {
    description;
    displayName;
    featureType;
    featureUnits;
    featureUnitsPlural;
    meterType;
    refId;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], FeatureFacts.prototype, "description", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], FeatureFacts.prototype, "displayName", void 0);
__decorate([
    Field(() => enums.FeatureType),
    __metadata("design:type", Object)
], FeatureFacts.prototype, "featureType", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'What one unit is called.' }),
    __metadata("design:type", Object)
], FeatureFacts.prototype, "featureUnits", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], FeatureFacts.prototype, "featureUnitsPlural", void 0);
__decorate([
    Field(() => enums.MeterType, { nullable: true }),
    __metadata("design:type", Object)
], FeatureFacts.prototype, "meterType", void 0);
__decorate([
    Field(() => String, { description: 'The identifier that the catalog gave it.' }),
    __metadata("design:type", String)
], FeatureFacts.prototype, "refId", void 0);
FeatureFacts = __decorate([
    ObjectType({ simpleResolvers: true })
], FeatureFacts);
export { FeatureFacts };
let Feature = class Feature extends FeatureFacts {
};
Feature = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A thing that customers may be entitled to.' })
], Feature);
export { Feature };
let MonthlyResetPeriodConfig = class MonthlyResetPeriodConfig {
    monthlyAccordingTo;
};
__decorate([
    Field(() => enums.MonthlyAccordingTo, { nullable: true }),
    __metadata("design:type", Object)
], MonthlyResetPeriodConfig.prototype, "monthlyAccordingTo", void 0);
MonthlyResetPeriodConfig = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What monthly usage periods begin at.' })
], MonthlyResetPeriodConfig);
export { MonthlyResetPeriodConfig };
let WeeklyResetPeriodConfig = class WeeklyResetPeriodConfig {
    weeklyAccordingTo;
};
__decorate([
    Field(() => enums.WeeklyAccordingTo, { nullable: true }),
    __metadata("design:type", Object)
], WeeklyResetPeriodConfig.prototype, "weeklyAccordingTo", void 0);
WeeklyResetPeriodConfig = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What weekly usage periods begin at.' })
], WeeklyResetPeriodConfig);
export { WeeklyResetPeriodConfig };
let YearlyResetPeriodConfig = class YearlyResetPeriodConfig {
    yearlyAccordingTo;
};
__decorate([
    Field(() => enums.YearlyAccordingTo, { nullable: true }),
    __metadata("design:type", Object)
], YearlyResetPeriodConfig.prototype, "yearlyAccordingTo", void 0);
YearlyResetPeriodConfig = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What yearly usage periods begin at.' })
], YearlyResetPeriodConfig);
export { YearlyResetPeriodConfig };
export function toFeature({ refId, displayName, description, featureType, meterType, units, unitsPlural }) {
    return { refId, displayName, description, featureType, meterType, featureUnits: units, featureUnitsPlural: unitsPlural };
}
export const ResetPeriodConfiguration = createUnionType({
    name: 'ResetPeriodConfiguration',
    description: 'What usage periods begin at. Hours and days have none.',
    types: () => [MonthlyResetPeriodConfig, WeeklyResetPeriodConfig, YearlyResetPeriodConfig],
    resolveType: (value) => {
        if ('monthlyAccordingTo' in value)
            return MonthlyResetPeriodConfig;
        return 'weeklyAccordingTo' in value ? WeeklyResetPeriodConfig : YearlyResetPeriodConfig;
    },
});
export function toResetPeriodConfiguration(period, rule) {
    if (period === 'MONTH')
        return { monthlyAccordingTo: rule };
    if (period === 'WEEK')
        return { weeklyAccordingTo: rule };
    return period === 'YEAR' ? { yearlyAccordingTo: 'SubscriptionStart' } : null;
}
//# sourceMappingURL=feature.types.js.map