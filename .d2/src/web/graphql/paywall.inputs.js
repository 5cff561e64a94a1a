var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, InputType } from 'type-graphql';
import * as enums from './enums.js';
let GetPaywallInput = class GetPaywallInput {
    billingCountryCode;
    context;
    customerId;
    environmentId;
    fetchAllCountriesPrices;
    includeHiddenPlans;
    offerId;
    productId;
    resourceId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2: chooses currency and prices of that country.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "billingCountryCode", void 0);
__decorate([
    Field(() => enums.WidgetType, { nullable: true, description: 'The widget that asks; answers are the same for all.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "context", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Also answers what the customer has.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "customerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Must be the environment of the key.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "environmentId", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Answers the prices of every country and currency.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "fetchAllCountriesPrices", void 0);
__decorate([
    Field(() => Boolean, { nullable: true, description: 'Tollgate hides no plans; accepted for older clients.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "includeHiddenPlans", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Tollgate has no offers: it is refused.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "offerId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The identifier that the catalog gave the product; absent: the oldest product.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "productId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'What this resource of the customer has.' }),
    __metadata("design:type", Object)
], GetPaywallInput.prototype, "resourceId", void 0);
GetPaywallInput = __decorate([
    InputType({ description: 'Which product is offered, and to whom.' })
], GetPaywallInput);
export { GetPaywallInput };
//# sourceMappingURL=paywall.inputs.js.map