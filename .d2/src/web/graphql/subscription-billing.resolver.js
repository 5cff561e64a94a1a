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
import { Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import { chargesOf, currencyOf } from '../../billing/rules/charges.js';
import { standingOf, taxOn } from '../../billing/rules/invoice.js';
import { usualTerms } from '../../billing/rules/request.js';
import * as decimal from '../../kernel/decimal.js';
import { billingPeriodAt, firstPeriod } from '../../subscription/rules/billing-period.js';
import { Customer } from './customer.types.js';
import * as enums from './enums.js';
import { SubscriptionInvoice, toInvoice } from './invoice.types.js';
import { toNumber, toPrice } from './price.types.js';
import { CustomerSubscription, CustomerSubscriptionTotalPrice, SubscriptionPrice } from './subscription.types.js';
/** What billing knows of a subscription. */
let SubscriptionBillingResolver = class SubscriptionBillingResolver {
    async latestInvoice({ id }, { loaders }) {
        const { latestInvoice } = await loaders.billingOfSubscription.load(id);
        return latestInvoice && toInvoice(latestInvoice);
    }
    async billingSyncError({ id }, { loaders }) {
        return (await loaders.billingOfSubscription.load(id)).syncError;
    }
    async paymentCollectionMethod({ id }, { loaders }) {
        return (await loaders.billingOfSubscription.load(id)).terms?.collectionMethod ?? null;
    }
    budgetExceeded({ source }, { loaders }) {
        return source.budget ? loaders.budgetExceeded.load(source) : Promise.resolve(false);
    }
    async isCustomPriceSubscription({ id }, { loaders }) {
        return ((await loaders.billingOfSubscription.load(id)).terms?.priceOverrides.length ?? 0) > 0;
    }
    async prices({ source }, context) {
        const terms = await termsOf(context, source);
        const { fixed, usage } = chargesOf(source, terms);
        return [...fixed, ...usage].map(({ price, version, quantity, isAgreed }) => ({
            billingModel: price.billingModel,
            price: { ...toPrice(source.environmentId, version.id, price), isOverridePrice: isAgreed },
            usageLimit: price.billingModel === 'PER_UNIT' ? toNumber(quantity) : null,
        }));
    }
    async totalPrice({ source }, context) {
        const terms = await termsOf(context, source);
        // Not the instant that the request came in: what the mutation has just agreed begins after it.
        const chargedAt = await context.loaders.timeOf.load(source.environmentId);
        const period = billingPeriodAt(source, chargedAt) ?? firstPeriod(source, source.startDate);
        const standing = period && standingOf({ content: source, terms, period, timeZone: source.timeZone, chargedAt });
        if (!standing)
            return null;
        const money = (amount) => ({
            amount: decimal.toNumber(amount),
            currency: standing.currency,
        });
        const tax = taxOn(standing.net, terms.taxPercentage, standing.currency);
        return { subTotal: money(standing.gross), total: money(decimal.add(standing.net, tax)) };
    }
};
__decorate([
    FieldResolver(() => SubscriptionInvoice, {
        nullable: true,
        description: 'The newest invoice that the billing provider has; null: none.',
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionBillingResolver.prototype, "latestInvoice", null);
__decorate([
    FieldResolver(() => String, { nullable: true, description: 'Why the billing provider does not have the subscription as it is.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionBillingResolver.prototype, "billingSyncError", null);
__decorate([
    FieldResolver(() => enums.PaymentCollectionMethod, { nullable: true, description: 'How it is paid; null: there is nothing to pay.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionBillingResolver.prototype, "paymentCollectionMethod", null);
__decorate([
    FieldResolver(() => Boolean, {
        nullable: true,
        description: 'Whether the usage-based charges of the billing period have come to the budget; false without a budget.',
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionBillingResolver.prototype, "budgetExceeded", null);
__decorate([
    FieldResolver(() => Boolean, { nullable: true, description: 'Whether prices were agreed for this subscription only.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionBillingResolver.prototype, "isCustomPriceSubscription", null);
__decorate([
    FieldResolver(() => [SubscriptionPrice], { nullable: true, description: 'What it is charged by in its billing period.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionBillingResolver.prototype, "prices", null);
__decorate([
    FieldResolver(() => CustomerSubscriptionTotalPrice, {
        nullable: true,
        description: 'Of a billing period, without usage; null: there is nothing to pay.',
    }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [CustomerSubscription, Object]),
    __metadata("design:returntype", Promise)
], SubscriptionBillingResolver.prototype, "totalPrice", null);
SubscriptionBillingResolver = __decorate([
    Resolver(() => CustomerSubscription)
], SubscriptionBillingResolver);
export { SubscriptionBillingResolver };
/** What was agreed, else what is usual. */
async function termsOf({ loaders }, source) {
    const { terms } = await loaders.billingOfSubscription.load(source.id);
    return terms ?? { ...usualTerms, currency: currencyOf(source, null) };
}
/** What the billing provider charges of a customer. The builtin one knows only the reference. */
let CustomerBillingResolver = class CustomerBillingResolver {
    async hasPaymentMethod({ id }, { loaders }) {
        return (await loaders.paymentMethodOfCustomer.load(id)) !== null;
    }
    async defaultPaymentMethodId({ id }, { loaders }) {
        return (await loaders.paymentMethodOfCustomer.load(id))?.reference ?? null;
    }
    async defaultPaymentMethodLast4Digits({ id }, { loaders }) {
        return (await loaders.paymentMethodOfCustomer.load(id))?.last4Digits ?? null;
    }
    async defaultPaymentMethodType({ id }, { loaders }) {
        return (await loaders.paymentMethodOfCustomer.load(id))?.type ?? null;
    }
    async defaultPaymentExpirationMonth({ id }, { loaders }) {
        return (await loaders.paymentMethodOfCustomer.load(id))?.expirationMonth ?? null;
    }
    async defaultPaymentExpirationYear({ id }, { loaders }) {
        return (await loaders.paymentMethodOfCustomer.load(id))?.expirationYear ?? null;
    }
};
__decorate([
    FieldResolver(() => Boolean, { description: 'Whether the billing provider has something that can be charged.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerBillingResolver.prototype, "hasPaymentMethod", null);
__decorate([
    FieldResolver(() => String, { nullable: true, description: 'What is charged: the billing provider’s reference.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerBillingResolver.prototype, "defaultPaymentMethodId", null);
__decorate([
    FieldResolver(() => String, { nullable: true, description: 'Of what is charged; null: the billing provider does not tell.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerBillingResolver.prototype, "defaultPaymentMethodLast4Digits", null);
__decorate([
    FieldResolver(() => enums.PaymentMethodType, { nullable: true, description: 'Null: the billing provider does not tell.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerBillingResolver.prototype, "defaultPaymentMethodType", null);
__decorate([
    FieldResolver(() => Int, { nullable: true, description: 'Null: it does not expire, or the billing provider does not tell.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerBillingResolver.prototype, "defaultPaymentExpirationMonth", null);
__decorate([
    FieldResolver(() => Int, { nullable: true, description: 'Null: it does not expire, or the billing provider does not tell.' }),
    __param(0, Root()),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Customer, Object]),
    __metadata("design:returntype", Promise)
], CustomerBillingResolver.prototype, "defaultPaymentExpirationYear", null);
CustomerBillingResolver = __decorate([
    Resolver(() => Customer)
], CustomerBillingResolver);
export { CustomerBillingResolver };
//# sourceMappingURL=subscription-billing.resolver.js.map