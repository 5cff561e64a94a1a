import { Field, InputType } from 'type-graphql'
import type { ProvisionCustomer } from '../../../provisioning/customers.js'
import { CustomerInput, fromCustomerInput } from '../customer/customer.inputs.js'
import { refuseAbsent } from '../schema/not-here.js'
import { fromSubscriptionParams, ProvisionCustomerSubscriptionInput } from '../subscription/subscription.inputs.js'

@InputType({
  description:
    'A customer, and optionally the subscription it starts with. What is absent stays as it is, null clears it. Without customerId, one is made.',
})
export class ProvisionCustomerInput extends CustomerInput {
  @Field(() => Boolean, { nullable: true, description: 'There are no experiments to be left out of: true is refused.' })
  excludeFromExperiment?: boolean | null

  @Field(() => ProvisionCustomerSubscriptionInput, {
    nullable: true,
    description: 'Null: a new customer starts with none. Absent: the product’s settings decide.',
  })
  subscriptionParams?: ProvisionCustomerSubscriptionInput | null
}

export function fromProvisionCustomerInput({
  subscriptionParams,
  excludeFromExperiment,
  ...input
}: ProvisionCustomerInput): ProvisionCustomer {
  refuseAbsent('experiments', { excludeFromExperiment: excludeFromExperiment || null }, 'excludeFromExperiment')
  return { ...fromCustomerInput(input), subscription: subscriptionParams && fromSubscriptionParams(subscriptionParams) }
}
