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
import { invalidInput } from '../../kernel/problem.js';
import * as enums from './enums.js';
import { fromMetaData } from './input-fields.js';
import { MoneyInputDto } from './price.inputs.js';
import { Json } from './scalars.js';
let CreateCouponInput = class CreateCouponInput {
    additionalMetaData;
    amountsOff;
    description;
    discountValue;
    durationInMonths;
    environmentId;
    name;
    percentOff;
    refId;
    type;
};
__decorate([
    Field(() => Json, { nullable: true, description: 'An object of your own facts.' }),
    __metadata("design:type", Object)
], CreateCouponInput.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => [MoneyInputDto], { nullable: true, description: 'FIXED: one amount for each currency.' }),
    __metadata("design:type", Object)
], CreateCouponInput.prototype, "amountsOff", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CreateCouponInput.prototype, "description", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The older form of percentOff.' }),
    __metadata("design:type", Object)
], CreateCouponInput.prototype, "discountValue", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Absent: for ever.' }),
    __metadata("design:type", Object)
], CreateCouponInput.prototype, "durationInMonths", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], CreateCouponInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], CreateCouponInput.prototype, "name", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'PERCENTAGE: above 0, at most 100.' }),
    __metadata("design:type", Object)
], CreateCouponInput.prototype, "percentOff", void 0);
__decorate([
    Field(() => String, { description: 'Your identifier of the coupon.' }),
    __metadata("design:type", String)
], CreateCouponInput.prototype, "refId", void 0);
__decorate([
    Field(() => enums.CouponType, { nullable: true, description: 'Absent: what is sent decides.' }),
    __metadata("design:type", Object)
], CreateCouponInput.prototype, "type", void 0);
CreateCouponInput = __decorate([
    InputType({ description: 'A coupon: percentOff, or amountsOff in each currency.' })
], CreateCouponInput);
export { CreateCouponInput };
/** As the catalog document has it, which is also where it is checked. */
export function fromCreateCouponInput({ refId, name, description, durationInMonths, additionalMetaData, ...input }) {
    const { amountsOff, percentOff, discountValue, type } = input;
    if (type === 'FIXED' && !amountsOff)
        throw invalidInput('A FIXED coupon needs amountsOff, with an amount for each currency.', { path: 'amountsOff' });
    if (type === 'PERCENTAGE' && amountsOff)
        throw invalidInput('A PERCENTAGE coupon has percentOff and no amountsOff.', { path: 'amountsOff' });
    return {
        refId,
        name,
        description,
        percentOff: amountsOff ? percentOff : (percentOff ?? discountValue),
        amountsOff: amountsOff?.map(({ amount, currency }) => ({ amount, currency })),
        durationInMonths,
        additionalMetaData: fromMetaData(additionalMetaData),
    };
}
//# sourceMappingURL=coupon.inputs.js.map