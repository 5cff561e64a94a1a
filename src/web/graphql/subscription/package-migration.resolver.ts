import { Ctx, Field, Int, ObjectType, Query, Resolver } from 'type-graphql'
import type { EpochMs } from '../../../kernel/clock.js'
import type { RequestContext } from '../operations/context.js'
import { DateTime } from '../schema/scalars.js'

@ObjectType({
  simpleResolvers: true,
  description: 'A version that was published for ALL_CUSTOMERS, and how far existing subscriptions have moved to it.',
})
export class PackageMigration {
  @Field(() => DateTime, { nullable: true, description: 'Null: some subscriptions are still to be moved.' })
  finishedAt!: EpochMs | null

  @Field(() => String)
  id!: string

  @Field(() => Int, { description: 'Subscriptions that were moved.' })
  migrated!: number

  @Field(() => String, { description: 'The plan’s or add-on’s identifier in the catalog.' })
  packageRefId!: string

  @Field(() => DateTime)
  startedAt!: EpochMs

  @Field(() => Int, { description: 'Subscriptions that held an older version when the move began.' })
  total!: number

  @Field(() => Int)
  versionNumber!: number
}

@Resolver()
export class PackageMigrationResolver {
  @Query(() => [PackageMigration], { description: 'Publications for ALL_CUSTOMERS, the newest first; at most 100.' })
  packageMigrations(@Ctx() { app, identity }: RequestContext): Promise<PackageMigration[]> {
    return app.packageMigrations.list(identity.environmentId)
  }
}
