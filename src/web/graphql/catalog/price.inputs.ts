import { Field, Float, InputType } from 'type-graphql'
import * as enums from '../schema/enums.js'

@InputType({ description: 'An amount in whole units of a currency: 12.5, not 1250.' })
export class MoneyInputDto {
  @Field(() => Float)
  amount!: number

  @Field(() => enums.Currency, { nullable: true, description: 'ISO 4217.' })
  currency?: keyof typeof enums.Currency | null
}

@InputType({ description: 'A step of a tiered price.' })
export class PriceTierInput {
  @Field(() => MoneyInputDto, { nullable: true, description: 'Charged once, when the tier is reached.' })
  flatPrice?: MoneyInputDto | null

  @Field(() => MoneyInputDto, { nullable: true })
  unitPrice?: MoneyInputDto | null

  @Field(() => Float, { nullable: true, description: 'The last quantity of the tier, included; absent in the last tier.' })
  upTo?: number | null
}

@InputType({ description: 'What a unit costs in credits. Tollgate has none: it is refused.' })
export class CreditRateInput {
  @Field(() => Float)
  amount!: number

  @Field(() => String, { nullable: true })
  costFormula?: string | null

  @Field(() => String)
  currencyId!: string

  @Field(() => String, { nullable: true })
  customCurrencyId?: string | null
}

@InputType({ description: 'A price agreed for this subscription, in place of the catalog’s.' })
export class PriceOverrideInput {
  @Field(() => String, { nullable: true, description: 'The add-on’s identifier in the catalog.' })
  addonId?: string | null

  @Field(() => Boolean, { nullable: true, description: 'Replaces the flat fee.' })
  baseCharge?: boolean | null

  @Field(() => Float, { nullable: true })
  blockSize?: number | null

  @Field(() => enums.CreditGrantCadence, { nullable: true })
  creditGrantCadence?: keyof typeof enums.CreditGrantCadence | null

  @Field(() => CreditRateInput, { nullable: true })
  creditRate?: CreditRateInput | null

  @Field(() => String, { nullable: true })
  currencyId?: string | null

  @Field(() => String, { nullable: true, description: 'The feature’s identifier in the catalog.' })
  featureId?: string | null

  @Field(() => MoneyInputDto, { nullable: true })
  price?: MoneyInputDto | null

  @Field(() => [PriceTierInput], { nullable: true })
  tiers?: PriceTierInput[] | null
}

@InputType({ description: 'What is charged at least in a billing period.' })
export class SubscriptionMinimumSpendValueInput {
  @Field(() => MoneyInputDto, { nullable: true })
  minimum?: MoneyInputDto | null
}

@InputType({ description: 'What usage-based charges may come to in a billing period.' })
export class BudgetConfigurationInput {
  @Field(() => Boolean, {
    description: 'True: only budgetExceeded tells that it is used up. False: access is denied then, with BudgetExceeded.',
  })
  hasSoftLimit!: boolean

  @Field(() => Float, { description: 'In whole units of the currency that the subscription is charged in, before discounts and tax.' })
  limit!: number
}
