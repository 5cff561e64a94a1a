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
import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { currencySymbol, offer } from '../../catalog/model/paywall.js';
import { customerNotFound } from '../../customer/model/problems.js';
import * as decimal from '../../kernel/decimal.js';
import { toCustomer } from './customer.types.js';
import { toFeature } from './feature.types.js';
import { refuseAbsent } from './not-here.js';
import { toPlan } from './package.types.js';
import { GetPaywallInput } from './paywall.inputs.js';
import { Paywall } from './paywall.types.js';
import { toCustomerSubscription } from './subscription.types.js';
/** What is shown where nothing has a price. */
const fallbackCurrency = 'USD';
let PaywallResolver = class PaywallResolver {
    async paywall(input, context) {
        refuseAbsent('offers', input, 'offerId');
        const { app, identity, loaders } = context;
        const { environmentId } = identity;
        const { customerId, resourceId, productId, billingCountryCode } = input;
        const customer = customerId ? await app.customers.get(environmentId, customerId) : null;
        if (customerId && !customer)
            throw customerNotFound(customerId);
        const { plans, currency, pricePoints } = offer({
            plans: await app.offers.plansOf(environmentId, productId ?? null),
            buyer: { currency: customer?.billingCurrency ?? null, countryCode: billingCountryCode ?? null },
            isForAllCountries: input.fetchAllCountriesPrices ?? false,
        });
        const shown = currency ?? customer?.billingCurrency ?? fallbackCurrency;
        const resources = resourceId ? { resourceRefIds: [resourceId] } : {};
        const active = customer ? await app.subscriptionReads.active(environmentId, { customerRefId: customer.refId, ...resources }) : null;
        const featureOf = async (refId) => {
            const feature = refId === null ? undefined : await loaders.features.load(refId);
            return feature ? toFeature(feature) : null;
        };
        return {
            activeSubscriptions: active?.map(toCustomerSubscription) ?? null,
            currency: { code: shown, symbol: currencySymbol(shown) },
            customer: customer && toCustomer(customer),
            paywallCalculatedPricePoints: await Promise.all(pricePoints.map(async (point) => toPricePoint(point, await featureOf(point.featureRefId)))),
            plans: plans.map((plan) => toPlan(environmentId, plan)),
            resource: customer && resourceId && (await isKnown(context, customer.refId, resourceId)) ? { resourceId } : null,
        };
    }
};
__decorate([
    Query(() => Paywall, {
        description: 'What is offered: the plans of a product with the prices that hold, and what the customer has of them.',
    }),
    __param(0, Arg('input', () => GetPaywallInput, { description: 'Which product, and to whom.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [GetPaywallInput, Object]),
    __metadata("design:returntype", Promise)
], PaywallResolver.prototype, "paywall", null);
PaywallResolver = __decorate([
    Resolver()
], PaywallResolver);
export { PaywallResolver };
async function isKnown({ app, identity }, customerId, resourceId) {
    const { deniedReason } = await app.entitlements.state(identity.environmentId, customerId, resourceId);
    return deniedReason !== 'CustomerResourceNotFound';
}
function toPricePoint({ planRefId, amount, featureRefId: _, ...point }, feature) {
    return { ...point, amount: decimal.toNumber(amount), feature, planId: planRefId };
}
//# sourceMappingURL=paywall.resolver.js.map