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
import { Arg, Ctx, Field, Float, InputType, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql';
import { invoiceNotFound } from '../../billing/rules/problems.js';
import { customerNotFound } from '../../customer/model/problems.js';
import * as decimal from '../../kernel/decimal.js';
import { checkRefId } from '../../kernel/id.js';
import { invalidInput, Problem } from '../../kernel/problem.js';
import { SubscriptionInvoice, toInvoice } from './invoice.types.js';
import { DateTime } from './scalars.js';
let InvoiceInput = class InvoiceInput {
    billingId;
};
__decorate([
    Field(() => String, { description: 'The billing provider’s identifier, as in latestInvoice.' }),
    __metadata("design:type", String)
], InvoiceInput.prototype, "billingId", void 0);
InvoiceInput = __decorate([
    InputType({ description: 'Which invoice of the builtin billing provider.' })
], InvoiceInput);
export { InvoiceInput };
let FailedInvoiceInput = class FailedInvoiceInput extends InvoiceInput {
    errorMessage;
};
__decorate([
    Field(() => String, { nullable: true, description: 'What the customer is told.' }),
    __metadata("design:type", Object)
], FailedInvoiceInput.prototype, "errorMessage", void 0);
FailedInvoiceInput = __decorate([
    InputType({ description: 'Which invoice, and why its payment failed.' })
], FailedInvoiceInput);
export { FailedInvoiceInput };
let PaymentMethodInput = class PaymentMethodInput {
    customerId;
    reference;
};
__decorate([
    Field(() => String, { description: 'Your identifier of the customer.' }),
    __metadata("design:type", String)
], PaymentMethodInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'A reference, never the number of a card; null: nothing can be charged.' }),
    __metadata("design:type", Object)
], PaymentMethodInput.prototype, "reference", void 0);
PaymentMethodInput = __decorate([
    InputType({ description: 'What the builtin billing provider can charge from now on.' })
], PaymentMethodInput);
export { PaymentMethodInput };
let TaxRateInput = class TaxRateInput {
    displayName;
    id;
    percentage;
};
__decorate([
    Field(() => String, { description: 'What the customer reads.' }),
    __metadata("design:type", String)
], TaxRateInput.prototype, "displayName", void 0);
__decorate([
    Field(() => String, { description: 'What billingInformation.taxRateIds names.' }),
    __metadata("design:type", String)
], TaxRateInput.prototype, "id", void 0);
__decorate([
    Field(() => Float, { description: 'From 0 to 100; added to what is charged.' }),
    __metadata("design:type", Number)
], TaxRateInput.prototype, "percentage", void 0);
TaxRateInput = __decorate([
    InputType({ description: 'A tax rate of the builtin billing provider.' })
], TaxRateInput);
export { TaxRateInput };
let TaxRate = class TaxRate {
    displayName;
    id;
    percentage;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], TaxRate.prototype, "displayName", void 0);
__decorate([
    Field(() => String, { description: 'What billingInformation.taxRateIds names.' }),
    __metadata("design:type", String)
], TaxRate.prototype, "id", void 0);
__decorate([
    Field(() => Float, { description: 'From 0 to 100.' }),
    __metadata("design:type", Number)
], TaxRate.prototype, "percentage", void 0);
TaxRate = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A tax rate of the builtin billing provider. It is added to what is charged.' })
], TaxRate);
export { TaxRate };
let BillingCall = class BillingCall {
    attempts;
    createdAt;
    isGivenUp;
    kind;
    lastError;
    subscriptionId;
};
__decorate([
    Field(() => Int, { description: 'How often it was tried.' }),
    __metadata("design:type", Number)
], BillingCall.prototype, "attempts", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], BillingCall.prototype, "createdAt", void 0);
__decorate([
    Field(() => Boolean, { description: 'The provider refused it: it is not tried again.' }),
    __metadata("design:type", Boolean)
], BillingCall.prototype, "isGivenUp", void 0);
__decorate([
    Field(() => String, { description: 'CREATE_INVOICE, COLLECT, VOID or REFUND.' }),
    __metadata("design:type", String)
], BillingCall.prototype, "kind", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'What the last try ended with; null: it was not tried.' }),
    __metadata("design:type", Object)
], BillingCall.prototype, "lastError", void 0);
__decorate([
    Field(() => String, { description: 'The host application’s identifier of the subscription.' }),
    __metadata("design:type", String)
], BillingCall.prototype, "subscriptionId", void 0);
BillingCall = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A call of the billing provider that has not succeeded yet.' })
], BillingCall);
export { BillingCall };
/** What operators tell the builtin billing provider: it moves money by hand, so it takes their key. */
let BillingResolver = class BillingResolver {
    billingCalls({ app, identity }) {
        return app.billingReads.unfinishedCalls(identity.environmentId);
    }
    async taxRates({ app, identity }) {
        const rates = await app.billingProvider.taxRates(identity.environmentId);
        return rates.map((rate) => ({ ...rate, percentage: decimal.toNumber(rate.percentage) }));
    }
    async setTaxRate({ id, displayName, percentage }, context) {
        const { app, identity } = requireOperator(context);
        if (!(percentage >= 0 && percentage <= 100))
            throw invalidInput('percentage must be from 0 to 100.', { path: 'percentage' });
        const rate = { id: checkRefId(id, 'id'), displayName, percentage: decimal.fromNumber(percentage) };
        await app.billingProvider.setTaxRate(identity.environmentId, rate);
        return { ...rate, percentage: decimal.toNumber(rate.percentage) };
    }
    markInvoicePaid({ billingId }, context) {
        return tell(context, billingId, { status: 'PAID' });
    }
    markInvoiceFailed({ billingId, errorMessage }, context) {
        return tell(context, billingId, { status: 'FAILED', errorMessage: errorMessage ?? 'The payment failed.' });
    }
    requirePaymentAction({ billingId }, context) {
        return tell(context, billingId, { requiresAction: true });
    }
    async retryBillingCalls(context) {
        const { app, identity } = requireOperator(context);
        return app.billing.retry(identity.environmentId);
    }
    async setPaymentMethod({ customerId, reference = null }, context) {
        const { app, identity } = requireOperator(context);
        const { environmentId } = identity;
        const customer = await app.customers.get(environmentId, customerId);
        if (!customer)
            throw customerNotFound(customerId);
        await app.billingProvider.setPaymentMethod({ environmentId, customerId: customer.id }, reference);
        return reference !== null;
    }
};
__decorate([
    Query(() => [BillingCall], { description: 'Calls of the billing provider that wait or were given up; the 100 oldest.' }),
    __param(0, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object]),
    __metadata("design:returntype", Promise)
], BillingResolver.prototype, "billingCalls", null);
__decorate([
    Query(() => [TaxRate], { description: 'Tax rates of the builtin billing provider, by their identifiers.' }),
    __param(0, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object]),
    __metadata("design:returntype", Promise)
], BillingResolver.prototype, "taxRates", null);
__decorate([
    Mutation(() => TaxRate, {
        description: 'Makes or changes a tax rate of the builtin billing provider. What was agreed with it before stays as it was agreed. Safe to repeat. Needs the operator key.',
    }),
    __param(0, Arg('input', () => TaxRateInput, { description: 'The rate.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [TaxRateInput, Object]),
    __metadata("design:returntype", Promise)
], BillingResolver.prototype, "setTaxRate", null);
__decorate([
    Mutation(() => SubscriptionInvoice, { description: 'Tells that an invoice was paid. Safe to repeat. Needs the operator key.' }),
    __param(0, Arg('input', () => InvoiceInput, { description: 'Which invoice.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [InvoiceInput, Object]),
    __metadata("design:returntype", void 0)
], BillingResolver.prototype, "markInvoicePaid", null);
__decorate([
    Mutation(() => SubscriptionInvoice, {
        description: 'Tells that the payment of an invoice failed. Safe to repeat. Needs the operator key.',
    }),
    __param(0, Arg('input', () => FailedInvoiceInput, { description: 'Which invoice, and why.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [FailedInvoiceInput, Object]),
    __metadata("design:returntype", void 0)
], BillingResolver.prototype, "markInvoiceFailed", null);
__decorate([
    Mutation(() => SubscriptionInvoice, {
        description: 'Tells that the customer has to confirm the payment. Safe to repeat. Needs the operator key.',
    }),
    __param(0, Arg('input', () => InvoiceInput, { description: 'Which invoice.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [InvoiceInput, Object]),
    __metadata("design:returntype", void 0)
], BillingResolver.prototype, "requirePaymentAction", null);
__decorate([
    Mutation(() => Int, {
        description: 'Has calls of the billing provider made again that were given up. Answers how many. Needs the operator key.',
    }),
    __param(0, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object]),
    __metadata("design:returntype", Promise)
], BillingResolver.prototype, "retryBillingCalls", null);
__decorate([
    Mutation(() => Boolean, {
        description: 'Says what is charged of a customer. Answers whether there is something. Needs the operator key.',
    }),
    __param(0, Arg('input', () => PaymentMethodInput, { description: 'Whose, and what.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [PaymentMethodInput, Object]),
    __metadata("design:returntype", Promise)
], BillingResolver.prototype, "setPaymentMethod", null);
BillingResolver = __decorate([
    Resolver()
], BillingResolver);
export { BillingResolver };
async function tell(context, billingId, news) {
    const { app, identity } = requireOperator(context);
    const { environmentId } = identity;
    const told = await app.billingProvider.tell(environmentId, billingId, news);
    if (!told)
        throw invoiceNotFound(billingId);
    await app.billing.hear(environmentId, told);
    return toInvoice((await app.billingReads.invoice(environmentId, billingId)));
}
function requireOperator(context) {
    if (!context.isOperator)
        throw new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'This moves money by hand: send the operator key in the header X-OPERATOR-KEY too.');
    return context;
}
//# sourceMappingURL=billing.resolver.js.map