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
let MoneyInputDto = class MoneyInputDto {
    amount;
    currency;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], MoneyInputDto.prototype, "amount", void 0);
__decorate([
    Field(() => enums.Currency, { nullable: true, description: 'ISO 4217.' }),
    __metadata("design:type", Object)
], MoneyInputDto.prototype, "currency", void 0);
MoneyInputDto = __decorate([
    InputType({ description: 'An amount in whole units of a currency: 12.5, not 1250.' })
], MoneyInputDto);
export { MoneyInputDto };
let PriceTierInput = class PriceTierInput {
    flatPrice;
    unitPrice;
    upTo;
};
__decorate([
    Field(() => MoneyInputDto, { nullable: true, description: 'Charged once, when the tier is reached.' }),
    __metadata("design:type", Object)
], PriceTierInput.prototype, "flatPrice", void 0);
__decorate([
    Field(() => MoneyInputDto, { nullable: true }),
    __metadata("design:type", Object)
], PriceTierInput.prototype, "unitPrice", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The last quantity of the tier, included; absent in the last tier.' }),
    __metadata("design:type", Object)
], PriceTierInput.prototype, "upTo", void 0);
PriceTierInput = __decorate([
    InputType({ description: 'A step of a tiered price.' })
], PriceTierInput);
export { PriceTierInput };
let CreditRateInput = class CreditRateInput {
    amount;
    costFormula;
    currencyId;
    customCurrencyId;
};
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], CreditRateInput.prototype, "amount", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CreditRateInput.prototype, "costFormula", void 0);
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], CreditRateInput.prototype, "currencyId", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], CreditRateInput.prototype, "customCurrencyId", void 0);
CreditRateInput = __decorate([
    InputType({ description: 'What a unit costs in credits. Tollgate has none: it is refused.' })
], CreditRateInput);
export { CreditRateInput };
let PriceOverrideInput = class PriceOverrideInput {
    addonId;
    baseCharge;
    blockSize;
    creditGrantCadence;
    creditRate;
    currencyId;
    featureId;
    price;
    tiers;
};
__decorate([
    Field(() => String, { nullable: true, description: 'The add-on’s identifier in the catalog.' }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "addonId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Replaces the flat fee.' }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "baseCharge", void 0);
__decorate([
    Field(() => Float, { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "blockSize", void 0);
__decorate([
    Field(() => enums.CreditGrantCadence, { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "creditGrantCadence", void 0);
__decorate([
    Field(() => CreditRateInput, { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "creditRate", void 0);
__decorate([
    Field(() => String, { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "currencyId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "featureId", void 0);
__decorate([
    Field(() => MoneyInputDto, { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "price", void 0);
__decorate([
    Field(() => [PriceTierInput], { nullable: true }),
    __metadata("design:type", Object)
], PriceOverrideInput.prototype, "tiers", void 0);
PriceOverrideInput = __decorate([
    InputType({ description: 'A price agreed for this subscription, in place of the catalog’s.' })
], PriceOverrideInput);
export { PriceOverrideInput };
let SubscriptionMinimumSpendValueInput = class SubscriptionMinimumSpendValueInput {
    minimum;
};
__decorate([
    Field(() => MoneyInputDto, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionMinimumSpendValueInput.prototype, "minimum", void 0);
SubscriptionMinimumSpendValueInput = __decorate([
    InputType({ description: 'What is charged at least in a billing period.' })
], SubscriptionMinimumSpendValueInput);
export { SubscriptionMinimumSpendValueInput };
let BudgetConfigurationInput = class BudgetConfigurationInput {
    hasSoftLimit;
    limit;
};
__decorate([
    Field(() => Boolean, {
        description: 'True: only budgetExceeded tells that it is used up. False: access is denied then, with BudgetExceeded.',
    }),
    __metadata("design:type", Boolean)
], BudgetConfigurationInput.prototype, "hasSoftLimit", void 0);
__decorate([
    Field(() => Float, { description: 'In whole units of the currency that the subscription is charged in, before discounts and tax.' }),
    __metadata("design:type", Number)
], BudgetConfigurationInput.prototype, "limit", void 0);
BudgetConfigurationInput = __decorate([
    InputType({ description: 'What usage-based charges may come to in a billing period.' })
], BudgetConfigurationInput);
export { BudgetConfigurationInput };
//# sourceMappingURL=price.inputs.js.map