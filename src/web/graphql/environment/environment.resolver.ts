import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import {
  CreatedEnvironment,
  DisablePersistentCacheInput,
  EnablePersistentCacheInput,
  Environment,
  EnvironmentInput,
} from './environment.types.js'

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

  @Mutation(() => Environment, {
    description:
      'Has changes go to a queue too, from seconds later on; its consumer is told to read everything anew first. Safe to repeat, also with another queue. Needs the operator key in the header X-OPERATOR-KEY, and no other.',
  })
  enablePersistentCache(
    @Arg('input', () => EnablePersistentCacheInput, { description: 'Of which environment, and through which queue.' })
    { environmentRefId, queueUrl }: EnablePersistentCacheInput,
    @Ctx() { app }: RequestContext,
  ): Promise<Environment> {
    return app.environments.enablePersistentCache(environmentRefId, { queueUrl: queueUrl ?? null })
  }

  @Mutation(() => Environment, {
    description:
      'Ends that within seconds; what is in the queue stays there. Safe to repeat. Needs the operator key in the header X-OPERATOR-KEY, and no other.',
  })
  disablePersistentCache(
    @Arg('input', () => DisablePersistentCacheInput, { description: 'Of which environment.' })
    { environmentRefId }: DisablePersistentCacheInput,
    @Ctx() { app }: RequestContext,
  ): Promise<Environment> {
    return app.environments.disablePersistentCache(environmentRefId)
  }
}
