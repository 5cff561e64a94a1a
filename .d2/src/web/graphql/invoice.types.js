var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, Int, ObjectType } from 'type-graphql';
import * as decimal from '../../kernel/decimal.js';
import * as enums from './enums.js';
import { SubscriptionPreviewCredits, SubscriptionPreviewDiscount, SubscriptionPreviewTaxDetails } from './estimate.types.js';
import { Money, Price } from './price.types.js';
import { DateTime } from './scalars.js';
let SubscriptionInvoice = class SubscriptionInvoice {
    amountDue;
    attemptCount;
    billingId;
    billingReason;
    createdAt;
    currency;
    dueDate;
    errorMessage;
    paymentSecret;
    paymentUrl;
    pdfUrl;
    requiresAction;
    status;
    subTotal;
    subTotalExcludingTax;
    tax;
    total;
    totalExcludingTax;
    updatedAt;
};
__decorate([
    Field(() => Float, { nullable: true, description: 'What is still to be paid.' }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "amountDue", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "attemptCount", void 0);
__decorate([
    Field(() => String, { description: 'The billing provider’s identifier.' }),
    __metadata("design:type", String)
], SubscriptionInvoice.prototype, "billingId", void 0);
__decorate([
    Field(() => enums.SubscriptionInvoiceBillingReason, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "billingReason", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], SubscriptionInvoice.prototype, "createdAt", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "currency", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "dueDate", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Why the payment failed.' }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "errorMessage", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "paymentSecret", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Where the customer pays.' }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "paymentUrl", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "pdfUrl", void 0);
__decorate([
    Field(() => Boolean, { description: 'Whether the customer has to confirm the payment.' }),
    __metadata("design:type", Boolean)
], SubscriptionInvoice.prototype, "requiresAction", void 0);
__decorate([
    Field(() => enums.SubscriptionInvoiceStatus),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "status", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "subTotal", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "subTotalExcludingTax", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "tax", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "total", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoice.prototype, "totalExcludingTax", void 0);
__decorate([
    Field(() => DateTime, { description: 'When its status last changed.' }),
    __metadata("design:type", Number)
], SubscriptionInvoice.prototype, "updatedAt", void 0);
SubscriptionInvoice = __decorate([
    ObjectType({ simpleResolvers: true, description: 'An invoice as the billing provider has it.' })
], SubscriptionInvoice);
export { SubscriptionInvoice };
export function toInvoice(invoice) {
    const { subTotal, discount, tax, total, status } = invoice;
    const withoutTax = decimal.subtract(subTotal, discount);
    return {
        amountDue: status === 'OPEN' || status === 'FAILED' ? decimal.toNumber(invoice.amountDue) : 0,
        attemptCount: invoice.attemptCount,
        billingId: invoice.billingId,
        billingReason: invoice.reason,
        createdAt: invoice.createdAt,
        currency: invoice.currency,
        dueDate: invoice.dueDate,
        errorMessage: invoice.errorMessage,
        paymentSecret: invoice.paymentSecret,
        paymentUrl: invoice.paymentUrl,
        pdfUrl: null,
        requiresAction: invoice.requiresAction,
        status,
        subTotal: decimal.toNumber(subTotal),
        subTotalExcludingTax: decimal.toNumber(subTotal),
        tax: decimal.toNumber(tax),
        total: decimal.toNumber(total),
        totalExcludingTax: decimal.toNumber(withoutTax),
        updatedAt: invoice.updatedAt,
    };
}
let SubscriptionInvoicePreviewLineItemPeriod = class SubscriptionInvoicePreviewLineItemPeriod {
    end;
    start;
};
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], SubscriptionInvoicePreviewLineItemPeriod.prototype, "end", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], SubscriptionInvoicePreviewLineItemPeriod.prototype, "start", void 0);
SubscriptionInvoicePreviewLineItemPeriod = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a line charges for; the end is exclusive.' })
], SubscriptionInvoicePreviewLineItemPeriod);
export { SubscriptionInvoicePreviewLineItemPeriod };
let SubscriptionInvoicePreviewLineItemData = class SubscriptionInvoicePreviewLineItemData {
    costDescription;
    description;
    hasSoftLimit;
    proration;
    quantity;
    type;
    usageLimit;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], SubscriptionInvoicePreviewLineItemData.prototype, "costDescription", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], SubscriptionInvoicePreviewLineItemData.prototype, "description", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItemData.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Boolean, { description: 'Whether it is for a part of a billing period.' }),
    __metadata("design:type", Boolean)
], SubscriptionInvoicePreviewLineItemData.prototype, "proration", void 0);
__decorate([
    Field(() => Int, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItemData.prototype, "quantity", void 0);
__decorate([
    Field(() => enums.InvoiceLineItemType),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItemData.prototype, "type", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItemData.prototype, "usageLimit", void 0);
SubscriptionInvoicePreviewLineItemData = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A part of a line.' })
], SubscriptionInvoicePreviewLineItemData);
export { SubscriptionInvoicePreviewLineItemData };
let SubscriptionInvoicePreviewLineItem = class SubscriptionInvoicePreviewLineItem {
    amount;
    costDescription;
    description;
    hasSoftLimit;
    lines;
    period;
    price;
    proration;
    quantity;
    type;
    unitPrice;
    usageLimit;
};
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionInvoicePreviewLineItem.prototype, "amount", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], SubscriptionInvoicePreviewLineItem.prototype, "costDescription", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], SubscriptionInvoicePreviewLineItem.prototype, "description", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Usage beyond the limit is granted.' }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItem.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => [SubscriptionInvoicePreviewLineItemData], {
        nullable: true,
        description: 'How the quantity falls on the tiers of the price.',
    }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItem.prototype, "lines", void 0);
__decorate([
    Field(() => SubscriptionInvoicePreviewLineItemPeriod),
    __metadata("design:type", SubscriptionInvoicePreviewLineItemPeriod)
], SubscriptionInvoicePreviewLineItem.prototype, "period", void 0);
__decorate([
    Field(() => Price, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItem.prototype, "price", void 0);
__decorate([
    Field(() => Boolean, { description: 'Whether it is for a part of a billing period.' }),
    __metadata("design:type", Boolean)
], SubscriptionInvoicePreviewLineItem.prototype, "proration", void 0);
__decorate([
    Field(() => Int, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItem.prototype, "quantity", void 0);
__decorate([
    Field(() => enums.InvoiceLineItemType),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItem.prototype, "type", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItem.prototype, "unitPrice", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreviewLineItem.prototype, "usageLimit", void 0);
SubscriptionInvoicePreviewLineItem = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A line of an invoice.' })
], SubscriptionInvoicePreviewLineItem);
export { SubscriptionInvoicePreviewLineItem };
let SubscriptionInvoicePreview = class SubscriptionInvoicePreview {
    amountDue;
    credits;
    discount;
    discountDetails;
    lastUpdatedAt;
    lines;
    minimumSpendAdjustment;
    subTotal;
    subTotalExcludingTax;
    tax;
    taxDetails;
    total;
    totalExcludingTax;
};
__decorate([
    Field(() => Money, { description: 'What is still to be paid.' }),
    __metadata("design:type", Money)
], SubscriptionInvoicePreview.prototype, "amountDue", void 0);
__decorate([
    Field(() => SubscriptionPreviewCredits, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreview.prototype, "credits", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreview.prototype, "discount", void 0);
__decorate([
    Field(() => SubscriptionPreviewDiscount, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreview.prototype, "discountDetails", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], SubscriptionInvoicePreview.prototype, "lastUpdatedAt", void 0);
__decorate([
    Field(() => [SubscriptionInvoicePreviewLineItem], { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreview.prototype, "lines", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionInvoicePreview.prototype, "minimumSpendAdjustment", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionInvoicePreview.prototype, "subTotal", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionInvoicePreview.prototype, "subTotalExcludingTax", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreview.prototype, "tax", void 0);
__decorate([
    Field(() => SubscriptionPreviewTaxDetails, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionInvoicePreview.prototype, "taxDetails", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionInvoicePreview.prototype, "total", void 0);
__decorate([
    Field(() => Money),
    __metadata("design:type", Money)
], SubscriptionInvoicePreview.prototype, "totalExcludingTax", void 0);
SubscriptionInvoicePreview = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The invoice that comes next, as of now.' })
], SubscriptionInvoicePreview);
export { SubscriptionInvoicePreview };
//# sourceMappingURL=invoice.types.js.map