import type { GraphQLResolveInfo } from 'graphql'
import { Ctx, Resolver, Root, Subscription } from 'type-graphql'
import type { ChangeKind } from '../../../changes/model/change.js'
import type { ChangeMessage } from '../../../updates/wire/change-message.js'
import type { RequestContext } from '../operations/context.js'
import { asksFor } from './asked-fields.js'
import {
  CreditBalanceUpdated,
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
    description: 'Each change of what a customer holds, with everything it holds then; of resources only where resourceId is asked for.',
    subscribe: listenTo(['entitlements', 'purge'], ['resourceId']),
  })
  async entitlementsUpdated(@Root() change: ChangeMessage, @Ctx() context: RequestContext) {
    return toEntitlementsUpdated(await stateAfter(change, context), context.now)
  }

  @Subscription(() => EntitlementsUpdatedV2, {
    nullable: true,
    description: 'The same as entitlementsUpdated, with entitlements in their newer form.',
    subscribe: listenTo(['entitlements', 'purge'], ['resourceId']),
  })
  async entitlementsUpdatedV2(@Root() change: ChangeMessage, @Ctx() context: RequestContext) {
    return toEntitlementsUpdatedV2(await stateAfter(change, context), context.now)
  }

  @Subscription(() => UsageUpdated, {
    nullable: true,
    description:
      'Each change of a usage that limits an entitlement; changes in quick succession are sent as one. Of resources only where usage.resourceId is asked for.',
    subscribe: listenTo(['usage'], ['usage', 'resourceId']),
  })
  usageUpdated(@Root() change: ChangeMessage, @Ctx() { now }: RequestContext) {
    return toUsageUpdated(change, now)
  }

  @Subscription(() => UsageUpdatedV2, {
    nullable: true,
    description:
      'The same as usageUpdated, naming the entitlement instead of carrying it. Of resources only where resourceId is asked for.',
    subscribe: listenTo(['usage'], ['resourceId']),
  })
  usageUpdatedV2(@Root() change: ChangeMessage) {
    return toUsageUpdatedV2(change)
  }

  @Subscription(() => PackagePublished, {
    nullable: true,
    description: 'Each version of a plan or add-on that is published. A client key hears of none.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes(['package']),
  })
  packagePublished(@Root() change: ChangeMessage) {
    return toPackagePublished(change)
  }

  @Subscription(() => CreditBalanceUpdated, {
    nullable: true,
    description:
      'Never sends anything, as there are no credits. Clients that listen to it would reconnect all the time if it were refused.',
    subscribe: ({ context }: { context: RequestContext }) => context.changes([]),
  })
  creditBalanceUpdated() {
    return null
  }
}

/**
 * Changes of these kinds. What is of a resource goes only to documents that ask for the place where a message says so: others take every message for
 * the customer's own.
 */
function listenTo(kinds: readonly ChangeKind[], resourcePath: readonly string[]) {
  return ({ context, info }: { context: RequestContext; info: GraphQLResolveInfo }): AsyncIterable<ChangeMessage> =>
    asksFor(info, resourcePath) ? context.changes(kinds) : ofCustomers(context.changes(kinds))
}

async function* ofCustomers(changes: AsyncIterable<ChangeMessage>): AsyncGenerator<ChangeMessage, void> {
  for await (const change of changes) if (!change.resourceId) yield change
}

/** What is held after the change; asked for when the message does not carry it. */
async function stateAfter({ customerId, state, ...message }: ChangeMessage, { app, identity }: RequestContext) {
  return state ?? (await app.entitlements.state(identity.environmentId, customerId, message.resourceId ?? null))
}
