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
import * as enums from './enums.js';
let MonthlyResetPeriodConfigInput = class MonthlyResetPeriodConfigInput {
    accordingTo;
};
__decorate([
    Field(() => enums.MonthlyAccordingTo, { description: 'What the periods begin at.' }),
    __metadata("design:type", Object)
], MonthlyResetPeriodConfigInput.prototype, "accordingTo", void 0);
MonthlyResetPeriodConfigInput = __decorate([
    InputType({ description: 'What monthly usage periods begin at.' })
], MonthlyResetPeriodConfigInput);
export { MonthlyResetPeriodConfigInput };
let WeeklyResetPeriodConfigInput = class WeeklyResetPeriodConfigInput {
    accordingTo;
};
__decorate([
    Field(() => enums.WeeklyAccordingTo, { description: 'What the periods begin at.' }),
    __metadata("design:type", Object)
], WeeklyResetPeriodConfigInput.prototype, "accordingTo", void 0);
WeeklyResetPeriodConfigInput = __decorate([
    InputType({ description: 'What weekly usage periods begin at.' })
], WeeklyResetPeriodConfigInput);
export { WeeklyResetPeriodConfigInput };
let YearlyResetPeriodConfigInput = class YearlyResetPeriodConfigInput {
    accordingTo;
};
__decorate([
    Field(() => enums.YearlyAccordingTo, { description: 'What the periods begin at.' }),
    __metadata("design:type", Object)
], YearlyResetPeriodConfigInput.prototype, "accordingTo", void 0);
YearlyResetPeriodConfigInput = __decorate([
    InputType({ description: 'What yearly usage periods begin at.' })
], YearlyResetPeriodConfigInput);
export { YearlyResetPeriodConfigInput };
/** How often usage starts again, in inputs that grant a feature. Not a type of the schema. */
let ResetPeriodInput = class ResetPeriodInput {
    monthlyResetPeriodConfiguration;
    resetPeriod;
    weeklyResetPeriodConfiguration;
    yearlyResetPeriodConfiguration;
};
__decorate([
    Field(() => MonthlyResetPeriodConfigInput, { nullable: true }),
    __metadata("design:type", Object)
], ResetPeriodInput.prototype, "monthlyResetPeriodConfiguration", void 0);
__decorate([
    Field(() => enums.EntitlementResetPeriod, {
        nullable: true,
        description: 'Incremental usage starts again at each reset; absent: never.',
    }),
    __metadata("design:type", Object)
], ResetPeriodInput.prototype, "resetPeriod", void 0);
__decorate([
    Field(() => WeeklyResetPeriodConfigInput, { nullable: true }),
    __metadata("design:type", Object)
], ResetPeriodInput.prototype, "weeklyResetPeriodConfiguration", void 0);
__decorate([
    Field(() => YearlyResetPeriodConfigInput, { nullable: true }),
    __metadata("design:type", Object)
], ResetPeriodInput.prototype, "yearlyResetPeriodConfiguration", void 0);
ResetPeriodInput = __decorate([
    InputType()
], ResetPeriodInput);
export { ResetPeriodInput };
//# sourceMappingURL=reset-period.inputs.js.map