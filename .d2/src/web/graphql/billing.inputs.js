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
import * as enums from './enums.js';
import { Json } from './scalars.js';
let TaxExempt = class TaxExempt {
    type;
    value;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], TaxExempt.prototype, "type", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], TaxExempt.prototype, "value", void 0);
TaxExempt = __decorate([
    InputType({ description: 'A tax identifier, passed to the billing provider and not kept.' })
], TaxExempt);
export { TaxExempt };
let BillingAddress = class BillingAddress {
    city;
    country;
    line1;
    line2;
    postalCode;
    state;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], BillingAddress.prototype, "city", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], BillingAddress.prototype, "country", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], BillingAddress.prototype, "line1", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], BillingAddress.prototype, "line2", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], BillingAddress.prototype, "postalCode", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], BillingAddress.prototype, "state", void 0);
BillingAddress = __decorate([
    InputType({ description: 'A postal address, passed to the billing provider and not kept.' })
], BillingAddress);
export { BillingAddress };
let SubscriptionBillingInfo = class SubscriptionBillingInfo {
    billingAddress;
    chargeOnBehalfOfAccount;
    couponId;
    integrationId;
    invoiceDaysUntilDue;
    isBackdated;
    isInvoicePaid;
    metadata;
    prorationBehavior;
    taxIds;
    taxPercentage;
    taxRateIds;
};
__decorate([
    Field(() => BillingAddress, { nullable: true, description: 'Told to the billing provider and not kept.' }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "billingAddress", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The builtin billing provider has no such accounts: it is refused.' }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "chargeOnBehalfOfAccount", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The older place of appliedCoupon.billingCouponId.' }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "couponId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Told to the billing provider; the builtin one is the only one.' }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "integrationId", void 0);
__decorate([
    Field(() => Float, {
        nullable: true,
        description: 'Whole days from an invoice to its due date, with INVOICE; 30 where nothing was said.',
    }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "invoiceDaysUntilDue", void 0);
__decorate([
    Field(() => Boolean, {
        nullable: true,
        description: 'Of a new subscription that began in the past: charged from then on, not from the current billing period on.',
    }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "isBackdated", void 0);
__decorate([
    Field(() => Boolean, {
        nullable: true,
        description: 'The invoice of this change was paid elsewhere: nobody collects it or waits for it.',
    }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "isInvoicePaid", void 0);
__decorate([
    Field(() => Json, { nullable: true, description: 'Told to the billing provider and not kept.' }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "metadata", void 0);
__decorate([
    Field(() => enums.SubscriptionProrationBehavior, { nullable: true, description: 'Default INVOICE_IMMEDIATELY.' }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "prorationBehavior", void 0);
__decorate([
    Field(() => [TaxExempt], { nullable: true, description: 'Told to the billing provider and not kept.' }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "taxIds", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'From 0 to 100; added to what is charged from now on.' }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "taxPercentage", void 0);
__decorate([
    Field(() => [String], {
        nullable: true,
        description: 'Rates of the billing provider, in place of a percentage; they are added up. Empty: no tax any more.',
    }),
    __metadata("design:type", Object)
], SubscriptionBillingInfo.prototype, "taxRateIds", void 0);
SubscriptionBillingInfo = __decorate([
    InputType({ description: 'What is agreed for the invoices of a subscription, and facts that are the billing provider’s.' })
], SubscriptionBillingInfo);
export { SubscriptionBillingInfo };
let CheckoutOptions = class CheckoutOptions {
    allowPromoCodes;
    allowTaxIdCollection;
    cancelUrl;
    collectBillingAddress;
    collectPhoneNumber;
    referenceId;
    successUrl;
};
__decorate([
    Field(() => Boolean, { nullable: true, description: 'For the page of the billing provider.' }),
    __metadata("design:type", Object)
], CheckoutOptions.prototype, "allowPromoCodes", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], CheckoutOptions.prototype, "allowTaxIdCollection", void 0);
__decorate([
    Field(() => String, { description: 'An http or https address.' }),
    __metadata("design:type", String)
], CheckoutOptions.prototype, "cancelUrl", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], CheckoutOptions.prototype, "collectBillingAddress", void 0);
__decorate([
    Field(() => Boolean, { nullable: true }),
    __metadata("design:type", Object)
], CheckoutOptions.prototype, "collectPhoneNumber", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CheckoutOptions.prototype, "referenceId", void 0);
__decorate([
    Field(() => String, { description: 'An http or https address.' }),
    __metadata("design:type", String)
], CheckoutOptions.prototype, "successUrl", void 0);
CheckoutOptions = __decorate([
    InputType({ description: 'How the page looks on which the customer pays, and where it leads.' })
], CheckoutOptions);
export { CheckoutOptions };
//# sourceMappingURL=billing.inputs.js.map