import { Field, InputType, Int } from 'type-graphql'
import type { Paging, SortKey } from '../../../platform/list/request.js'
import { ConnectionCursor } from '../schema/scalars.js'
import * as enums from './list.enums.js'

@InputType({
  description: 'Which page of a list: the first so many after a cursor, or the last so many before one. Default: the first 10.',
})
export class CursorPaging implements Paging {
  @Field(() => ConnectionCursor, { nullable: true })
  after?: string | null

  @Field(() => ConnectionCursor, { nullable: true })
  before?: string | null

  @Field(() => Int, { nullable: true, description: 'At most 100.' })
  first?: number | null

  @Field(() => Int, { nullable: true, description: 'At most 100.' })
  last?: number | null
}

/** What every order of a list is made of. Not a type of the schema. */
@InputType()
class Sort {
  @Field(() => enums.SortDirection)
  direction!: SortKey['direction']

  @Field(() => enums.SortNulls, { nullable: true })
  nulls?: SortKey['nulls']
}

@InputType({ description: 'What coupons are ordered by.' })
export class CouponSort extends Sort implements SortKey {
  @Field(() => enums.CouponSortFields)
  field!: keyof typeof enums.CouponSortFields
}

@InputType({ description: 'What customers are ordered by.' })
export class CustomerSort extends Sort implements SortKey {
  @Field(() => enums.CustomerSortFields)
  field!: keyof typeof enums.CustomerSortFields
}

@InputType({ description: 'What subscriptions are ordered by.' })
export class SubscriptionQuerySort extends Sort implements SortKey {
  @Field(() => enums.SubscriptionQuerySortFields)
  field!: keyof typeof enums.SubscriptionQuerySortFields
}
