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
import { TestClock, TestClockInput } from './test-clock.types.js';
let TestClockResolver = class TestClockResolver {
    async testClock({ app, identity }) {
        const clock = await app.testClocks.find(identity.environmentId);
        return clock && { frozenTime: clock.now };
    }
    async createTestClock({ frozenTime }, { app, identity }) {
        return { frozenTime: (await app.testClocks.create(identity.environmentId, frozenTime)).now };
    }
    async advanceTestClock({ frozenTime }, { app, identity }) {
        return { frozenTime: (await app.testClocks.advance(identity.environmentId, frozenTime)).now };
    }
};
__decorate([
    Query(() => TestClock, { nullable: true, description: 'The environment’s own clock; null: the real time counts.' }),
    __param(0, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object]),
    __metadata("design:returntype", Promise)
], TestClockResolver.prototype, "testClock", null);
__decorate([
    Mutation(() => TestClock, { description: 'Gives a test environment its own clock, at a time of now or later. It has one at most.' }),
    __param(0, Arg('input', () => TestClockInput, { description: 'What time it is to be.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [TestClockInput, Object]),
    __metadata("design:returntype", Promise)
], TestClockResolver.prototype, "createTestClock", null);
__decorate([
    Mutation(() => TestClock, {
        description: 'Moves the environment’s clock forward. Everything that comes due on the way happens at its instant, in order, and is pushed to who listens; the answer comes after it.',
    }),
    __param(0, Arg('input', () => TestClockInput, { description: 'What time it is to be.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [TestClockInput, Object]),
    __metadata("design:returntype", Promise)
], TestClockResolver.prototype, "advanceTestClock", null);
TestClockResolver = __decorate([
    Resolver()
], TestClockResolver);
export { TestClockResolver };
//# sourceMappingURL=test-clock.resolver.js.map