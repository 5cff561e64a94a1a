import { Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql'
import type { PaymentMethod } from '../../../billing/rules/provider.js'
import { Customer } from '../customer/customer.types.js'
import type { RequestContext } from '../operations/context.js'
import * as enums from '../schema/enums.js'

/** What the billing provider charges of a customer. The builtin one knows only the reference. */
@Resolver(() => Customer)
export class CustomerBillingResolver {
  @FieldResolver(() => Boolean, { description: 'Whether the billing provider has something that can be charged.' })
  async hasPaymentMethod(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<boolean> {
    return (await loaders.paymentMethodOfCustomer.load(id)) !== null
  }

  @FieldResolver(() => String, { nullable: true, description: 'What is charged: the billing provider’s reference.' })
  async defaultPaymentMethodId(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<string | null> {
    return (await loaders.paymentMethodOfCustomer.load(id))?.reference ?? null
  }

  @FieldResolver(() => String, { nullable: true, description: 'Of what is charged; null: the billing provider does not tell.' })
  async defaultPaymentMethodLast4Digits(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<string | null> {
    return (await loaders.paymentMethodOfCustomer.load(id))?.last4Digits ?? null
  }

  @FieldResolver(() => enums.PaymentMethodType, { nullable: true, description: 'Null: the billing provider does not tell.' })
  async defaultPaymentMethodType(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<PaymentMethod['type']> {
    return (await loaders.paymentMethodOfCustomer.load(id))?.type ?? null
  }

  @FieldResolver(() => Int, { nullable: true, description: 'Null: it does not expire, or the billing provider does not tell.' })
  async defaultPaymentExpirationMonth(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<number | null> {
    return (await loaders.paymentMethodOfCustomer.load(id))?.expirationMonth ?? null
  }

  @FieldResolver(() => Int, { nullable: true, description: 'Null: it does not expire, or the billing provider does not tell.' })
  async defaultPaymentExpirationYear(@Root() { id }: Customer, @Ctx() { loaders }: RequestContext): Promise<number | null> {
    return (await loaders.paymentMethodOfCustomer.load(id))?.expirationYear ?? null
  }
}
