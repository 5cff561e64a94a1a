import { Arg, Ctx, Mutation, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { collectedProvision } from '../subscription/collected.js'
import { fromProvisionCustomerInput, ProvisionCustomerInput } from './customer-provisioning.inputs.js'
import { ProvisionedCustomer, toProvisionedCustomer } from './customer-provisioning.types.js'

@Resolver()
export class CustomerProvisioningResolver {
  @Mutation(() => ProvisionedCustomer, {
    description:
      'Creates the customer with its first subscription. Safe to repeat: a known customer is updated and gets no second subscription.',
  })
  async provisionCustomer(
    @Arg('input', () => ProvisionCustomerInput, { description: 'The customer.' }) input: ProvisionCustomerInput,
    @Ctx() context: RequestContext,
  ) {
    const { app, identity, now } = context
    const provisioned = await app.customers.provision(identity.environmentId, fromProvisionCustomerInput(input))
    const { subscription, state } = provisioned
    const paid = subscription ? await collectedProvision(context, { subscription, state }) : provisioned
    return toProvisionedCustomer({ ...provisioned, ...paid }, now)
  }
}
