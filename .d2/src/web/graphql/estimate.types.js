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
import * as enums from './enums.js';
import { Money } from './price.types.js';
import { DateTime } from './scalars.js';
let DateRange = class DateRange {
    end;
    start;
};
__decorate([
    Field(() => DateTime, { nullable: true, description: 'Exclusive.' }),
    __metadata("design:type", Object)
], DateRange.prototype, "end", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], DateRange.prototype, "start", void 0);
DateRange = __decorate([
    ObjectType({ simpleResolvers: true, description: 'From start to end, which is exclusive.' })
], DateRange);
export { DateRange };
let SubscriptionPreviewTaxDetails = class SubscriptionPreviewTaxDetails {
    displayName;
    inclusive;
    percentage;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], SubscriptionPreviewTaxDetails.prototype, "displayName", void 0);
__decorate([
    Field(() => Boolean),
    __metadata("design:type", Boolean)
], SubscriptionPreviewTaxDetails.prototype, "inclusive", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], SubscriptionPreviewTaxDetails.prototype, "percentage", void 0);
SubscriptionPreviewTaxDetails = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A tax rate.' })
], SubscriptionPreviewTaxDetails);
export { SubscriptionPreviewTaxDetails };
let SubscriptionPreviewDiscount = class SubscriptionPreviewDiscount {
    durationInMonths;
    durationType;
    name;
    type;
    value;
};
__decorate([
    Field(() => Float, { nullable: true, description: 'Null: for ever.' }),
    __metadata("design:type", Object)
], SubscriptionPreviewDiscount.prototype, "durationInMonths", void 0);
__decorate([
    Field(() => enums.DiscountDurationType),
    __metadata("design:type", Object)
], SubscriptionPreviewDiscount.prototype, "durationType", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreviewDiscount.prototype, "name", void 0);
__decorate([
    Field(() => enums.DiscountType),
    __metadata("design:type", Object)
], SubscriptionPreviewDiscount.prototype, "type", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], SubscriptionPreviewDiscount.prototype, "value", void 0);
SubscriptionPreviewDiscount = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A discount.' })
], SubscriptionPreviewDiscount);
export { SubscriptionPreviewDiscount };
let SubscriptionPreviewCredits = class SubscriptionPreviewCredits {
    initial;
    remaining;
    used;
};
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewCredits.prototype, "initial", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewCredits.prototype, "remaining", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewCredits.prototype, "used", void 0);
SubscriptionPreviewCredits = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Balance of the customer that is used.' })
], SubscriptionPreviewCredits);
export { SubscriptionPreviewCredits };
let SubscriptionPreviewProrations = class SubscriptionPreviewProrations {
    credit;
    debit;
    hasProrations;
    netAmount;
    prorationDate;
};
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewProrations.prototype, "credit", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewProrations.prototype, "debit", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreviewProrations.prototype, "hasProrations", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewProrations.prototype, "netAmount", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], SubscriptionPreviewProrations.prototype, "prorationDate", void 0);
SubscriptionPreviewProrations = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Amounts for parts of a billing period: credit is negative, debit positive.' })
], SubscriptionPreviewProrations);
export { SubscriptionPreviewProrations };
let SubscriptionPricePreviewDto = class SubscriptionPricePreviewDto {
    discount;
    discountAmount;
    subTotal;
    tax;
    taxDetails;
    total;
    totalExcludingTax;
};
__decorate([
    Field(() => SubscriptionPreviewDiscount, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPricePreviewDto.prototype, "discount", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPricePreviewDto.prototype, "discountAmount", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPricePreviewDto.prototype, "subTotal", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPricePreviewDto.prototype, "tax", void 0);
__decorate([
    Field(() => SubscriptionPreviewTaxDetails, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPricePreviewDto.prototype, "taxDetails", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPricePreviewDto.prototype, "total", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPricePreviewDto.prototype, "totalExcludingTax", void 0);
SubscriptionPricePreviewDto = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What the subscription costs in each billing period.' })
], SubscriptionPricePreviewDto);
export { SubscriptionPricePreviewDto };
let SubscriptionPreview = class SubscriptionPreview {
    billingPeriodRange;
    credits;
    discount;
    discountAmount;
    hasScheduledUpdates;
    isPlanDowngrade;
    proration;
    subTotal;
    subscription;
    tax;
    taxDetails;
    total;
    totalExcludingTax;
};
__decorate([
    Field(() => DateRange),
    __metadata("design:type", DateRange)
], SubscriptionPreview.prototype, "billingPeriodRange", void 0);
__decorate([
    Field(() => SubscriptionPreviewCredits, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "credits", void 0);
__decorate([
    Field(() => SubscriptionPreviewDiscount, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "discount", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "discountAmount", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether the subscription has changes that are yet to come.' }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "hasScheduledUpdates", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether it leads to a cheaper plan.' }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "isPlanDowngrade", void 0);
__decorate([
    Field(() => SubscriptionPreviewProrations, { nullable: true, description: 'Null when there is none.' }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "proration", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreview.prototype, "subTotal", void 0);
__decorate([
    Field(() => SubscriptionPricePreviewDto, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "subscription", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "tax", void 0);
__decorate([
    Field(() => SubscriptionPreviewTaxDetails, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreview.prototype, "taxDetails", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreview.prototype, "total", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreview.prototype, "totalExcludingTax", void 0);
SubscriptionPreview = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a subscription, or a change of one, costs.' })
], SubscriptionPreview);
export { SubscriptionPreview };
let SubscriptionPreviewInvoice = class SubscriptionPreviewInvoice {
    discount;
    discountDetails;
    subTotal;
    tax;
    taxDetails;
    total;
    totalExcludingTax;
};
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreviewInvoice.prototype, "discount", void 0);
__decorate([
    Field(() => SubscriptionPreviewDiscount, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreviewInvoice.prototype, "discountDetails", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewInvoice.prototype, "subTotal", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreviewInvoice.prototype, "tax", void 0);
__decorate([
    Field(() => SubscriptionPreviewTaxDetails, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreviewInvoice.prototype, "taxDetails", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewInvoice.prototype, "total", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionPreviewInvoice.prototype, "totalExcludingTax", void 0);
SubscriptionPreviewInvoice = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What is charged in each billing period.' })
], SubscriptionPreviewInvoice);
export { SubscriptionPreviewInvoice };
let ImmediateSubscriptionPreviewInvoice = class ImmediateSubscriptionPreviewInvoice {
    credits;
    discount;
    discountDetails;
    proration;
    subTotal;
    tax;
    taxDetails;
    total;
    totalExcludingTax;
};
__decorate([
    Field(() => SubscriptionPreviewCredits, { nullable: true }),
    __metadata("design:type", Object)
], ImmediateSubscriptionPreviewInvoice.prototype, "credits", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], ImmediateSubscriptionPreviewInvoice.prototype, "discount", void 0);
__decorate([
    Field(() => SubscriptionPreviewDiscount, { nullable: true }),
    __metadata("design:type", Object)
], ImmediateSubscriptionPreviewInvoice.prototype, "discountDetails", void 0);
__decorate([
    Field(() => SubscriptionPreviewProrations, { nullable: true, description: 'Null when there is none.' }),
    __metadata("design:type", Object)
], ImmediateSubscriptionPreviewInvoice.prototype, "proration", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], ImmediateSubscriptionPreviewInvoice.prototype, "subTotal", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], ImmediateSubscriptionPreviewInvoice.prototype, "tax", void 0);
__decorate([
    Field(() => SubscriptionPreviewTaxDetails, { nullable: true }),
    __metadata("design:type", Object)
], ImmediateSubscriptionPreviewInvoice.prototype, "taxDetails", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], ImmediateSubscriptionPreviewInvoice.prototype, "total", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], ImmediateSubscriptionPreviewInvoice.prototype, "totalExcludingTax", void 0);
ImmediateSubscriptionPreviewInvoice = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What is charged at once.' })
], ImmediateSubscriptionPreviewInvoice);
export { ImmediateSubscriptionPreviewInvoice };
let SubscriptionPreviewV2 = class SubscriptionPreviewV2 {
    billingPeriodRange;
    hasScheduledUpdates;
    immediateInvoice;
    isPlanDowngrade;
    recurringInvoice;
};
__decorate([
    Field(() => DateRange),
    __metadata("design:type", DateRange)
], SubscriptionPreviewV2.prototype, "billingPeriodRange", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether the subscription has changes that are yet to come.' }),
    __metadata("design:type", Object)
], SubscriptionPreviewV2.prototype, "hasScheduledUpdates", void 0);
__decorate([
    Field(() => ImmediateSubscriptionPreviewInvoice),
    __metadata("design:type", ImmediateSubscriptionPreviewInvoice)
], SubscriptionPreviewV2.prototype, "immediateInvoice", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether it leads to a cheaper plan.' }),
    __metadata("design:type", Object)
], SubscriptionPreviewV2.prototype, "isPlanDowngrade", void 0);
__decorate([
    Field(() => SubscriptionPreviewInvoice, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionPreviewV2.prototype, "recurringInvoice", void 0);
SubscriptionPreviewV2 = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a subscription costs, now and in each billing period.' })
], SubscriptionPreviewV2);
export { SubscriptionPreviewV2 };
//# sourceMappingURL=estimate.types.js.map