var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Int, ObjectType } from 'type-graphql';
import { DateTime } from './scalars.js';
let UsageRecomputation = class UsageRecomputation {
    countersLeft;
    createdAt;
    customerId;
    customersDone;
    customersTotal;
    featureId;
    finishedAt;
    id;
};
__decorate([
    Field(() => Int, { description: 'Counters of usage periods that stay as they are, because raw events of them have been dropped.' }),
    __metadata("design:type", Number)
], UsageRecomputation.prototype, "countersLeft", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], UsageRecomputation.prototype, "createdAt", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Null: all customers.' }),
    __metadata("design:type", Object)
], UsageRecomputation.prototype, "customerId", void 0);
__decorate([
    Field(() => Int),
    __metadata("design:type", Number)
], UsageRecomputation.prototype, "customersDone", void 0);
__decorate([
    Field(() => Int, { description: 'All that are looked at.' }),
    __metadata("design:type", Number)
], UsageRecomputation.prototype, "customersTotal", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageRecomputation.prototype, "featureId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Null: it is not finished.' }),
    __metadata("design:type", Object)
], UsageRecomputation.prototype, "finishedAt", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], UsageRecomputation.prototype, "id", void 0);
UsageRecomputation = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Usage that is being counted anew, and how far that is.' })
], UsageRecomputation);
export { UsageRecomputation };
//# sourceMappingURL=usage-correction.types.js.map