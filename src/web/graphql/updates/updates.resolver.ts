import { Ctx, Resolver, Root, Subscription } from 'type-graphql'
import type { ChangeMessage } from '../../../updates/wire/change-message.js'
import type { RequestContext } from '../operations/context.js'
import {
  EntitlementsUpdated,
  EntitlementsUpdatedV2,
  PackagePublished,
  toEntitlementsUpdated,
  toEntitlementsUpdatedV2,
  toPackagePublished,
  toUsageUpdated,
  toUsageUpdatedV2,
  UsageUpdated,
  UsageUpdatedV2,
} from './updates.types.js'

/** Subscriptions take no variables: the key names the environment. They are resolved once for all sockets that sent the same document. */
@Resolver()
export class UpdatesResolver {
  @Subscription(() => EntitlementsUpdated, {
    nullable: true,
    description: 'Each change of what a customer or resource holds, with everything it holds then.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes(['entitlements', 'purge']),
  })
  async entitlementsUpdated(@Root() change: ChangeMessage, @Ctx() context: RequestContext) {
    return toEntitlementsUpdated(await stateAfter(change, context), context.now)
  }

  @Subscription(() => EntitlementsUpdatedV2, {
    nullable: true,
    description: 'The same as entitlementsUpdated, with entitlements in their newer form.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes(['entitlements', 'purge']),
  })
  async entitlementsUpdatedV2(@Root() change: ChangeMessage, @Ctx() context: RequestContext) {
    return toEntitlementsUpdatedV2(await stateAfter(change, context), context.now)
  }

  @Subscription(() => UsageUpdated, {
    nullable: true,
    description: 'Each change of a usage that limits an entitlement; changes in quick succession are sent as one.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes(['usage']),
  })
  usageUpdated(@Root() change: ChangeMessage, @Ctx() { now }: RequestContext) {
    return toUsageUpdated(change, now)
  }

  @Subscription(() => UsageUpdatedV2, {
    nullable: true,
    description: 'The same as usageUpdated, naming the entitlement instead of carrying it.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes(['usage']),
  })
  usageUpdatedV2(@Root() change: ChangeMessage) {
    return toUsageUpdatedV2(change)
  }

  @Subscription(() => PackagePublished, {
    nullable: true,
    description: 'Each version of a plan or add-on that is published. Needs a server key.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes(['package']),
  })
  packagePublished(@Root() change: ChangeMessage) {
    return toPackagePublished(change)
  }
}

/** What is held after the change; asked for when the message does not carry it. */
async function stateAfter({ customerId, state, ...message }: ChangeMessage, { app, identity }: RequestContext) {
  return state ?? (await app.entitlements.state(identity.environmentId, customerId, message.resourceId ?? null))
}
