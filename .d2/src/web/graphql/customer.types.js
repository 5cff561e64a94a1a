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
import { AlwaysNull, ExperimentInfo } from './always-null.js';
import * as enums from './enums.js';
import { DateTime, Json } from './scalars.js';
let Customer = class Customer {
    /** Ours; not in the schema. */
    couponId;
    additionalMetaData;
    awsMarketplaceCustomerId;
    billingCurrency;
    billingId;
    billingLinkUrl;
    createdAt;
    crmHubspotCompanyId;
    crmHubspotCompanyUrl;
    crmId;
    customerId;
    deletedAt;
    email;
    environmentId;
    excludeFromExperiment;
    experimentInfo;
    id;
    name;
    refId;
    salesforceId;
    updatedAt;
};
__decorate([
    Field(() => Json, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "additionalMetaData", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "awsMarketplaceCustomerId", void 0);
__decorate([
    Field(() => enums.Currency, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "billingCurrency", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "billingId", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Customer.prototype, "billingLinkUrl", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "createdAt", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Customer.prototype, "crmHubspotCompanyId", void 0);
__decorate([
    AlwaysNull(() => String),
    __metadata("design:type", void 0)
], Customer.prototype, "crmHubspotCompanyUrl", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "crmId", void 0);
__decorate([
    Field(() => String, { simple: true, description: 'The identifier that the host application gave.' }),
    __metadata("design:type", String)
], Customer.prototype, "customerId", void 0);
__decorate([
    Field(() => DateTime, { nullable: true, simple: true, description: 'When the customer was archived.' }),
    __metadata("design:type", Object)
], Customer.prototype, "deletedAt", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "email", void 0);
__decorate([
    Field(() => String, { simple: true }),
    __metadata("design:type", String)
], Customer.prototype, "environmentId", void 0);
__decorate([
    AlwaysNull(() => Boolean),
    __metadata("design:type", void 0)
], Customer.prototype, "excludeFromExperiment", void 0);
__decorate([
    AlwaysNull(() => ExperimentInfo),
    __metadata("design:type", void 0)
], Customer.prototype, "experimentInfo", void 0);
__decorate([
    Field(() => String, { simple: true, description: 'Our identifier.' }),
    __metadata("design:type", String)
], Customer.prototype, "id", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "name", void 0);
__decorate([
    Field(() => String, { simple: true, description: 'The older name of customerId.' }),
    __metadata("design:type", String)
], Customer.prototype, "refId", void 0);
__decorate([
    Field(() => String, { nullable: true, simple: true }),
    __metadata("design:type", Object)
], Customer.prototype, "salesforceId", void 0);
__decorate([
    Field(() => DateTime, { simple: true }),
    __metadata("design:type", Number)
], Customer.prototype, "updatedAt", void 0);
Customer = __decorate([
    ObjectType({ description: 'Whom the host application provisions.' })
], Customer);
export { Customer };
let SubscriptionPricingTypeStatistics = class SubscriptionPricingTypeStatistics {
    pricingType;
    totalCount;
};
__decorate([
    Field(() => enums.PricingType),
    __metadata("design:type", Object)
], SubscriptionPricingTypeStatistics.prototype, "pricingType", void 0);
__decorate([
    Field(() => Float),
    __metadata("design:type", Number)
], SubscriptionPricingTypeStatistics.prototype, "totalCount", void 0);
SubscriptionPricingTypeStatistics = __decorate([
    ObjectType({ simpleResolvers: true, description: 'How many subscriptions are in force, by what they cost.' })
], SubscriptionPricingTypeStatistics);
export { SubscriptionPricingTypeStatistics };
let CustomerStatistics = class CustomerStatistics {
    activeSubscriptionsByPricingType;
};
__decorate([
    Field(() => [SubscriptionPricingTypeStatistics], { nullable: true, description: 'Those that occur.' }),
    __metadata("design:type", Object)
], CustomerStatistics.prototype, "activeSubscriptionsByPricingType", void 0);
CustomerStatistics = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Numbers about a customer.' })
], CustomerStatistics);
export { CustomerStatistics };
let EligibleForTrial = class EligibleForTrial {
    eligible;
    productId;
    productRefId;
};
__decorate([
    Field(() => Boolean),
    __metadata("design:type", Boolean)
], EligibleForTrial.prototype, "eligible", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Our identifier.' }),
    __metadata("design:type", Object)
], EligibleForTrial.prototype, "productId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The identifier that the catalog gave it.' }),
    __metadata("design:type", Object)
], EligibleForTrial.prototype, "productRefId", void 0);
EligibleForTrial = __decorate([
    ObjectType({ simpleResolvers: true, description: 'Whether a customer would get a trial of a product: once, and not after it paid.' })
], EligibleForTrial);
export { EligibleForTrial };
let TrialedPlan = class TrialedPlan {
    planId;
    planRefId;
    productId;
    productRefId;
};
__decorate([
    Field(() => String, { nullable: true, description: 'Our identifier.' }),
    __metadata("design:type", Object)
], TrialedPlan.prototype, "planId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The identifier that the catalog gave it.' }),
    __metadata("design:type", Object)
], TrialedPlan.prototype, "planRefId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'Our identifier.' }),
    __metadata("design:type", Object)
], TrialedPlan.prototype, "productId", void 0);
__decorate([
    Field(() => String, { nullable: true, description: 'The identifier that the catalog gave it.' }),
    __metadata("design:type", Object)
], TrialedPlan.prototype, "productRefId", void 0);
TrialedPlan = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A plan that a customer has had a trial of.' })
], TrialedPlan);
export { TrialedPlan };
/** Without what is loaded only when it is asked for; `CustomerResolver` answers that. */
export function toCustomer({ archivedAt, timeZone: _, ...customer }) {
    return { ...customer, customerId: customer.refId, deletedAt: archivedAt };
}
//# sourceMappingURL=customer.types.js.map