import { Arg, Ctx, Mutation, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import {
  EstimateSubscriptionInput,
  EstimateSubscriptionUpdateInput,
  fromEstimateSubscriptionInput,
  fromEstimateSubscriptionUpdateInput,
  fromPreviewSubscriptionInput,
  PreviewNextInvoiceInput,
  PreviewSubscriptionInput,
} from './estimate.inputs.js'
import { SubscriptionPreview, SubscriptionPreviewV2 } from './estimate.types.js'
import { toSubscriptionPreview, toSubscriptionPreviewV2 } from './estimate-answers.js'
import { toInvoicePreview } from './invoice-preview.js'
import { SubscriptionInvoicePreview } from './invoice-preview.types.js'

/** What a subscription or a change of one would cost. Mutations by name only: nothing changes. */
@Resolver()
export class EstimateResolver {
  @Mutation(() => SubscriptionPreview, { description: 'What a subscription would cost. Changes nothing.' })
  async estimateSubscription(
    @Arg('input', () => EstimateSubscriptionInput, { description: 'The subscription.' }) input: EstimateSubscriptionInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<SubscriptionPreview> {
    return toSubscriptionPreview(await app.estimates.provision(identity.environmentId, fromEstimateSubscriptionInput(input)))
  }

  @Mutation(() => SubscriptionPreview, { description: 'What a change of a subscription would cost. Changes nothing.' })
  async estimateSubscriptionUpdate(
    @Arg('input', () => EstimateSubscriptionUpdateInput, { description: 'The change.' }) input: EstimateSubscriptionUpdateInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<SubscriptionPreview> {
    return toSubscriptionPreview(await app.estimates.update(identity.environmentId, fromEstimateSubscriptionUpdateInput(input)))
  }

  @Mutation(() => SubscriptionPreviewV2, {
    description: 'What a subscription would cost at once and in each billing period. Changes nothing.',
  })
  async previewSubscription(
    @Arg('input', () => PreviewSubscriptionInput, { description: 'The subscription.' }) input: PreviewSubscriptionInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<SubscriptionPreviewV2> {
    return toSubscriptionPreviewV2(await app.estimates.provision(identity.environmentId, fromPreviewSubscriptionInput(input)))
  }

  @Mutation(() => SubscriptionInvoicePreview, { description: 'The next invoice of a subscription, as of now. Changes nothing.' })
  async previewNextInvoice(
    @Arg('input', () => PreviewNextInvoiceInput, { description: 'Which subscription.' }) { subscriptionId }: PreviewNextInvoiceInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<SubscriptionInvoicePreview> {
    return toInvoicePreview(await app.estimates.nextInvoice(identity.environmentId, subscriptionId))
  }
}
