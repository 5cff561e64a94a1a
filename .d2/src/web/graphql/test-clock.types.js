var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, InputType, ObjectType } from 'type-graphql';
import { DateTime } from './scalars.js';
let TestClockInput = class TestClockInput {
    environmentId;
    frozenTime;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], TestClockInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => DateTime, { description: 'Not before the time of now in the environment.' }),
    __metadata("design:type", Number)
], TestClockInput.prototype, "frozenTime", void 0);
TestClockInput = __decorate([
    InputType({ description: 'What time it is to be in the test environment.' })
], TestClockInput);
export { TestClockInput };
let TestClock = class TestClock {
    frozenTime;
};
__decorate([
    Field(() => DateTime, { description: 'The time in the environment.' }),
    __metadata("design:type", Number)
], TestClock.prototype, "frozenTime", void 0);
TestClock = __decorate([
    ObjectType({
        simpleResolvers: true,
        description: 'The clock of a test environment. Time stands still at it until it is moved on; once the real time has passed it, the real time counts.',
    })
], TestClock);
export { TestClock };
//# sourceMappingURL=test-clock.types.js.map