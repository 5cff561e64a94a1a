import { Ctx, Mutation, Query, Resolver } from 'type-graphql'
import type { RequestContext } from '../operations/context.js'
import { PersistentCacheWarming } from './warming.types.js'

@Resolver()
export class WarmingResolver {
  @Mutation(() => PersistentCacheWarming, {
    description:
      'Tells the persistent cache of the environment of each customer, as if each had changed. While that is under way it answers how far it is; begun once a minute at most.',
  })
  warmPersistentCache(@Ctx() { app, identity }: RequestContext): Promise<PersistentCacheWarming> {
    return app.warmings.begin(identity.environmentId)
  }

  @Query(() => PersistentCacheWarming, { nullable: true, description: 'The last one, and how far it is; null: there was none.' })
  persistentCacheWarming(@Ctx() { app, identity }: RequestContext): Promise<PersistentCacheWarming | null> {
    return app.warmings.find(identity.environmentId)
  }
}
