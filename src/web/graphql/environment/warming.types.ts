import { Field, Int, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'Everything is told to a persistent cache once.' })
export class PersistentCacheWarming {
  @Field(() => DateTime)
  beganAt!: EpochMs

  @Field(() => DateTime, { nullable: true, description: 'Null: it is under way.' })
  endedAt!: EpochMs | null

  @Field(() => String)
  id!: string

  @Field(() => Int, { description: 'Customers that the queue was told of.' })
  told!: number

  @Field(() => Int, { description: 'Customers when it began.' })
  total!: number
}
