import { Field, Float, InputType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { MoneyInputDto } from '../catalog/price.inputs.js'
import { DateTime } from '../schema/scalars.js'

@InputType({ description: 'When the discount begins.' })
export class SubscriptionCouponConfigurationInput {
  @Field(() => DateTime, { nullable: true, description: 'Default now.' })
  startDate?: EpochMs | null
}

@InputType({ description: 'A discount agreed for this subscription only: percentOff, or amountsOff in each currency.' })
export class SubscriptionCouponDiscountInput {
  @Field(() => [MoneyInputDto], { nullable: true })
  amountsOff?: MoneyInputDto[] | null

  @Field(() => String, { nullable: true, description: 'A note; nothing answers it, so it is not kept.' })
  description?: string | null

  @Field(() => Float, { nullable: true, description: 'Absent: for ever.' })
  durationInMonths?: number | null

  @Field(() => String, { nullable: true })
  name?: string | null

  @Field(() => Float, { nullable: true, description: 'Above 0, at most 100.' })
  percentOff?: number | null
}

@InputType({ description: 'A discount: exactly one of couponId, billingCouponId, promotionCode and discount.' })
export class SubscriptionCouponInput {
  @Field(() => String, { nullable: true, description: 'The billing provider’s identifier.' })
  billingCouponId?: string | null

  @Field(() => SubscriptionCouponConfigurationInput, { nullable: true })
  configuration?: SubscriptionCouponConfigurationInput | null

  @Field(() => String, { nullable: true })
  couponId?: string | null

  @Field(() => SubscriptionCouponDiscountInput, { nullable: true })
  discount?: SubscriptionCouponDiscountInput | null

  @Field(() => String, { nullable: true, description: 'A code of the billing provider.' })
  promotionCode?: string | null
}
