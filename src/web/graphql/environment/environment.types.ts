import { Field, InputType, ObjectType } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({ simpleResolvers: true, description: 'The scope of API keys: every record belongs to one.' })
export class Environment {
  @Field(() => Boolean, { description: 'Client keys may read customers without a signed X-CUSTOMER-KEY.' })
  allowsUnsignedClientReads!: boolean

  @Field(() => DateTime)
  createdAt!: EpochMs

  @Field(() => String)
  displayName!: string

  @Field(() => Boolean, { description: 'Changes also go to a queue, for its persistent cache.' })
  hasPersistentCache!: boolean

  @Field(() => String, { description: 'Our identifier: what variables such as DIRECT_ENVIRONMENTS and the names of queues have.' })
  id!: string

  @Field(() => Boolean, { description: 'It may have a clock of its own.' })
  isTest!: boolean

  @Field(() => String, { nullable: true, description: 'That queue, where it is one of SQS; null: the environment’s own, in Redis.' })
  persistentCacheQueueUrl!: string | null

  @Field(() => String)
  refId!: string
}

@InputType({ description: 'A persistent cache to be told of changes.' })
export class EnablePersistentCacheInput {
  @Field(() => String, { description: 'The refId of the environment.' })
  environmentRefId!: string

  @Field(() => String, {
    nullable: true,
    description:
      'The https:// address of a standard queue of SQS, which cache-invalidation may send to. Default: the environment’s own queue, in Redis.',
  })
  queueUrl?: string | null
}

@InputType({ description: 'A persistent cache to be told no more.' })
export class DisablePersistentCacheInput {
  @Field(() => String, { description: 'The refId of the environment.' })
  environmentRefId!: string
}

@InputType({ description: 'An environment to be made.' })
export class EnvironmentInput {
  @Field(() => Boolean, { nullable: true, description: 'Client keys may read customers without a signed X-CUSTOMER-KEY. Default: false.' })
  allowsUnsignedClientReads?: boolean | null

  @Field(() => String, { nullable: true, description: 'Default: the refId.' })
  displayName?: string | null

  @Field(() => Boolean, {
    nullable: true,
    description: 'Changes also go to the environment’s queue, for its persistent cache. Default: false.',
  })
  hasPersistentCache?: boolean | null

  @Field(() => Boolean, { nullable: true, description: 'It may have a clock of its own. Default: false.' })
  isTest?: boolean | null

  @Field(() => String, { description: 'The name of the environment, which no other has.' })
  refId!: string
}

@ObjectType({ simpleResolvers: true, description: 'An environment, and what is shown of it only once.' })
export class CreatedEnvironment {
  @Field(() => Environment)
  environment!: Environment

  @Field(() => String, { description: 'What customer tokens are signed with. Shown only now.' })
  signingSecret!: string
}
