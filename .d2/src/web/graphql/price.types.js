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
let Money = class Money {
    amount;
    currency;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], Money.prototype, "amount", void 0);
__decorate([
    Field(() => enums.Currency),
    __metadata("design:type", Object)
], Money.prototype, "currency", void 0);
Money = __decorate([
    ObjectType({ simpleResolvers: true, description: 'An amount in whole units of a currency: 12.5, not 1250.' })
], Money);
export { Money };
let PriceTier = class PriceTier {
    flatPrice;
    unitPrice;
    upTo;
};
__decorate([
    Field(() => Money, { nullable: true, description: 'Charged once, when the tier is reached.' }),
    __metadata("design:type", Object)
], PriceTier.prototype, "flatPrice", void 0);
__decorate([
    Field(() => Money, { nullable: true }),
    __metadata("design:type", Object)
], PriceTier.prototype, "unitPrice", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The last quantity of the tier, included; null in the last tier.' }),
    __metadata("design:type", Object)
], PriceTier.prototype, "upTo", void 0);
PriceTier = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A step of a tiered price.' })
], PriceTier);
export { PriceTier };
let Units = class Units {
    plural;
    singular;
};
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Units.prototype, "plural", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Units.prototype, "singular", void 0);
Units = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What units are called.' })
], Units);
export { Units };
let CustomCurrency = class CustomCurrency {
    currencyId;
    displayName;
    symbol;
    units;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], CustomCurrency.prototype, "currencyId", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], CustomCurrency.prototype, "displayName", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CustomCurrency.prototype, "symbol", void 0);
__decorate([
    Field(() => Units, { nullable: true }),
    __metadata("design:type", Object)
], CustomCurrency.prototype, "units", void 0);
CustomCurrency = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A currency of credits. There are no credits in Tollgate.' })
], CustomCurrency);
export { CustomCurrency };
let CreditRate = class CreditRate {
    amount;
    currencyId;
    customCurrencyId;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], CreditRate.prototype, "amount", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], CreditRate.prototype, "currencyId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CreditRate.prototype, "customCurrencyId", void 0);
CreditRate = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a unit costs in credits. There are no credits in Tollgate.' })
], CreditRate);
export { CreditRate };
let Price = class Price {
    /** Of the version that it belongs to, for the fields that `PriceResolver` answers. Not in the schema. */
    versionId;
    featureRefId;
    billingCadence;
    billingCountryCode;
    billingId;
    billingModel;
    billingPeriod;
    blockSize;
    creditGrantCadence;
    creditRate;
    crmId;
    crmLinkUrl;
    customCurrency;
    environmentId;
    featureId;
    id;
    isOverridePrice;
    maxUnitQuantity;
    minUnitQuantity;
    packageId;
    price;
    resetPeriod;
    tiers;
    tiersMode;
    topUpCustomCurrencyId;
};
__decorate([
    Field(() => enums.BillingCadence),
    __metadata("design:type", Object)
], Price.prototype, "billingCadence", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2; null: every country without a price of its own.' }),
    __metadata("design:type", Object)
], Price.prototype, "billingCountryCode", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Price.prototype, "billingId", void 0);
__decorate([
    Field(() => enums.BillingModel),
    __metadata("design:type", Object)
], Price.prototype, "billingModel", void 0);
__decorate([
    Field(() => enums.BillingPeriod),
    __metadata("design:type", Object)
], Price.prototype, "billingPeriod", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'Units are sold in blocks of this size.' }),
    __metadata("design:type", Object)
], Price.prototype, "blockSize", void 0);
__decorate([
    AlwaysNull(() => enums.CreditGrantCadence),
    __metadata("design:type", void 0)
], Price.prototype, "creditGrantCadence", void 0);
__decorate([
    AlwaysNull(() => CreditRate),
    __metadata("design:type", void 0)
], Price.prototype, "creditRate", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Price.prototype, "crmId", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Price.prototype, "crmLinkUrl", void 0);
__decorate([
    AlwaysNull(() => CustomCurrency),
    __metadata("design:type", void 0)
], Price.prototype, "customCurrency", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], Price.prototype, "environmentId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Our identifier of the feature.' }),
    __metadata("design:type", Object)
], Price.prototype, "featureId", void 0);
__decorate([
    Field(() => String, { description: 'Our identifier.' }),
    __metadata("design:type", String)
], Price.prototype, "id", void 0);
__decorate([
    Field(() => Boolean, { description: 'Whether the price was agreed for one subscription only.' }),
    __metadata("design:type", Boolean)
], Price.prototype, "isOverridePrice", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], Price.prototype, "maxUnitQuantity", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], Price.prototype, "minUnitQuantity", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The version of the plan or add-on that it belongs to.' }),
    __metadata("design:type", Object)
], Price.prototype, "packageId", void 0);
__decorate([
    Field(() => Money, { nullable: true, description: 'Per period, unit or block; null when tiers carry the amounts.' }),
    __metadata("design:type", Object)
], Price.prototype, "price", void 0);
__decorate([
    AlwaysNull(() => enums.EntitlementResetPeriod),
    __metadata("design:type", void 0)
], Price.prototype, "resetPeriod", void 0);
__decorate([
    Field(() => [PriceTier], { nullable: true }),
    __metadata("design:type", Object)
], Price.prototype, "tiers", void 0);
__decorate([
    Field(() => enums.TiersMode, { nullable: true }),
    __metadata("design:type", Object)
], Price.prototype, "tiersMode", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Price.prototype, "topUpCustomCurrencyId", void 0);
Price = __decorate([
    ObjectType({ simpleResolvers: true, description: 'What a plan or add-on costs in one billing period, currency and country.' })
], Price);
export { Price };
/** Null stays null. */
export const toNumber = (value) => (value === null ? null : decimal.toNumber(value));
export function toPrice(environmentId, versionId, price) {
    const { id, billingCountryCode, billingModel, billingPeriod, blockSize, currency, featureId, maxUnitQuantity, minUnitQuantity, tiersMode, } = price;
    const money = (amount) => (amount === null ? null : { amount: decimal.toNumber(amount), currency });
    return {
        id,
        versionId,
        environmentId,
        packageId: versionId,
        billingCadence: 'RECURRING',
        billingCountryCode,
        billingModel,
        billingPeriod,
        blockSize,
        featureId,
        featureRefId: price.featureRefId,
        isOverridePrice: false,
        maxUnitQuantity,
        minUnitQuantity,
        price: money(price.amount),
        tiers: price.tiers?.map((tier) => ({ flatPrice: money(tier.flatPrice), unitPrice: money(tier.unitPrice), upTo: toNumber(tier.upTo) })) ??
            null,
        tiersMode,
    };
}
//# sourceMappingURL=price.types.js.map