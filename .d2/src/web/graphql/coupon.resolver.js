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
import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { connectionType, toConnection } from './connection.types.js';
import { CreateCouponInput, fromCreateCouponInput } from './coupon.inputs.js';
import { Coupon, toCoupon } from './coupon.types.js';
import { Customer, toCustomer } from './customer.types.js';
import { CouponFilter } from './filter.inputs.js';
import { CouponSort, CursorPaging } from './list.inputs.js';
const CouponConnection = connectionType('Coupon', Coupon, 'coupons');
let CouponResolver = class CouponResolver {
    async coupons(filter, paging, sorting, { app, identity }) {
        return toConnection(await app.offers.listCoupons(identity.environmentId, { filter, paging, sorting }), toCoupon);
    }
    async createOneCoupon(input, { app, identity }) {
        return toCoupon(await app.offers.createCoupon(identity.environmentId, fromCreateCouponInput(input)));
    }
    async customers({ id }, { identity, loaders }) {
        if (identity.kind !== 'SERVER')
            return null;
        return (await loaders.customersOfCoupon.load(id)).map(toCustomer);
    }
};
__decorate([
    Query(() => CouponConnection, { description: 'The coupons of the catalog, archived ones too; the newest first.' }),
    __param(0, Arg('filter', () => CouponFilter, { nullable: true, description: 'Which ones.' })),
    __param(1, Arg('paging', () => CursorPaging, { nullable: true, description: 'Which page.' })),
    __param(2, Arg('sorting', () => [CouponSort], { nullable: true, description: 'In which order.' })),
    __param(3, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object, Object, Object]),
    __metadata("design:returntype", Promise)
], CouponResolver.prototype, "coupons", null);
__decorate([
    Mutation(() => Coupon, { description: 'Adds a coupon to the catalog.' }),
    __param(0, Arg('input', () => CreateCouponInput, { description: 'The coupon.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CreateCouponInput, Object]),
    __metadata("design:returntype", Promise)
], CouponResolver.prototype, "createOneCoupon", null);
__decorate([
    FieldResolver(() => [Customer], {
        nullable: true,
        description: 'The first 10 customers that have it, the newest first. Null for client keys: they may not know of other customers.',
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Coupon, Object]),
    __metadata("design:returntype", Promise)
], CouponResolver.prototype, "customers", null);
CouponResolver = __decorate([
    Resolver(() => Coupon)
], CouponResolver);
export { CouponResolver };
//# sourceMappingURL=coupon.resolver.js.map