import { EventEmitter, on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {} from '../changes/model/change.js';
import { unavailable } from '../kernel/problem.js';
import { changeChannel } from '../updates/wire/change-message.js';
/** The changes of environments as they are delivered. Redis is asked only for the environments that somebody listens to. */
export class ChangeFeed {
    #redis;
    #prefix;
    #log;
    #channels = new Map();
    #gapListeners = [];
    /** `redis` is a subscriber's connection, used for nothing else. */
    constructor({ redis, prefix, log }) {
        this.#redis = redis;
        this.#prefix = prefix;
        this.#log = log;
        redis.on('message', (channel, text) => this.#receive(channel, text));
        let isInterrupted = false;
        redis.on('close', () => {
            isInterrupted = true;
        });
        redis.on('ready', () => {
            if (isInterrupted && this.#channels.size > 0)
                void this.#resume();
            isInterrupted = false;
        });
    }
    /** Called when changes may have been missed: whoever listened does not know any more what is current. */
    onGap(listener) {
        this.#gapListeners.push(listener);
    }
    /**
     * Answers once the changes of the environment arrive here, and with it what ends that. A socket holds its environment, so that a subscription
     * on it misses nothing from the moment it is received.
     */
    async hold(environmentId) {
        const channel = this.#open(environmentId);
        try {
            await withinDeadline(channel.subscribed);
        }
        catch (error) {
            this.#release(environmentId, channel);
            throw unavailable('Updates cannot be listened to at the moment', error);
        }
        return () => this.#release(environmentId, channel);
    }
    /** Changes of the environment from now on, until `signal` aborts. */
    async *changes(environmentId, { kinds, customerId, signal }) {
        const channel = this.#open(environmentId);
        try {
            for await (const [change] of on(channel.emitter, 'change', { signal })) {
                if (kinds.includes(change.kind) && (customerId === null || change.customerId === customerId))
                    yield change;
            }
        }
        catch (error) {
            if (!signal.aborted)
                throw error;
        }
        finally {
            this.#release(environmentId, channel);
        }
    }
    #open(environmentId) {
        const name = changeChannel(this.#prefix, environmentId);
        const known = this.#channels.get(name);
        const channel = known ?? { emitter: new EventEmitter().setMaxListeners(0), listeners: 0, subscribed: this.#redis.subscribe(name) };
        channel.listeners += 1;
        this.#channels.set(name, channel);
        return channel;
    }
    #release(environmentId, channel) {
        channel.listeners -= 1;
        if (channel.listeners > 0)
            return;
        const name = changeChannel(this.#prefix, environmentId);
        this.#channels.delete(name);
        this.#redis.unsubscribe(name).catch((error) => this.#log.debug({ err: error }, 'unsubscribing failed'));
    }
    #receive(name, text) {
        const channel = this.#channels.get(name);
        if (!channel)
            return;
        try {
            channel.emitter.emit('change', JSON.parse(text));
        }
        catch (error) {
            this.#log.error({ err: error, channel: name }, 'change message could not be read');
        }
    }
    /** ioredis subscribes again by itself, at a moment it does not tell: asking once more tells when it is done. */
    async #resume() {
        try {
            await this.#redis.subscribe(...this.#channels.keys());
            this.#log.info('listening to changes again, what came meanwhile was missed');
            for (const listener of this.#gapListeners)
                listener();
        }
        catch (error) {
            this.#log.warn({ err: error }, 'listening to changes failed');
        }
    }
}
/** The connection waits for a Redis that is away; a client should not. */
const subscribeTimeoutMs = 3_000;
async function withinDeadline(subscribed) {
    const deadline = new AbortController();
    const late = sleep(subscribeTimeoutMs, undefined, { signal: deadline.signal }).then(() => {
        throw new Error('no answer from Redis');
    });
    try {
        await Promise.race([subscribed, late]);
    }
    finally {
        deadline.abort();
        late.catch(() => undefined);
    }
}
//# sourceMappingURL=change-feed.js.map