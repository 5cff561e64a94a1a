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
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { EstimateSubscriptionInput, EstimateSubscriptionUpdateInput, fromEstimateSubscriptionInput, fromEstimateSubscriptionUpdateInput, fromPreviewSubscriptionInput, PreviewNextInvoiceInput, PreviewSubscriptionInput, } from './estimate.inputs.js';
import { SubscriptionPreview, SubscriptionPreviewV2 } from './estimate.types.js';
import { toSubscriptionPreview, toSubscriptionPreviewV2 } from './estimate-answers.js';
import { SubscriptionInvoicePreview } from './invoice.types.js';
import { toInvoicePreview } from './invoice-preview.js';
/** What a subscription or a change of one would cost. Mutations by name only: nothing changes. */
let EstimateResolver = class EstimateResolver {
    async estimateSubscription(input, { app, identity }) {
        return toSubscriptionPreview(await app.estimates.provision(identity.environmentId, fromEstimateSubscriptionInput(input)));
    }
    async estimateSubscriptionUpdate(input, { app, identity }) {
        return toSubscriptionPreview(await app.estimates.update(identity.environmentId, fromEstimateSubscriptionUpdateInput(input)));
    }
    async previewSubscription(input, { app, identity }) {
        return toSubscriptionPreviewV2(await app.estimates.provision(identity.environmentId, fromPreviewSubscriptionInput(input)));
    }
    async previewNextInvoice({ subscriptionId }, { app, identity }) {
        return toInvoicePreview(await app.estimates.nextInvoice(identity.environmentId, subscriptionId));
    }
};
__decorate([
    Mutation(() => SubscriptionPreview, { description: 'What a subscription would cost. Changes nothing.' }),
    __param(0, Arg('input', () => EstimateSubscriptionInput, { description: 'The subscription.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [EstimateSubscriptionInput, Object]),
    __metadata("design:returntype", Promise)
], EstimateResolver.prototype, "estimateSubscription", null);
__decorate([
    Mutation(() => SubscriptionPreview, { description: 'What a change of a subscription would cost. Changes nothing.' }),
    __param(0, Arg('input', () => EstimateSubscriptionUpdateInput, { description: 'The change.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [EstimateSubscriptionUpdateInput, Object]),
    __metadata("design:returntype", Promise)
], EstimateResolver.prototype, "estimateSubscriptionUpdate", null);
__decorate([
    Mutation(() => SubscriptionPreviewV2, {
        description: 'What a subscription would cost at once and in each billing period. Changes nothing.',
    }),
    __param(0, Arg('input', () => PreviewSubscriptionInput, { description: 'The subscription.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [PreviewSubscriptionInput, Object]),
    __metadata("design:returntype", Promise)
], EstimateResolver.prototype, "previewSubscription", null);
__decorate([
    Mutation(() => SubscriptionInvoicePreview, { description: 'The next invoice of a subscription, as of now. Changes nothing.' }),
    __param(0, Arg('input', () => PreviewNextInvoiceInput, { description: 'Which subscription.' })),
    __param(1, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [PreviewNextInvoiceInput, Object]),
    __metadata("design:returntype", Promise)
], EstimateResolver.prototype, "previewNextInvoice", null);
EstimateResolver = __decorate([
    Resolver()
], EstimateResolver);
export { EstimateResolver };
//# sourceMappingURL=estimate.resolver.js.map