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
import * as enums from './enums.js';
import { Money, toNumber } from './price.types.js';
import { DateTime, Json } from './scalars.js';
let SyncState = class SyncState {
    status;
    vendorIdentifier;
};
__decorate([
    Field(() => enums.SyncStatus),
    __metadata("design:type", Object)
], SyncState.prototype, "status", void 0);
__decorate([
    Field(() => enums.VendorIdentifier),
    __metadata("design:type", Object)
], SyncState.prototype, "vendorIdentifier", void 0);
SyncState = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Where the copy of a record at another vendor stands.' })
], SyncState);
export { SyncState };
let Coupon = class Coupon {
    additionalMetaData;
    amountsOff;
    billingId;
    billingLinkUrl;
    createdAt;
    description;
    discountValue;
    durationInMonths;
    environmentId;
    id;
    name;
    percentOff;
    refId;
    source;
    status;
    syncStates;
    type;
    updatedAt;
};
__decorate([
    Field(() => Json, { nullable: true }),
    __metadata("design:type", Object)
], Coupon.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => [Money], { nullable: true, description: 'FIXED: one amount for each currency.' }),
    __metadata("design:type", Object)
], Coupon.prototype, "amountsOff", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Coupon.prototype, "billingId", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Coupon.prototype, "billingLinkUrl", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], Coupon.prototype, "createdAt", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Coupon.prototype, "description", void 0);
__decorate([
    Field(() => Float, { description: 'The percentage, or the amount in the first currency.' }),
    __metadata("design:type", Number)
], Coupon.prototype, "discountValue", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Null: for ever.' }),
    __metadata("design:type", Object)
], Coupon.prototype, "durationInMonths", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], Coupon.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier.' }),
    __metadata("design:type", String)
], Coupon.prototype, "id", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], Coupon.prototype, "name", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'PERCENTAGE: above 0, at most 100.' }),
    __metadata("design:type", Object)
], Coupon.prototype, "percentOff", void 0);
__decorate([
    Field(() => String, { description: 'The identifier that the catalog gave it.' }),
    __metadata("design:type", String)
], Coupon.prototype, "refId", void 0);
__decorate([
    Field(() => enums.CouponSource),
    __metadata("design:type", Object)
], Coupon.prototype, "source", void 0);
__decorate([
    Field(() => enums.CouponStatus),
    __metadata("design:type", Object)
], Coupon.prototype, "status", void 0);
__decorate([
    AlwaysNull(() => [SyncState]),
    __metadata("design:type", void 0)
], Coupon.prototype, "syncStates", void 0);
__decorate([
    Field(() => enums.CouponType),
    __metadata("design:type", Object)
], Coupon.prototype, "type", void 0);
__decorate([
    Field(() => DateTime, { description: 'When it last changed.' }),
    __metadata("design:type", Number)
], Coupon.prototype, "updatedAt", void 0);
Coupon = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A discount for a customer or a subscription.' })
], Coupon);
export { Coupon };
export function toCoupon(coupon) {
    const { percentOff, amountsOff, ...facts } = coupon;
    const amounts = amountsOff?.map(({ amount, currency }) => ({ amount: decimal.toNumber(amount), currency })) ?? null;
    return {
        ...facts,
        amountsOff: amounts,
        percentOff: toNumber(percentOff),
        discountValue: percentOff === null ? amounts[0].amount : decimal.toNumber(percentOff),
        source: 'STIGG',
        type: percentOff === null ? 'FIXED' : 'PERCENTAGE',
    };
}
//# sourceMappingURL=coupon.types.js.map