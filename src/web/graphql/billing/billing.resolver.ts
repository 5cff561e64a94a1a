import { Arg, Ctx, Field, Float, InputType, Int, Mutation, ObjectType, Query, Resolver } from 'type-graphql'
import type { InvoiceNews } from '../../../billing/builtin/provider.js'
import { invoiceNotFound } from '../../../billing/rules/problems.js'
import { customerNotFound } from '../../../customer/model/problems.js'
import type { EpochMs } from '../../../kernel/clock.js'
import * as decimal from '../../../kernel/decimal.js'
import { checkRefId } from '../../../kernel/id.js'
import { invalidInput, Problem } from '../../../kernel/problem.js'
import type { RequestContext } from '../operations/context.js'
import { DateTime } from '../schema/scalars.js'
import { SubscriptionInvoice, toInvoice } from './invoice.types.js'

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

@InputType({ description: 'A tax rate of the builtin billing provider.' })
export class TaxRateInput {
  @Field(() => String, { description: 'What the customer reads.' })
  displayName!: string

  @Field(() => String, { description: 'What billingInformation.taxRateIds names.' })
  id!: string

  @Field(() => Float, { description: 'From 0 to 100; added to what is charged.' })
  percentage!: number
}

@ObjectType({ simpleResolvers: true, description: 'A tax rate of the builtin billing provider. It is added to what is charged.' })
export class TaxRate {
  @Field(() => String)
  displayName!: string

  @Field(() => String, { description: 'What billingInformation.taxRateIds names.' })
  id!: string

  @Field(() => Float, { description: 'From 0 to 100.' })
  percentage!: number
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

  @Query(() => [TaxRate], { description: 'Tax rates of the builtin billing provider, by their identifiers.' })
  async taxRates(@Ctx() { app, identity }: RequestContext): Promise<TaxRate[]> {
    const rates = await app.billingProvider.taxRates(identity.environmentId)
    return rates.map((rate) => ({ ...rate, percentage: decimal.toNumber(rate.percentage) }))
  }

  @Mutation(() => TaxRate, {
    description:
      'Makes or changes a tax rate of the builtin billing provider. What was agreed with it before stays as it was agreed. Safe to repeat. Needs the operator key.',
  })
  async setTaxRate(
    @Arg('input', () => TaxRateInput, { description: 'The rate.' }) { id, displayName, percentage }: TaxRateInput,
    @Ctx() context: RequestContext,
  ): Promise<TaxRate> {
    const { app, identity } = requireOperator(context)
    if (!(percentage >= 0 && percentage <= 100)) throw invalidInput('percentage must be from 0 to 100.', { path: 'percentage' })
    const rate = { id: checkRefId(id, 'id'), displayName, percentage: decimal.fromNumber(percentage) }
    await app.billingProvider.setTaxRate(identity.environmentId, rate)
    return { ...rate, percentage: decimal.toNumber(rate.percentage) }
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
