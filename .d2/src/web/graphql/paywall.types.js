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
import { AlwaysNull } from './always-null.js';
import { Customer } from './customer.types.js';
import * as enums from './enums.js';
import { Feature } from './feature.types.js';
import { Plan } from './package.types.js';
import { CustomerResource, CustomerSubscription } from './subscription.types.js';
let FontVariant = class FontVariant {
    fontSize;
    fontWeight;
};
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], FontVariant.prototype, "fontSize", void 0);
__decorate([
    Field(() => enums.FontWeight, { nullable: true }),
    __metadata("design:type", Object)
], FontVariant.prototype, "fontWeight", void 0);
FontVariant = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A size and weight of letters.' })
], FontVariant);
export { FontVariant };
let TypographyConfiguration = class TypographyConfiguration {
    body;
    fontFamily;
    h1;
    h2;
    h3;
};
__decorate([
    Field(() => FontVariant, { nullable: true }),
    __metadata("design:type", Object)
], TypographyConfiguration.prototype, "body", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], TypographyConfiguration.prototype, "fontFamily", void 0);
__decorate([
    Field(() => FontVariant, { nullable: true }),
    __metadata("design:type", Object)
], TypographyConfiguration.prototype, "h1", void 0);
__decorate([
    Field(() => FontVariant, { nullable: true }),
    __metadata("design:type", Object)
], TypographyConfiguration.prototype, "h2", void 0);
__decorate([
    Field(() => FontVariant, { nullable: true }),
    __metadata("design:type", Object)
], TypographyConfiguration.prototype, "h3", void 0);
TypographyConfiguration = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Letters of a paywall widget.' })
], TypographyConfiguration);
export { TypographyConfiguration };
let PaywallLayoutConfiguration = class PaywallLayoutConfiguration {
    alignment;
    planMargin;
    planPadding;
    planWidth;
};
__decorate([
    Field(() => enums.Alignment, { nullable: true }),
    __metadata("design:type", Object)
], PaywallLayoutConfiguration.prototype, "alignment", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PaywallLayoutConfiguration.prototype, "planMargin", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PaywallLayoutConfiguration.prototype, "planPadding", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PaywallLayoutConfiguration.prototype, "planWidth", void 0);
PaywallLayoutConfiguration = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Sizes of a paywall widget.' })
], PaywallLayoutConfiguration);
export { PaywallLayoutConfiguration };
let PaywallColorsPalette = class PaywallColorsPalette {
    backgroundColor;
    borderColor;
    currentPlanBackground;
    primary;
    textColor;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PaywallColorsPalette.prototype, "backgroundColor", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PaywallColorsPalette.prototype, "borderColor", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PaywallColorsPalette.prototype, "currentPlanBackground", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PaywallColorsPalette.prototype, "primary", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PaywallColorsPalette.prototype, "textColor", void 0);
PaywallColorsPalette = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Colors of a paywall widget.' })
], PaywallColorsPalette);
export { PaywallColorsPalette };
let PaywallConfiguration = class PaywallConfiguration {
    customCss;
    layout;
    palette;
    typography;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PaywallConfiguration.prototype, "customCss", void 0);
__decorate([
    Field(() => PaywallLayoutConfiguration, { nullable: true }),
    __metadata("design:type", Object)
], PaywallConfiguration.prototype, "layout", void 0);
__decorate([
    Field(() => PaywallColorsPalette, { nullable: true }),
    __metadata("design:type", Object)
], PaywallConfiguration.prototype, "palette", void 0);
__decorate([
    Field(() => TypographyConfiguration, { nullable: true }),
    __metadata("design:type", Object)
], PaywallConfiguration.prototype, "typography", void 0);
PaywallConfiguration = __decorate([
    ObjectType({ simpleResolvers: true, description: 'How a paywall widget looks. Tollgate keeps no such settings.' })
], PaywallConfiguration);
export { PaywallConfiguration };
let PaywallCurrency = class PaywallCurrency {
    code;
    symbol;
};
__decorate([
    Field(() => enums.Currency, { description: 'ISO 4217.' }),
    __metadata("design:type", Object)
], PaywallCurrency.prototype, "code", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], PaywallCurrency.prototype, "symbol", void 0);
PaywallCurrency = __decorate([
    ObjectType({ simpleResolvers: true, description: 'The currency that prices are shown in.' })
], PaywallCurrency);
export { PaywallCurrency };
let PaywallPricePoint = class PaywallPricePoint {
    additionalChargesMayApply;
    amount;
    billingCountryCode;
    billingPeriod;
    currency;
    feature;
    planId;
};
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Whether usage or further units cost more.' }),
    __metadata("design:type", Object)
], PaywallPricePoint.prototype, "additionalChargesMayApply", void 0);
__decorate([
    Field(() => Float, { description: 'Per month, with the fewest units that can be bought.' }),
    __metadata("design:type", Number)
], PaywallPricePoint.prototype, "amount", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The country that it is quoted for; null: any.' }),
    __metadata("design:type", Object)
], PaywallPricePoint.prototype, "billingCountryCode", void 0);
__decorate([
    Field(() => enums.BillingPeriod),
    __metadata("design:type", Object)
], PaywallPricePoint.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => enums.Currency),
    __metadata("design:type", Object)
], PaywallPricePoint.prototype, "currency", void 0);
__decorate([
    Field(() => Feature, { nullable: true, description: 'Of a price per unit: what is counted.' }),
    __metadata("design:type", Object)
], PaywallPricePoint.prototype, "feature", void 0);
__decorate([
    Field(() => String, { description: 'The identifier that the catalog gave the plan.' }),
    __metadata("design:type", String)
], PaywallPricePoint.prototype, "planId", void 0);
PaywallPricePoint = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a plan costs at least, per month, in one billing period.' })
], PaywallPricePoint);
export { PaywallPricePoint };
let Paywall = class Paywall {
    activeSubscriptions;
    configuration;
    currency;
    customer;
    paywallCalculatedPricePoints;
    plans;
    resource;
};
__decorate([
    Field(() => [CustomerSubscription], { nullable: true, description: 'Of the customer or resource: those that give access now.' }),
    __metadata("design:type", Object)
], Paywall.prototype, "activeSubscriptions", void 0);
__decorate([
    AlwaysNull(() => PaywallConfiguration),
    __metadata("design:type", void 0)
], Paywall.prototype, "configuration", void 0);
__decorate([
    Field(() => PaywallCurrency),
    __metadata("design:type", PaywallCurrency)
], Paywall.prototype, "currency", void 0);
__decorate([
    Field(() => Customer, { nullable: true }),
    __metadata("design:type", Object)
], Paywall.prototype, "customer", void 0);
__decorate([
    Field(() => [PaywallPricePoint], { nullable: true, description: 'Of each plan, for each billing period.' }),
    __metadata("design:type", Object)
], Paywall.prototype, "paywallCalculatedPricePoints", void 0);
__decorate([
    Field(() => [Plan], { nullable: true, description: 'Those that are sold now, the cheapest first.' }),
    __metadata("design:type", Object)
], Paywall.prototype, "plans", void 0);
__decorate([
    Field(() => CustomerResource, { nullable: true }),
    __metadata("design:type", Object)
], Paywall.prototype, "resource", void 0);
Paywall = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a customer, or anybody, can be offered.' })
], Paywall);
export { Paywall };
//# sourceMappingURL=paywall.types.js.map