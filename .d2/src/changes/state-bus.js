import { performance } from 'node:perf_hooks';
import { newId } from '../kernel/id.js';
import { Counter, Histogram, latencyBuckets } from '../platform/metrics.js';
import { openRedis } from '../platform/redis.js';
/**
 * How long a process may trust what it holds without a sign that it hears everything. An announcement waits no longer than this for those that do not
 * acknowledge it: by then they do not trust what they hold.
 */
const leaseMs = 1_000;
/** Several in a lease, so that a slow moment of Redis or of the process costs no trust. */
const beatMs = 200;
function packChange({ customerId, version, usage: changed }) {
    if (!changed)
        return [customerId, version];
    const { currentUsage, periodStart, periodEnd, updatedAt } = changed.usage;
    return [customerId, version, changed.resourceId, changed.featureId, currentUsage, periodStart, periodEnd, updatedAt];
}
function unpackChange([customerId, version, ...usage]) {
    if (usage.length === 0)
        return { customerId, version };
    const [resourceId, featureId, currentUsage, periodStart, periodEnd, updatedAt] = usage;
    return { customerId, version, usage: { resourceId, featureId, usage: { currentUsage, periodStart, periodEnd, updatedAt } } };
}
const channelOf = (prefix, environmentId) => `${prefix}:held-changes:${environmentId}`;
const acknowledgementsOf = (prefix, sender) => `${prefix}:held-changes-heard:${sender}`;
/** The channel, and what to publish there. Workers do it for the process that the ticket is of, or without one, when nobody has to read its own write. */
export function announcementOf(prefix, environmentId, changes, ticket) {
    return [channelOf(prefix, environmentId), JSON.stringify({ ...ticket, changes: changes.map(packChange) })];
}
/**
 * Keeps the memories of all web processes in step. Redis delivers to one connection in order, so a ping that comes back on the subscriber's connection
 * proves that everything published before it was sent has been heard.
 */
export class StateBus {
    #id = newId();
    #prefix;
    /** The channel on which others say that they have heard. */
    #acknowledgements;
    #subscriber;
    #publisher;
    #life;
    #listener;
    /** Environments by channel; true once Redis has confirmed. */
    #channels = new Map();
    #unheard = new Map();
    #seconds;
    #lost;
    #announcements = 0;
    #trustedUntil = 0;
    #connection = 0;
    #isBeating = false;
    constructor({ life, queues, listener }) {
        this.#prefix = queues.prefix;
        this.#acknowledgements = acknowledgementsOf(queues.prefix, this.#id);
        this.#life = life;
        this.#listener = listener;
        this.#publisher = openRedis(life, queues.redisUrl, 'request');
        this.#subscriber = openRedis(life, queues.redisUrl, 'subscriber');
        const registers = [life.metrics];
        this.#seconds = new Histogram({
            name: 'tollgate_announcement_seconds',
            help: 'From the commit of a change until every web process knew of it',
            buckets: latencyBuckets,
            registers,
        });
        this.#lost = new Counter({
            name: 'tollgate_announcements_unheard_total',
            help: 'Announcements that some web process did not acknowledge, or that Redis did not take',
            registers,
        });
        this.#subscriber.on('message', (channel, text) => this.#receive(channel, text));
        this.#subscriber.on('close', () => this.#interrupt());
        this.#subscriber.on('ready', () => void this.#resume());
        life.open('lease of held states', setInterval(() => void this.#beat(), beatMs), clearInterval);
    }
    /** Whether everything that was announced until now has been heard here. Asked for the first time, it begins to listen. */
    isTrusted(environmentId) {
        const channel = this.#channels.get(channelOf(this.#prefix, environmentId));
        if (!channel)
            this.#listen(environmentId);
        else if (channel.isHeard && performance.now() < this.#trustedUntil)
            return true;
        void this.#beat();
        return false;
    }
    /**
     * Answers when no process answers from what it held before: each has acknowledged the changes, or has lost its trust in what it holds. Never fails:
     * the change is committed, and its delivery tells everybody once more.
     */
    announce(environmentId, changes) {
        if (changes.length === 0)
            return Promise.resolve();
        this.#listener.apply(environmentId, changes);
        const { ticket } = this.expect();
        return this.#heardByAll(ticket.number, this.#publisher.publish(...announcementOf(this.#prefix, environmentId, changes, ticket)));
    }
    /** For changes that a worker announces. They are applied here when they are heard. */
    expect() {
        this.#announcements += 1;
        const number = this.#announcements;
        this.#unheard.set(number, { by: new Set(), receivers: Number.POSITIVE_INFINITY, done: () => undefined });
        return {
            ticket: { sender: this.#id, number },
            heardBy: (receivers) => this.#heardByAll(number, Promise.resolve(receivers)),
            forget: () => this.#unheard.delete(number),
        };
    }
    #heardByAll(number, receivers) {
        const startedAt = performance.now();
        const unheard = this.#unheard.get(number);
        return new Promise((resolve) => {
            const end = (isHeard) => {
                clearTimeout(lease);
                this.#unheard.delete(number);
                if (!isHeard)
                    this.#lost.inc();
                this.#seconds.observe((performance.now() - startedAt) / 1000);
                resolve();
            };
            const lease = setTimeout(end, leaseMs, false);
            unheard.done = () => end(true);
            receivers
                // Counted from when it may have been published at the latest.
                .finally(() => this.#unheard.has(number) && lease.refresh())
                .then((count) => {
                unheard.receivers = count;
                this.#acknowledged(number);
            })
                .catch(() => undefined);
        });
    }
    /** `by` may say so more than once: a batch that is worked on twice is announced twice. */
    #acknowledged(number, by) {
        const unheard = this.#unheard.get(number);
        if (!unheard)
            return;
        if (by !== undefined)
            unheard.by.add(by);
        if (unheard.by.size >= unheard.receivers)
            unheard.done();
    }
    #receive(channelName, text) {
        if (channelName === this.#acknowledgements) {
            const [number, by] = text.split(' ');
            this.#acknowledged(Number(number), by);
            return;
        }
        const channel = this.#channels.get(channelName);
        if (channel)
            this.#hear(channel.environmentId, channelName, text);
    }
    #hear(environmentId, channelName, text) {
        try {
            const { changes, sender, number } = JSON.parse(text);
            this.#listener.apply(environmentId, changes.map(unpackChange));
            if (sender === this.#id)
                this.#acknowledged(number, this.#id);
            // One that does not arrive is waited for until the lease is over.
            else if (sender)
                this.#publisher.publish(acknowledgementsOf(this.#prefix, sender), `${number} ${this.#id}`).catch(() => undefined);
        }
        catch (error) {
            this.#life.log.error({ err: error, channel: channelName }, 'held changes could not be read');
            this.#listener.forgetAll();
        }
    }
    #listen(environmentId) {
        const name = channelOf(this.#prefix, environmentId);
        const channel = { environmentId, isHeard: false };
        this.#channels.set(name, channel);
        void this.#subscribe([name]);
    }
    async #subscribe(names) {
        const connection = this.#connection;
        try {
            await this.#subscriber.subscribe(this.#acknowledgements, ...names);
        }
        catch (error) {
            this.#life.log.debug({ err: error }, 'held changes cannot be heard yet');
            return;
        }
        if (connection !== this.#connection)
            return;
        for (const name of names) {
            const channel = this.#channels.get(name);
            if (channel)
                channel.isHeard = true;
        }
        await this.#beat();
    }
    #interrupt() {
        this.#connection += 1;
        this.#trustedUntil = 0;
        for (const channel of this.#channels.values())
            channel.isHeard = false;
        this.#listener.forgetAll();
    }
    async #resume() {
        await this.#subscribe([...this.#channels.keys()]);
    }
    /** Counted from before the ping was sent: what was published later may still be on its way. */
    async #beat() {
        if (this.#isBeating || this.#channels.size === 0 || this.#subscriber.status !== 'ready')
            return;
        this.#isBeating = true;
        const connection = this.#connection;
        const sentAt = performance.now();
        try {
            await this.#subscriber.ping();
            if (connection === this.#connection)
                this.#trustedUntil = sentAt + leaseMs;
        }
        catch (error) {
            this.#life.log.debug({ err: error }, 'no sign of life from Redis');
        }
        finally {
            this.#isBeating = false;
        }
    }
}
//# sourceMappingURL=state-bus.js.map