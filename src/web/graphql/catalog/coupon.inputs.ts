import { Field, Float, InputType } from 'type-graphql'
import { invalidInput } from '../../../kernel/problem.js'
import * as enums from '../schema/enums.js'
import { fromMetaData } from '../schema/input-fields.js'
import { Json } from '../schema/scalars.js'
import { MoneyInputDto } from './price.inputs.js'

@InputType({ description: 'A coupon: percentOff, or amountsOff in each currency.' })
export class CreateCouponInput {
  @Field(() => Json, { nullable: true, description: 'An object of your own facts.' })
  additionalMetaData?: unknown

  @Field(() => [MoneyInputDto], { nullable: true, description: 'FIXED: one amount for each currency.' })
  amountsOff?: MoneyInputDto[] | null

  @Field(() => String, { nullable: true })
  description?: string | null

  @Field(() => Float, { nullable: true, description: 'The older form of percentOff.' })
  discountValue?: number | null

  @Field(() => Float, { nullable: true, description: 'Absent: for ever.' })
  durationInMonths?: number | null

  @Field(() => String, { nullable: true, description: 'Must be the environment of the key.' })
  environmentId?: string | null

  @Field(() => String)
  name!: string

  @Field(() => Float, { nullable: true, description: 'PERCENTAGE: above 0, at most 100.' })
  percentOff?: number | null

  @Field(() => String, { description: 'Your identifier of the coupon.' })
  refId!: string

  @Field(() => enums.CouponType, { nullable: true, description: 'Absent: what is sent decides.' })
  type?: keyof typeof enums.CouponType | null
}

/** As the catalog document has it, which is also where it is checked. */
export function fromCreateCouponInput({ refId, name, description, durationInMonths, additionalMetaData, ...input }: CreateCouponInput) {
  const { amountsOff, percentOff, discountValue, type } = input
  if (type === 'FIXED' && !amountsOff)
    throw invalidInput('A FIXED coupon needs amountsOff, with an amount for each currency.', { path: 'amountsOff' })
  if (type === 'PERCENTAGE' && amountsOff)
    throw invalidInput('A PERCENTAGE coupon has percentOff and no amountsOff.', { path: 'amountsOff' })
  return {
    refId,
    name,
    description,
    percentOff: amountsOff ? percentOff : (percentOff ?? discountValue),
    amountsOff: amountsOff?.map(({ amount, currency }) => ({ amount, currency })),
    durationInMonths,
    additionalMetaData: fromMetaData(additionalMetaData),
  }
}
