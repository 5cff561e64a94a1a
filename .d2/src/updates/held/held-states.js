import { LRUCache } from 'lru-cache';
import { StateBus } from '../../changes/state-bus.js';
import { decideCheck } from '../../entitlement/service.js';
import { Counter, Gauge } from '../../platform/metrics.js';
import { beyondSignal } from '../../platform/within-signal.js';
import { freshUntil } from './fresh-until.js';
import { withUsages } from './merge-state.js';
/** An entitlement as objects, and once more as the texts that doors make of it. */
const bytesPerEntitlement = 3_000;
const bytesPerState = 500;
/**
 * Entitlement states in the memory of a process that answers reads: always what PostgreSQL has, without asking it. The argument is in `README.md`.
 */
export class HeldStates {
    #source;
    #shared;
    #clock;
    #bus;
    #customers;
    #loads = new Map();
    /** The refIds of the features of an environment, to tell an unknown feature from one that is not held. */
    #features = new Map();
    #reads;
    constructor(parts) {
        this.#source = parts.source;
        this.#shared = parts.shared;
        this.#clock = parts.clock;
        this.#customers = new LRUCache({ maxSize: parts.maxBytes, sizeCalculation: bytesOf });
        this.#bus = new StateBus({
            life: parts.life,
            queues: parts.queues,
            listener: { apply: (...heard) => this.#apply(...heard), forgetAll: () => this.#forgetAll() },
        });
        const registers = [parts.life.metrics];
        this.#reads = new Counter({
            name: 'tollgate_state_reads_total',
            help: 'Entitlement states that were asked for, by where they came from: memory, another reader, Redis, PostgreSQL',
            labelNames: ['source'],
            registers,
        });
        const customers = this.#customers;
        new Gauge({
            name: 'tollgate_held_states_bytes',
            help: 'Memory that held entitlement states take, estimated',
            registers,
            collect() {
                this.set(customers.calculatedSize);
            },
        });
    }
    /** What a customer or one of its resources holds, true at some instant after the call. The answer is shared: it must not be changed. */
    state(environmentId, customerRefId, resourceRefId) {
        const held = this.held(environmentId, customerRefId, resourceRefId);
        return held ? Promise.resolve(held) : this.#load(environmentId, customerRefId, resourceRefId);
    }
    /** The same when it is at hand, else null. */
    held(environmentId, customerRefId, resourceRefId) {
        const held = this.#customers.get(keyOf(environmentId, customerRefId))?.get(resourceRefId ?? '');
        if (!held || held.freshUntil <= this.#clock.now() || !this.#bus.isTrusted(environmentId))
            return null;
        this.#reads.inc(fromMemory);
        return held.state;
    }
    /** The decision, with the version of the last change that was more than usage. A denial is an answer. */
    async check(environmentId, question) {
        const { customerRefId, resourceRefId } = question;
        // Not awaited when it is at hand: this is the hottest path of the process.
        const state = this.held(environmentId, customerRefId, resourceRefId) ?? (await this.#load(environmentId, customerRefId, resourceRefId));
        return decideCheck(state, question, this.#clock.now(), async (refId) => (await this.#featureIds(environmentId)).has(refId));
    }
    /** Answers when no process answers reads from before the changes any more. Never fails. */
    announce(environmentId, changes) {
        return this.#bus.announce(environmentId, changes);
    }
    /** For what a worker announces in the name of this process. */
    expectAnnouncement() {
        return this.#bus.expect();
    }
    #load(environmentId, customerRefId, resourceRefId) {
        const read = () => this.#read(environmentId, customerRefId, resourceRefId);
        // Without word of changes a read that began earlier may answer from before a change that this caller knows of.
        if (!this.#bus.isTrusted(environmentId))
            return read();
        const key = keyOf(environmentId, customerRefId);
        const ofCustomer = this.#loads.get(key) ?? new Map();
        const resource = resourceRefId ?? '';
        const underWay = ofCustomer.get(resource);
        if (underWay) {
            this.#reads.inc({ source: 'another reader' });
            return underWay.answer;
        }
        const load = { isOutdated: false, answer: beyondSignal(read) };
        this.#loads.set(key, ofCustomer.set(resource, load));
        const finish = (state) => {
            if (load.isOutdated)
                return;
            ofCustomer.delete(resource);
            if (ofCustomer.size === 0)
                this.#loads.delete(key);
            // Without the catalog's version the state does not say until when it is true.
            if (state?.catalogVersion !== undefined)
                this.#hold(key, resource, state);
        };
        load.answer.then(finish, () => finish(null));
        return load.answer;
    }
    /** From Redis when that is what PostgreSQL has, else from the records. */
    async #read(environmentId, customerRefId, resourceRefId) {
        const of = { environmentId, customerId: customerRefId, resourceId: resourceRefId };
        const shared = await this.#shared.read(of, this.#clock.now());
        this.#reads.inc({ source: shared ? 'Redis' : 'PostgreSQL' });
        if (shared)
            return shared;
        const state = await this.#source.state(environmentId, customerRefId, resourceRefId);
        this.#shared.offer(state);
        return state;
    }
    #hold(key, resource, state) {
        const ofCustomer = this.#customers.peek(key) ?? new Map();
        ofCustomer.set(resource, { state, freshUntil: freshUntil(state) });
        this.#customers.set(key, ofCustomer);
    }
    #apply(environmentId, changes) {
        for (const change of changes) {
            if (change.customerId === null)
                this.#forgetEnvironment(environmentId);
            else
                this.#change(keyOf(environmentId, change.customerId), change);
        }
    }
    #change(key, { version, usage }) {
        this.#outdateLoads(key);
        const ofCustomer = this.#customers.peek(key);
        if (!ofCustomer)
            return;
        // The usage of a resource is part of the customer's, and may be that of others: only a single state can be patched.
        const [[resource, held] = [null, null]] = ofCustomer;
        if (usage && held && ofCustomer.size === 1 && resource === (usage.resourceId ?? '')) {
            const patched = withUsages(held.state, new Map([[usage.featureId, usage.usage]]));
            this.#hold(key, resource, patched);
        }
        else if (version === null || [...ofCustomer.values()].some(({ state }) => state.version < version))
            this.#customers.delete(key);
    }
    #outdateLoads(key) {
        for (const load of this.#loads.get(key)?.values() ?? [])
            load.isOutdated = true;
        this.#loads.delete(key);
    }
    #forgetEnvironment(environmentId) {
        this.#features.delete(environmentId);
        const isOfEnvironment = (key) => key.startsWith(environmentId);
        for (const key of [...this.#loads.keys()].filter(isOfEnvironment))
            this.#outdateLoads(key);
        for (const key of [...this.#customers.keys()].filter(isOfEnvironment))
            this.#customers.delete(key);
    }
    #forgetAll() {
        this.#features.clear();
        for (const key of [...this.#loads.keys()])
            this.#outdateLoads(key);
        this.#customers.clear();
    }
    #featureIds(environmentId) {
        if (!this.#bus.isTrusted(environmentId))
            return this.#source.featureRefIds(environmentId);
        const known = this.#features.get(environmentId);
        if (known)
            return known;
        const asked = beyondSignal(() => this.#source.featureRefIds(environmentId));
        this.#features.set(environmentId, asked);
        asked.catch(() => {
            if (this.#features.get(environmentId) === asked)
                this.#features.delete(environmentId);
        });
        return asked;
    }
}
const fromMemory = { source: 'memory' };
/** Environments are UUIDs, so their length keeps them apart from what follows. */
const keyOf = (environmentId, customerRefId) => environmentId + customerRefId;
function bytesOf(ofCustomer) {
    let bytes = 0;
    for (const { state } of ofCustomer.values()) {
        const entitlements = state.entitlements.length + (state.next?.entitlements.length ?? 0);
        bytes += bytesPerState + entitlements * bytesPerEntitlement;
    }
    return bytes;
}
//# sourceMappingURL=held-states.js.map