import { Field, Int, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'Usage that is being counted anew, and how far that is.' })
export class UsageRecomputation {
  @Field(() => Int, { description: 'Counters of usage periods that stay as they are, because raw events of them have been dropped.' })
  countersLeft!: number

  @Field(() => DateTime)
  createdAt!: EpochMs

  @Field(() => String, { nullable: true, description: 'Null: all customers.' })
  customerId!: string | null

  @Field(() => Int)
  customersDone!: number

  @Field(() => Int, { description: 'All that are looked at.' })
  customersTotal!: number

  @Field(() => String)
  featureId!: string

  @Field(() => DateTime, { nullable: true, description: 'Null: it is not finished.' })
  finishedAt!: EpochMs | null

  @Field(() => String)
  id!: string
}
