var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, InputType, Int } from 'type-graphql';
import * as enums from './enums.js';
import { ConnectionCursor } from './scalars.js';
let CursorPaging = class CursorPaging {
    after;
    before;
    first;
    last;
};
__decorate([
    Field(() => ConnectionCursor, { nullable: true }),
    __metadata("design:type", Object)
], CursorPaging.prototype, "after", void 0);
__decorate([
    Field(() => ConnectionCursor, { nullable: true }),
    __metadata("design:type", Object)
], CursorPaging.prototype, "before", void 0);
__decorate([
    Field(() => Int, { nullable: true, description: 'At most 100.' }),
    __metadata("design:type", Object)
], CursorPaging.prototype, "first", void 0);
__decorate([
    Field(() => Int, { nullable: true, description: 'At most 100.' }),
    __metadata("design:type", Object)
], CursorPaging.prototype, "last", void 0);
CursorPaging = __decorate([
    InputType({
        description: 'Which page of a list: the first so many after a cursor, or the last so many before one. Default: the first 10.',
    })
], CursorPaging);
export { CursorPaging };
/** What every order of a list is made of. Not a type of the schema. */
let Sort = class Sort {
    direction;
    nulls;
};
__decorate([
    Field(() => enums.SortDirection),
    __metadata("design:type", Object)
], Sort.prototype, "direction", void 0);
__decorate([
    Field(() => enums.SortNulls, { nullable: true }),
    __metadata("design:type", Object)
], Sort.prototype, "nulls", void 0);
Sort = __decorate([
    InputType()
], Sort);
let CouponSort = class CouponSort extends Sort {
    field;
};
__decorate([
    Field(() => enums.CouponSortFields),
    __metadata("design:type", Object)
], CouponSort.prototype, "field", void 0);
CouponSort = __decorate([
    InputType({ description: 'What coupons are ordered by.' })
], CouponSort);
export { CouponSort };
let CustomerSort = class CustomerSort extends Sort {
    field;
};
__decorate([
    Field(() => enums.CustomerSortFields),
    __metadata("design:type", Object)
], CustomerSort.prototype, "field", void 0);
CustomerSort = __decorate([
    InputType({ description: 'What customers are ordered by.' })
], CustomerSort);
export { CustomerSort };
let SubscriptionQuerySort = class SubscriptionQuerySort extends Sort {
    field;
};
__decorate([
    Field(() => enums.SubscriptionQuerySortFields),
    __metadata("design:type", Object)
], SubscriptionQuerySort.prototype, "field", void 0);
SubscriptionQuerySort = __decorate([
    InputType({ description: 'What subscriptions are ordered by.' })
], SubscriptionQuerySort);
export { SubscriptionQuerySort };
//# sourceMappingURL=list.inputs.js.map