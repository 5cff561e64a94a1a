var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Field, ObjectType } from 'type-graphql';
import * as enums from './enums.js';
import { Plan, toPlan } from './package.types.js';
import { DateTime } from './scalars.js';
import { CustomerResource, SubscriptionAddon, TrialConfiguration, toSubscriptionAddon } from './subscription.types.js';
let SubscriptionQuery = class SubscriptionQuery {
    /** What it was made of, for the fields that `SubscriptionQueryResolver` answers. Not in the schema. */
    source;
    addons;
    plan;
    pricingType;
    resource;
    startDate;
    status;
    subscriptionId;
    trialConfiguration;
    trialEndDate;
};
__decorate([
    Field(() => [SubscriptionAddon], { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionQuery.prototype, "addons", void 0);
__decorate([
    Field(() => Plan),
    __metadata("design:type", Plan)
], SubscriptionQuery.prototype, "plan", void 0);
__decorate([
    Field(() => enums.PricingType),
    __metadata("design:type", Object)
], SubscriptionQuery.prototype, "pricingType", void 0);
__decorate([
    Field(() => CustomerResource, { nullable: true, description: 'Null: the customer itself.' }),
    __metadata("design:type", Object)
], SubscriptionQuery.prototype, "resource", void 0);
__decorate([
    Field(() => DateTime),
    __metadata("design:type", Number)
], SubscriptionQuery.prototype, "startDate", void 0);
__decorate([
    Field(() => enums.SubscriptionStatus),
    __metadata("design:type", Object)
], SubscriptionQuery.prototype, "status", void 0);
__decorate([
    Field(() => String, { description: 'The host application’s identifier; ours when it gave none.' }),
    __metadata("design:type", String)
], SubscriptionQuery.prototype, "subscriptionId", void 0);
__decorate([
    Field(() => TrialConfiguration, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionQuery.prototype, "trialConfiguration", void 0);
__decorate([
    Field(() => DateTime, { nullable: true }),
    __metadata("design:type", Object)
], SubscriptionQuery.prototype, "trialEndDate", void 0);
SubscriptionQuery = __decorate([
    ObjectType({ simpleResolvers: true, description: 'A subscription as the list of subscriptions has it, with its status of now.' })
], SubscriptionQuery);
export { SubscriptionQuery };
export function toSubscriptionQuery(source) {
    const { environmentId, addons, plan, pricingType, refId, resource, startDate, status, trialEndBehavior, trialEndDate } = source;
    return {
        source,
        addons: addons.map((addon) => toSubscriptionAddon(environmentId, addon)),
        plan: toPlan(environmentId, plan),
        pricingType,
        resource: resource && { resourceId: resource.refId },
        startDate,
        status,
        subscriptionId: refId,
        trialConfiguration: trialEndBehavior && { trialEndBehavior },
        trialEndDate,
    };
}
//# sourceMappingURL=subscription-query.types.js.map