var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, Float, InputType, Int } from 'type-graphql';
import * as enums from './enums.js';
import { DateTime } from './scalars.js';
let SubscriptionAddonInput = class SubscriptionAddonInput {
    addonId;
    quantity;
};
__decorate([
    Field(() => String, { description: 'The add-on’s identifier in the catalog.' }),
    __metadata("design:type", String)
], SubscriptionAddonInput.prototype, "addonId", void 0);
__decorate([
    Field(() => Int, { nullable: true, description: 'Default 1.' }),
    __metadata("design:type", Object)
], SubscriptionAddonInput.prototype, "quantity", void 0);
SubscriptionAddonInput = __decorate([
    InputType({ description: 'An add-on of the subscription.' })
], SubscriptionAddonInput);
export { SubscriptionAddonInput };
let BillableFeatureInput = class BillableFeatureInput {
    featureId;
    quantity;
};
__decorate([
    Field(() => String, { description: 'The feature’s identifier in the catalog.' }),
    __metadata("design:type", String)
], BillableFeatureInput.prototype, "featureId", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], BillableFeatureInput.prototype, "quantity", void 0);
BillableFeatureInput = __decorate([
    InputType({ description: 'How many units of a feature are bought (seats).' })
], BillableFeatureInput);
export { BillableFeatureInput };
let ChargeInput = class ChargeInput {
    id;
    quantity;
    type;
};
__decorate([
    Field(() => String),
    __metadata("design:type", String)
], ChargeInput.prototype, "id", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], ChargeInput.prototype, "quantity", void 0);
__decorate([
    Field(() => enums.ChargeType),
    __metadata("design:type", Object)
], ChargeInput.prototype, "type", void 0);
ChargeInput = __decorate([
    InputType({ description: 'How many units of a feature are bought; the newer form of billableFeatures.' })
], ChargeInput);
export { ChargeInput };
let TrialOverrideConfigurationInput = class TrialOverrideConfigurationInput {
    isTrial;
    trialEndBehavior;
    trialEndDate;
};
__decorate([
    Field(() => Boolean, { description: 'Wins over the plan’s trial.' }),
    __metadata("design:type", Boolean)
], TrialOverrideConfigurationInput.prototype, "isTrial", void 0);
__decorate([
    Field(() => enums.TrialEndBehavior, { nullable: true }),
    __metadata("design:type", Object)
], TrialOverrideConfigurationInput.prototype, "trialEndBehavior", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], TrialOverrideConfigurationInput.prototype, "trialEndDate", void 0);
TrialOverrideConfigurationInput = __decorate([
    InputType({ description: 'Wins over the plan’s trial and over whether the customer may still have one.' })
], TrialOverrideConfigurationInput);
export { TrialOverrideConfigurationInput };
/** What is bought beside the plan. Not a type of the schema. */
let SubscriptionContent = class SubscriptionContent {
    addons;
    billableFeatures;
    charges;
    unitQuantity;
};
__decorate([
    Field(() => [SubscriptionAddonInput], { nullable: true, description: 'The add-ons, with how many of each.' }),
    __metadata("design:type", Object)
], SubscriptionContent.prototype, "addons", void 0);
__decorate([
    Field(() => [BillableFeatureInput], { nullable: true, description: 'Units bought of features that are priced per unit.' }),
    __metadata("design:type", Object)
], SubscriptionContent.prototype, "billableFeatures", void 0);
__decorate([
    Field(() => [ChargeInput], { nullable: true, description: 'The newer form of billableFeatures.' }),
    __metadata("design:type", Object)
], SubscriptionContent.prototype, "charges", void 0);
__decorate([
    Field(() => Float, { nullable: true, description: 'The quantity of the plan’s only price per unit.' }),
    __metadata("design:type", Object)
], SubscriptionContent.prototype, "unitQuantity", void 0);
SubscriptionContent = __decorate([
    InputType()
], SubscriptionContent);
export { SubscriptionContent };
//# sourceMappingURL=subscription-parts.inputs.js.map