var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, InputType } from 'type-graphql';
import { MoneyInputDto } from './price.inputs.js';
import { DateTime } from './scalars.js';
let SubscriptionCouponConfigurationInput = class SubscriptionCouponConfigurationInput {
    startDate;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Default now.' }),
    __metadata("design:type", Object)
], SubscriptionCouponConfigurationInput.prototype, "startDate", void 0);
SubscriptionCouponConfigurationInput = __decorate([
    InputType({ description: 'When the discount begins.' })
], SubscriptionCouponConfigurationInput);
export { SubscriptionCouponConfigurationInput };
let SubscriptionCouponDiscountInput = class SubscriptionCouponDiscountInput {
    amountsOff;
    description;
    durationInMonths;
    name;
    percentOff;
};
__decorate([
    Field(() => [MoneyInputDto], { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionCouponDiscountInput.prototype, "amountsOff", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'A note; nothing answers it, so it is not kept.' }),
    __metadata("design:type", Object)
], SubscriptionCouponDiscountInput.prototype, "description", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Absent: for ever.' }),
    __metadata("design:type", Object)
], SubscriptionCouponDiscountInput.prototype, "durationInMonths", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionCouponDiscountInput.prototype, "name", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Above 0, at most 100.' }),
    __metadata("design:type", Object)
], SubscriptionCouponDiscountInput.prototype, "percentOff", void 0);
SubscriptionCouponDiscountInput = __decorate([
    InputType({ description: 'A discount agreed for this subscription only: percentOff, or amountsOff in each currency.' })
], SubscriptionCouponDiscountInput);
export { SubscriptionCouponDiscountInput };
let SubscriptionCouponInput = class SubscriptionCouponInput {
    billingCouponId;
    configuration;
    couponId;
    discount;
    promotionCode;
};
__decorate([
    Field(() => String, { nullable: true, description: 'The billing provider’s identifier.' }),
    __metadata("design:type", Object)
], SubscriptionCouponInput.prototype, "billingCouponId", void 0);
__decorate([
    Field(() => SubscriptionCouponConfigurationInput, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionCouponInput.prototype, "configuration", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionCouponInput.prototype, "couponId", void 0);
__decorate([
    Field(() => SubscriptionCouponDiscountInput, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionCouponInput.prototype, "discount", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'A code of the billing provider.' }),
    __metadata("design:type", Object)
], SubscriptionCouponInput.prototype, "promotionCode", void 0);
SubscriptionCouponInput = __decorate([
    InputType({ description: 'A discount: exactly one of couponId, billingCouponId, promotionCode and discount.' })
], SubscriptionCouponInput);
export { SubscriptionCouponInput };
//# sourceMappingURL=subscription-coupon.inputs.js.map