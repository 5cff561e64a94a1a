import { Arg, Mutation, Resolver } from 'type-graphql'
import {
  EstimateSubscriptionInput,
  EstimateSubscriptionUpdateInput,
  PreviewNextInvoiceInput,
  PreviewSubscriptionInput,
} from './estimate.inputs.js'
import { SubscriptionPreview, SubscriptionPreviewV2 } from './estimate.types.js'
import { SubscriptionInvoicePreview } from './invoice.types.js'
import { notSupportedYet } from './not-yet.js'

/** What a subscription or a change of one would cost. Mutations by name only: nothing changes. */
@Resolver()
export class EstimateResolver {
  @Mutation(() => SubscriptionPreview, { description: 'What a subscription would cost. Changes nothing.' })
  estimateSubscription(
    @Arg('input', () => EstimateSubscriptionInput, { description: 'The subscription.' }) _input: EstimateSubscriptionInput,
  ): SubscriptionPreview {
    throw notSupportedYet('estimateSubscription')
  }

  @Mutation(() => SubscriptionPreview, { description: 'What a change of a subscription would cost. Changes nothing.' })
  estimateSubscriptionUpdate(
    @Arg('input', () => EstimateSubscriptionUpdateInput, { description: 'The change.' }) _input: EstimateSubscriptionUpdateInput,
  ): SubscriptionPreview {
    throw notSupportedYet('estimateSubscriptionUpdate')
  }

  @Mutation(() => SubscriptionPreviewV2, {
    description: 'What a subscription would cost at once and in each billing period. Changes nothing.',
  })
  previewSubscription(
    @Arg('input', () => PreviewSubscriptionInput, { description: 'The subscription.' }) _input: PreviewSubscriptionInput,
  ): SubscriptionPreviewV2 {
    throw notSupportedYet('previewSubscription')
  }

  @Mutation(() => SubscriptionInvoicePreview, { description: 'The next invoice of a subscription, as of now. Changes nothing.' })
  previewNextInvoice(
    @Arg('input', () => PreviewNextInvoiceInput, { description: 'Which subscription.' }) _input: PreviewNextInvoiceInput,
  ): SubscriptionInvoicePreview {
    throw notSupportedYet('previewNextInvoice')
  }
}
