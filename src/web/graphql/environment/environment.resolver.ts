import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { CreatedEnvironment, Environment, EnvironmentInput } from './environment.types.js'

@Resolver()
export class EnvironmentResolver {
  @Query(() => [Environment], {
    description: 'All environments, oldest first. Needs the operator key in the header X-OPERATOR-KEY, and no other.',
  })
  environments(@Ctx() { app }: RequestContext): Promise<Environment[]> {
    return app.environments.list()
  }

  @Mutation(() => CreatedEnvironment, {
    description: 'Makes an environment. Needs the operator key in the header X-OPERATOR-KEY, and no other.',
  })
  createEnvironment(
    @Arg('input', () => EnvironmentInput, { description: 'How it is called, and what it may.' }) input: EnvironmentInput,
    @Ctx() { app }: RequestContext,
  ): Promise<CreatedEnvironment> {
    return app.environments.create({
      refId: input.refId,
      displayName: input.displayName ?? undefined,
      isTest: input.isTest ?? undefined,
      hasPersistentCache: input.hasPersistentCache ?? undefined,
      allowsUnsignedClientReads: input.allowsUnsignedClientReads ?? undefined,
    })
  }
}
