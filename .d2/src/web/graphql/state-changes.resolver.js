var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
var __param = (this && this.__param) || function (paramIndex, decorator) {
    return function (target, key) { decorator(target, key, paramIndex); }
};
import { Arg, Ctx, Resolver, Root, Subscription } from 'type-graphql';
import { Problem } from '../../kernel/problem.js';
import { isReached } from '../../updates/stream/change-stream.js';
import { StateChange, toStateChange } from './state-changes.types.js';
/** For caches such as the sidecar's: everything that may change an answer, in one stream that can be taken up again. */
let StateChangesResolver = class StateChangesResolver {
    async stateChanges(_after, event, { app, identity, now }) {
        const change = 'live' in event ? event.live : null;
        const needsState = change?.kind === 'entitlements' || change?.kind === 'purge';
        const state = needsState
            ? (change.state ?? (await app.entitlements.state(identity.environmentId, change.customerId, change.resourceId ?? null)))
            : null;
        return toStateChange(event, state, now);
    }
};
__decorate([
    Subscription(() => StateChange, {
        description: 'All changes of the environment from now on. With `after` (the last `id` seen; empty when there is none) first what was missed since, coalesced, then CAUGHT_UP; or GAP when that is not known any more. Needs a server key.',
        subscribe: ({ args, context }) => listen(context, args.after),
    }),
    __param(0, Arg('after', () => String, { nullable: true, description: 'The `id` of the last change seen.' })),
    __param(1, Root()),
    __param(2, Ctx()),
    __metadata("design:type", Function),
    __metadata("design:paramtypes", [Object, Object, Object]),
    __metadata("design:returntype", Promise)
], StateChangesResolver.prototype, "stateChanges", null);
StateChangesResolver = __decorate([
    Resolver()
], StateChangesResolver);
export { StateChangesResolver };
function listen(context, after) {
    if (context.identity.kind !== 'SERVER')
        throw new Problem('PERMISSION_DENIED', 'IDENTITY_FORBIDDEN', 'stateChanges needs a server key.');
    return after === undefined || after === null ? live(context) : caughtUp(context, after);
}
async function* live({ changes }) {
    for await (const change of changes(['entitlements', 'usage', 'purge', 'package']))
        yield { live: change };
}
/** Listens before it reads what was missed, so that nothing falls between the two. */
async function* caughtUp(context, after) {
    const following = live(context);
    const first = following.next();
    // Awaited below; until then a failure must not count as unhandled.
    first.catch(() => undefined);
    try {
        const catchUp = await context.missedSince(after === '' ? null : after);
        for (const missed of catchUp.missed)
            yield { missed };
        yield { end: catchUp };
        for (let next = await first; !next.done; next = await following.next()) {
            const isTold = 'live' in next.value && isReached(next.value.live.position ?? '', catchUp.position);
            if (!isTold)
                yield next.value;
        }
    }
    finally {
        await following.return();
    }
}
//# sourceMappingURL=state-changes.resolver.js.map