import { Arg, Ctx, Mutation, Resolver } from 'type-graphql'
import { collected, collectedProvision } from './collected.js'
import type { RequestContext } from './context.js'
import { toEntitlements } from './entitlement.types.js'
import { toFeatureEntitlements } from './entitlement-v2.types.js'
import {
  ApplySubscriptionInput,
  fromApplySubscriptionInput,
  fromSubscriptionInput,
  ProvisionSubscription,
  SubscriptionInput,
} from './subscription.inputs.js'
import { provision } from './subscription.resolver.js'
import { ApplySubscription, CustomerSubscription, ProvisionSubscriptionResult, toCustomerSubscription } from './subscription.types.js'
import {
  DelegateSubscriptionToCustomerInput,
  fromImportSubscriptionsBulkInput,
  fromUpdateSubscriptionInput,
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
  async provisionSubscription(
    @Arg('input', () => ProvisionSubscription, { description: 'The subscription.' }) input: ProvisionSubscription,
    @Ctx() context: RequestContext,
  ) {
    return provision(context, input)
  }

  @Mutation(() => ApplySubscription, {
    description: 'Subscribes a customer to a plan, or changes the subscription that it has to the plan’s product.',
  })
  async applySubscription(
    @Arg('input', () => ApplySubscriptionInput, { description: 'The plan and what is bought with it.' }) input: ApplySubscriptionInput,
    @Ctx() context: RequestContext,
  ): Promise<ApplySubscription> {
    const { app, identity, now } = context
    const provisioned = await app.subscriptions.provision(identity.environmentId, fromApplySubscriptionInput(input))
    const { subscription, state } = await collectedProvision(context, provisioned)
    return {
      subscription: toCustomerSubscription(subscription),
      entitlements: toEntitlements(state, now),
      entitlementsV2: toFeatureEntitlements(state, now),
    }
  }

  @Mutation(() => CustomerSubscription, { description: 'Subscribes a customer to a plan; the oldest form of provisionSubscriptionV2.' })
  async createSubscription(
    @Arg('subscription', () => SubscriptionInput, { description: 'The subscription.' }) input: SubscriptionInput,
    @Ctx() context: RequestContext,
  ) {
    const { app, identity } = context
    const { subscription } = await app.subscriptions.provision(identity.environmentId, fromSubscriptionInput(input))
    return toCustomerSubscription(await collected(context, subscription))
  }

  @Mutation(() => CustomerSubscription, { description: 'Changes what is bought with a subscription; not its plan.' })
  async updateOneSubscription(
    @Arg('input', () => UpdateSubscriptionInput, { description: 'What changes.' }) input: UpdateSubscriptionInput,
    @Ctx() context: RequestContext,
  ) {
    const { app, identity } = context
    const updated = await app.subscriptionChanges.update(identity.environmentId, fromUpdateSubscriptionInput(input))
    return toCustomerSubscription(await collected(context, updated))
  }

  @Mutation(() => String, {
    description: 'Takes back the scheduled updates of a subscription, and a scheduled cancellation. Answers its identifier.',
  })
  async cancelSchedule(
    @Arg('input', () => SubscriptionUpdateScheduleCancellationInput, { description: 'Whose updates.' })
    { subscriptionId, status }: SubscriptionUpdateScheduleCancellationInput,
    @Ctx() { app, identity }: RequestContext,
  ): Promise<string> {
    // Updates of any other status are not waiting any more, or never will here: there is nothing to take back.
    if (status && status !== 'Scheduled') return (await app.subscriptionReads.get(identity.environmentId, subscriptionId)).refId
    return (await app.subscriptionChanges.cancelSchedule(identity.environmentId, subscriptionId)).refId
  }

  @Mutation(() => CustomerSubscription, { description: 'Moves a subscription to the latest version of its plan and add-ons.' })
  async migrateSubscriptionToLatest(
    @Arg('input', () => SubscriptionMigrationInput, { description: 'Which subscription, and when.' })
    { subscriptionId, subscriptionMigrationTime }: SubscriptionMigrationInput,
    @Ctx() context: RequestContext,
  ) {
    const { app, identity } = context
    const time = subscriptionMigrationTime ?? 'END_OF_BILLING_PERIOD'
    const migrated = await app.subscriptionChanges.migrateToLatest(identity.environmentId, subscriptionId, time)
    return toCustomerSubscription(await collected(context, migrated))
  }

  @Mutation(() => CustomerSubscription, {
    description: 'Moves the subscription of one resource of a customer to another of its resources.',
  })
  async transferSubscription(
    @Arg('input', () => TransferSubscriptionInput, { description: 'From where to where.' })
    { customerId, sourceResourceId, destinationResourceId }: TransferSubscriptionInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const transfer = { customerRefId: customerId, sourceResourceRefId: sourceResourceId, destinationResourceRefId: destinationResourceId }
    return toCustomerSubscription(await app.transfers.transfer(identity.environmentId, transfer))
  }

  @Mutation(() => CustomerSubscription, { description: 'Binds a subscription to a resource of its customer, or to the customer itself.' })
  async transferSubscriptionToResource(
    @Arg('input', () => TransferSubscriptionToResourceInput, { description: 'Which subscription, and where to.' })
    { subscriptionId, destinationResourceId }: TransferSubscriptionToResourceInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    const { environmentId } = identity
    return toCustomerSubscription(await app.transfers.transferToResource(environmentId, subscriptionId, destinationResourceId ?? null))
  }

  @Mutation(() => CustomerSubscription, {
    description: 'Says which customer pays for a subscription. What it entitles to stays with its own customer.',
  })
  async delegateSubscriptionToCustomer(
    @Arg('input', () => DelegateSubscriptionToCustomerInput, { description: 'Which subscription, and who pays.' })
    { subscriptionId, destinationCustomerId }: DelegateSubscriptionToCustomerInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return toCustomerSubscription(
      await app.subscriptionChanges.delegate(identity.environmentId, subscriptionId, destinationCustomerId ?? null),
    )
  }

  @Mutation(() => String, {
    nullable: true,
    description: 'Takes over subscriptions that exist elsewhere, in the background. Answers the id that `importJob` tells the outcomes of.',
  })
  importSubscriptionsBulk(
    @Arg('input', () => ImportSubscriptionsBulkInput, { description: 'The subscriptions.' }) input: ImportSubscriptionsBulkInput,
    @Ctx() { app, identity }: RequestContext,
  ) {
    return app.imports.start(identity.environmentId, 'SUBSCRIPTIONS', fromImportSubscriptionsBulkInput(input))
  }
}
