import { Arg, Ctx, Resolver, Root, Subscription } from 'type-graphql'
import { isReached } from '../../../updates/wire/position.js'
import type { RequestContext } from '../operations/context.js'
import { StateChange, type StateChangeEvent, toStateChange } from './state-changes.types.js'

/** For caches such as the sidecar's: everything that may change an answer, in one stream that can be taken up again. */
@Resolver()
export class StateChangesResolver {
  @Subscription(() => StateChange, {
    description:
      'All changes of the environment from now on. With `after` (the last `id` seen; empty when there is none) first what was missed since, coalesced, then CAUGHT_UP; or GAP when that is not known any more. Needs a server key.',
    subscribe: ({ args, context }) => listen(context, args.after),
  })
  async stateChanges(
    @Arg('after', () => String, { nullable: true, description: 'The `id` of the last change seen.' }) _after: string | null | undefined,
    @Root() event: StateChangeEvent,
    @Ctx() { app, identity, now }: RequestContext,
  ) {
    const change = 'live' in event ? event.live : null
    const needsState = change?.kind === 'entitlements' || change?.kind === 'purge'
    const state = needsState
      ? (change.state ?? (await app.entitlements.state(identity.environmentId, change.customerId, change.resourceId ?? null)))
      : null
    return toStateChange(event, state, now)
  }
}

function listen(context: RequestContext, after: string | null | undefined): AsyncGenerator<StateChangeEvent, void> {
  return after === undefined || after === null ? live(context) : caughtUp(context, after)
}

async function* live({ changes }: RequestContext): AsyncGenerator<StateChangeEvent, void> {
  for await (const change of changes(['entitlements', 'usage', 'purge', 'package'])) yield { live: change }
}

/** Listens before it reads what was missed, so that nothing falls between the two. */
async function* caughtUp(context: RequestContext, after: string): AsyncGenerator<StateChangeEvent, void> {
  const following = live(context)
  const first = following.next()
  // Awaited below; until then a failure must not count as unhandled.
  first.catch(() => undefined)
  try {
    let catchUp = await context.missedSince(after === '' ? null : after)
    for (const missed of catchUp.missed) yield { missed }
    while (!catchUp.isLast) {
      catchUp = await context.missedSince(catchUp.position)
      for (const missed of catchUp.missed) yield { missed }
    }
    yield { end: catchUp }
    for (let next = await first; !next.done; next = await following.next()) {
      const isTold = 'live' in next.value && isReached(next.value.live.position ?? '', catchUp.position)
      if (!isTold) yield next.value
    }
  } finally {
    await following.return()
  }
}
