import { Arg, Mutation, Resolver } from 'type-graphql'
import { notSupportedYet } from './not-yet.js'
import { ApplySubscriptionInput, ProvisionSubscription, SubscriptionInput } from './subscription.inputs.js'
import { ApplySubscription, CustomerSubscription, ProvisionSubscriptionResult } from './subscription.types.js'
import {
  DelegateSubscriptionToCustomerInput,
  ImportSubscriptionsBulkInput,
  SubscriptionMigrationInput,
  SubscriptionUpdateScheduleCancellationInput,
  TransferSubscriptionInput,
  TransferSubscriptionToResourceInput,
  UpdateSubscriptionInput,
} from './subscription-change.inputs.js'

/** Older ways to subscribe, and changes of a subscription in force. */
@Resolver()
export class SubscriptionChangeResolver {
  @Mutation(() => ProvisionSubscriptionResult, { description: 'The older form of provisionSubscriptionV2.' })
  provisionSubscription(
    @Arg('input', () => ProvisionSubscription, { description: 'The subscription.' }) _input: ProvisionSubscription,
  ): ProvisionSubscriptionResult {
    throw notSupportedYet('provisionSubscription')
  }

  @Mutation(() => ApplySubscription, {
    description: 'Subscribes a customer to a plan, or changes the subscription that it has to the plan’s product.',
  })
  applySubscription(
    @Arg('input', () => ApplySubscriptionInput, { description: 'The plan and what is bought with it.' }) _input: ApplySubscriptionInput,
  ): ApplySubscription {
    throw notSupportedYet('applySubscription')
  }

  @Mutation(() => CustomerSubscription, { description: 'Subscribes a customer to a plan; the oldest form of provisionSubscriptionV2.' })
  createSubscription(
    @Arg('subscription', () => SubscriptionInput, { description: 'The subscription.' }) _subscription: SubscriptionInput,
  ): CustomerSubscription {
    throw notSupportedYet('createSubscription')
  }

  @Mutation(() => CustomerSubscription, { description: 'Changes what is bought with a subscription; not its plan.' })
  updateOneSubscription(
    @Arg('input', () => UpdateSubscriptionInput, { description: 'What changes.' }) _input: UpdateSubscriptionInput,
  ): CustomerSubscription {
    throw notSupportedYet('updateOneSubscription')
  }

  @Mutation(() => String, { description: 'Takes back the scheduled updates of a subscription. Answers its identifier.' })
  cancelSchedule(
    @Arg('input', () => SubscriptionUpdateScheduleCancellationInput, { description: 'Whose updates.' })
    _input: SubscriptionUpdateScheduleCancellationInput,
  ): string {
    throw notSupportedYet('cancelSchedule')
  }

  @Mutation(() => CustomerSubscription, { description: 'Moves a subscription to the latest version of its plan and add-ons.' })
  migrateSubscriptionToLatest(
    @Arg('input', () => SubscriptionMigrationInput, { description: 'Which subscription, and when.' }) _input: SubscriptionMigrationInput,
  ): CustomerSubscription {
    throw notSupportedYet('migrateSubscriptionToLatest')
  }

  @Mutation(() => CustomerSubscription, { description: 'Moves the subscription of one resource of a customer to another of its resources.' })
  transferSubscription(
    @Arg('input', () => TransferSubscriptionInput, { description: 'From where to where.' }) _input: TransferSubscriptionInput,
  ): CustomerSubscription {
    throw notSupportedYet('transferSubscription')
  }

  @Mutation(() => CustomerSubscription, { description: 'Binds a subscription to a resource of its customer, or to the customer itself.' })
  transferSubscriptionToResource(
    @Arg('input', () => TransferSubscriptionToResourceInput, { description: 'Which subscription, and where to.' })
    _input: TransferSubscriptionToResourceInput,
  ): CustomerSubscription {
    throw notSupportedYet('transferSubscriptionToResource')
  }

  @Mutation(() => CustomerSubscription, {
    description: 'Says which customer pays for a subscription. What it entitles to stays with its own customer.',
  })
  delegateSubscriptionToCustomer(
    @Arg('input', () => DelegateSubscriptionToCustomerInput, { description: 'Which subscription, and who pays.' })
    _input: DelegateSubscriptionToCustomerInput,
  ): CustomerSubscription {
    throw notSupportedYet('delegateSubscriptionToCustomer')
  }

  @Mutation(() => String, { nullable: true, description: 'Takes over subscriptions that exist elsewhere, in the background. Answers the job’s id.' })
  importSubscriptionsBulk(
    @Arg('input', () => ImportSubscriptionsBulkInput, { description: 'The subscriptions.' }) _input: ImportSubscriptionsBulkInput,
  ): string | null {
    throw notSupportedYet('importSubscriptionsBulk')
  }
}
