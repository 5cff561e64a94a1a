import { Arg, Ctx, Field, InputType, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql'
import type { InvoiceNews } from '../../billing/builtin/provider.js'
import { invoiceNotFound } from '../../billing/problems.js'
import { customerNotFound } from '../../customer/problems.js'
import type { EpochMs } from '../../kernel/clock.js'
import { Problem } from '../../kernel/problem.js'
import type { RequestContext } from './context.js'
import { SubscriptionInvoice, toInvoice } from './invoice.types.js'
import { DateTime } from './scalars.js'

@InputType({ description: 'Which invoice of the builtin billing provider.' })
export class InvoiceInput {
  @Field(() => String, { description: 'The billing provider’s identifier, as in latestInvoice.' })
  billingId!: string
}

@InputType({ description: 'Which invoice, and why its payment failed.' })
export class FailedInvoiceInput extends InvoiceInput {
  @Field(() => String, { nullable: true, description: 'What the customer is told.' })
  errorMessage?: string | null
}

@InputType({ description: 'What the builtin billing provider can charge from now on.' })
export class PaymentMethodInput {
  @Field(() => String, { description: 'Your identifier of the customer.' })
  customerId!: string

  @Field(() => String, { nullable: true, description: 'A reference, never the number of a card; null: nothing can be charged.' })
  reference?: string | null
}

@ObjectType({ simpleResolvers: true, description: 'A call of the billing provider that has not succeeded yet.' })
export class BillingCall {
  @Field(() => Int, { description: 'How often it was tried.' })
  attempts!: number

  @Field(() => DateTime)
  createdAt!: EpochMs

  @Field(() => Boolean, { description: 'The provider refused it: it is not tried again.' })
  isGivenUp!: boolean

  @Field(() => String, { description: 'CREATE_INVOICE, COLLECT, VOID or REFUND.' })
  kind!: string

  @Field(() => String, { nullable: true, description: 'What the last try ended with; null: it was not tried.' })
  lastError!: string | null

  @Field(() => String, { description: 'The host application’s identifier of the subscription.' })
  subscriptionId!: string
}

/** What operators tell the builtin billing provider: it moves money by hand, so it takes their key. */
@Resolver()
export class BillingResolver {
  @Query(() => [BillingCall], { description: 'Calls of the billing provider that wait or were given up; the 100 oldest.' })
  billingCalls(@Ctx() { app, identity }: RequestContext): Promise<BillingCall[]> {
    return app.billingReads.unfinishedCalls(identity.environmentId)
  }

  @Mutation(() => SubscriptionInvoice, { description: 'Tells that an invoice was paid. Safe to repeat. Needs the operator key.' })
  markInvoicePaid(
    @Arg('input', () => InvoiceInput, { description: 'Which invoice.' }) { billingId }: InvoiceInput,
    @Ctx() context: RequestContext,
  ) {
    return tell(context, billingId, { status: 'PAID' })
  }

  @Mutation(() => SubscriptionInvoice, {
    description: 'Tells that the payment of an invoice failed. Safe to repeat. Needs the operator key.',
  })
  markInvoiceFailed(
    @Arg('input', () => FailedInvoiceInput, { description: 'Which invoice, and why.' }) { billingId, errorMessage }: FailedInvoiceInput,
    @Ctx() context: RequestContext,
  ) {
    return tell(context, billingId, { status: 'FAILED', errorMessage: errorMessage ?? 'The payment failed.' })
  }

  @Mutation(() => SubscriptionInvoice, {
    description: 'Tells that the customer has to confirm the payment. Safe to repeat. Needs the operator key.',
  })
  requirePaymentAction(
    @Arg('input', () => InvoiceInput, { description: 'Which invoice.' }) { billingId }: InvoiceInput,
    @Ctx() context: RequestContext,
  ) {
    return tell(context, billingId, { requiresAction: true })
  }

  @Mutation(() => Int, {
    description: 'Has calls of the billing provider made again that were given up. Answers how many. Needs the operator key.',
  })
  async retryBillingCalls(@Ctx() context: RequestContext): Promise<number> {
    const { app, identity } = requireOperator(context)
    return app.billing.retry(identity.environmentId)
  }

  @Mutation(() => Boolean, {
    description: 'Says what is charged of a customer. Answers whether there is something. Needs the operator key.',
  })
  async setPaymentMethod(
    @Arg('input', () => PaymentMethodInput, { description: 'Whose, and what.' }) { customerId, reference = null }: PaymentMethodInput,
    @Ctx() context: RequestContext,
  ): Promise<boolean> {
    const { app, identity } = requireOperator(context)
    const { environmentId } = identity
    const customer = await app.customers.get(environmentId, customerId)
    if (!customer) throw customerNotFound(customerId)
    await app.billingProvider.setPaymentMethod({ environmentId, customerId: customer.id }, reference)
    return reference !== null
  }
}

async function tell(context: RequestContext, billingId: string, news: InvoiceNews): Promise<SubscriptionInvoice> {
  const { app, identity } = requireOperator(context)
  const { environmentId } = identity
  const told = await app.billingProvider.tell(environmentId, billingId, news)
  if (!told) throw invoiceNotFound(billingId)
  await app.billing.hear(environmentId, told)
  return toInvoice((await app.billingReads.invoice(environmentId, billingId))!)
}

function requireOperator(context: RequestContext): RequestContext {
  if (!context.isOperator)
    throw new Problem(
      'PERMISSION_DENIED',
      'IDENTITY_FORBIDDEN',
      'This moves money by hand: send the operator key in the header X-OPERATOR-KEY too.',
    )
  return context
}
