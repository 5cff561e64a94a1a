import { createSourceEventStream, execute, GraphQLError, Kind, } from 'graphql';
import { newId } from '../kernel/id.js';
import { Problem } from '../kernel/problem.js';
import { Counter, Gauge } from '../platform/metrics.js';
import { createContext } from './graphql/context.js';
import { toProblem, toWireError } from './graphql/errors.js';
/**
 * GraphQL subscriptions, each executed once for everybody who may see the same and sent the same document: a thousand sockets of an environment
 * cost one execution per change.
 */
export class Push {
    #options;
    #broadcasts = new Map();
    #executed;
    constructor(options) {
        this.#options = options;
        const registers = [options.metrics];
        this.#executed = new Counter({
            name: 'tollgate_pushes_executed_total',
            help: 'Changes translated for subscribers, once per environment and document',
            registers,
        });
        new Gauge({
            name: 'tollgate_subscriptions',
            help: 'Distinct GraphQL subscriptions, by environment and document',
            registers,
            collect: collectSize(this.#broadcasts),
        });
    }
    /** Answers what ends the listening. Fails with a Problem when the subscription cannot be made. */
    async join(request, listener) {
        const key = keyOf(request);
        const broadcast = this.#broadcasts.get(key) ?? this.#start(key, request);
        broadcast.listeners.add(listener);
        const leave = () => {
            broadcast.listeners.delete(listener);
            if (broadcast.listeners.size === 0)
                this.#end(key, broadcast);
        };
        try {
            await broadcast.started;
        }
        catch (error) {
            leave();
            throw error;
        }
        return leave;
    }
    #start(key, request) {
        const controller = new AbortController();
        const source = this.#open(request, controller.signal);
        const broadcast = { listeners: new Set(), controller, started: source };
        this.#broadcasts.set(key, broadcast);
        source.then((changes) => this.#run(key, broadcast, request, changes)).catch(() => this.#end(key, broadcast));
        return broadcast;
    }
    #end(key, broadcast) {
        if (this.#broadcasts.get(key) === broadcast)
            this.#broadcasts.delete(key);
        broadcast.controller.abort();
    }
    async #open({ identity, prepared, operationName, variables }, signal) {
        const { schema } = this.#options;
        const contextValue = this.#context(identity, signal);
        const source = await createSourceEventStream({
            schema,
            document: prepared.document,
            operationName,
            variableValues: variables,
            contextValue,
        });
        if (Symbol.asyncIterator in source)
            return source;
        throw toProblem(source.errors?.[0] ?? new Error('a subscription without a source'));
    }
    async #run(key, broadcast, request, changes) {
        const { log } = this.#options;
        try {
            for await (const change of changes) {
                const payload = await this.#execute(request, change, broadcast.controller.signal);
                if (payload)
                    for (const listener of broadcast.listeners)
                        listener.push(payload);
            }
        }
        catch (error) {
            const traceId = newId();
            log.error({ err: error, traceId, environmentId: request.identity.environmentId }, 'subscription failed');
            for (const listener of broadcast.listeners)
                listener.fail(toWireError(Problem.from(error), traceId));
        }
        finally {
            this.#end(key, broadcast);
        }
    }
    /** Null: nothing to send, as the change means nothing to the subscribers. */
    async #execute({ identity, prepared, operationName, variables }, change, signal) {
        const contextValue = this.#context(identity, signal);
        const { schema, log } = this.#options;
        this.#executed.inc();
        const result = await execute({
            schema,
            document: prepared.document,
            operationName,
            variableValues: variables,
            rootValue: change,
            contextValue,
        });
        const { traceId } = contextValue;
        const errors = result.errors?.map((error) => {
            const problem = toProblem(error);
            log.error({ err: problem.cause ?? problem, traceId, environmentId: identity.environmentId }, 'push failed');
            return toWireError(problem, traceId, error);
        });
        const isEmpty = !errors && Object.values(result.data ?? {}).every((value) => value === null);
        return isEmpty ? null : Buffer.from(JSON.stringify({ ...result, errors }));
    }
    #context(identity, signal) {
        const { app, feed, stream } = this.#options;
        const { environmentId, customerId } = identity;
        return createContext({
            app,
            identity,
            operation: { traceId: newId(), signal },
            listening: {
                changes: (kinds) => feed.changes(environmentId, { kinds, customerId, signal }),
                missedSince: (position) => stream.since(environmentId, position),
            },
        });
    }
}
/** Everything the answers depend on. */
function keyOf({ identity, query, prepared, operationName, variables }) {
    const own = prepared.document.definitions.some(asksForItsOwn) ? newId() : null;
    return JSON.stringify([identity.environmentId, identity.kind, identity.customerId, query, operationName ?? null, variables ?? null, own]);
}
/** A subscription with arguments (`stateChanges(after)`) begins with what only its client has to be told, so nobody can join it. */
function asksForItsOwn(definition) {
    const isRoot = definition.kind === Kind.OPERATION_DEFINITION ||
        (definition.kind === Kind.FRAGMENT_DEFINITION && definition.typeCondition.name.value === 'Subscription');
    return isRoot && definition.selectionSet.selections.some(hasArguments);
}
function hasArguments(selection) {
    if (selection.kind === Kind.FIELD)
        return (selection.arguments?.length ?? 0) > 0;
    return selection.kind === Kind.INLINE_FRAGMENT && selection.selectionSet.selections.some(hasArguments);
}
function collectSize(collection) {
    return function () {
        this.set(collection.size);
    };
}
//# sourceMappingURL=push.js.map