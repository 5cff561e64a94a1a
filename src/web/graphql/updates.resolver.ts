import { Ctx, Resolver, Root, Subscription } from 'type-graphql'
import type { ChangeMessage } from '../../updates/change-message.js'
import type { RequestContext } from './context.js'
import { EntitlementsUpdated, toEntitlementsUpdated, toUsageUpdated, UsageUpdated } from './updates.types.js'

/** Subscriptions take no variables: the key names the environment. They are resolved once for all sockets that sent the same document. */
@Resolver()
export class UpdatesResolver {
  @Subscription(() => EntitlementsUpdated, {
    nullable: true,
    description: 'Each change of what a customer or resource holds, with everything it holds then.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes(['entitlements', 'purge']),
  })
  async entitlementsUpdated(@Root() change: ChangeMessage, @Ctx() { app, identity, now }: RequestContext) {
    const { customerId, resourceId = null, state } = change
    return toEntitlementsUpdated(state ?? (await app.entitlements.state(identity.environmentId, customerId, resourceId)), now)
  }

  @Subscription(() => UsageUpdated, {
    nullable: true,
    description: 'Each change of a usage that limits an entitlement; changes in quick succession are sent as one.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes(['usage']),
  })
  usageUpdated(@Root() change: ChangeMessage, @Ctx() { now }: RequestContext) {
    return toUsageUpdated(change, now)
  }
}
