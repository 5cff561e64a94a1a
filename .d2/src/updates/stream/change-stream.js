import { changeKinds } from '../../changes/model/change.js';
import { changeChannel } from '../wire/change-message.js';
/**
 * The latest changes of each environment, for readers that were away for a moment.
 *
 * stream    one Redis Stream per environment; its entries say who changed and not what to: about 150 bytes, so that the whole of it is small
 * position  the id of an entry; a reader that has seen everything up to it may ask for what came after
 * gap       the position is not in the stream (trimmed, or the stream was lost with its Redis): what was missed is not known
 */
/** Some minutes of a busy environment. Trimming is approximate: Redis cuts whole blocks of entries. */
const mostEntries = 10_000;
/** In one step, during which Redis does nothing else: each may carry a whole state. */
export const messagesPerStep = 100;
// KEYS: the stream. ARGV: most entries, the channel, then for each message its JSON and the fields of its entry.
// The message is published with the entry's id in it, in one step, so that ids arrive in their order.
const appendScript = `
for i = 3, #ARGV, 2 do
  local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'change', ARGV[i + 1])
  redis.call('PUBLISH', ARGV[2], '{"position":"' .. id .. '",' .. string.sub(ARGV[i], 2))
end`;
export class ChangeStream {
    #redis;
    #prefix;
    constructor({ redis, prefix }) {
        redis.defineCommand('appendChanges', { numberOfKeys: 1, lua: appendScript });
        this.#redis = redis;
        this.#prefix = prefix;
    }
    /** Keeps the messages and publishes them on the channel of their environment, each with its `position`. Safe to repeat: they arrive twice then. */
    async append(messages) {
        const steps = [];
        for (const [environmentId, ofEnvironment] of byEnvironment(messages)) {
            const channel = changeChannel(this.#prefix, environmentId);
            for (let start = 0; start < ofEnvironment.length; start += messagesPerStep) {
                const values = ofEnvironment.slice(start, start + messagesPerStep).flatMap((message) => [JSON.stringify(message), toEntry(message)]);
                steps.push(this.#redis.appendChanges(this.#key(environmentId), mostEntries, channel, ...values));
            }
        }
        await Promise.all(steps);
    }
    /** What came after a position; null: nothing is known to the reader yet, which is a gap. */
    async since(environmentId, position) {
        const key = this.#key(environmentId);
        const isPosition = position !== null && /^\d+-\d+$/.test(position);
        // From the position itself, inclusively: it tells whether the stream still has everything after it.
        const entries = isPosition ? await this.#redis.xrange(key, position, '+') : [];
        if (entries[0]?.[0] === position && position !== null)
            return { position: entries.at(-1)[0], isGap: false, missed: latestOf(entries.slice(1)) };
        return { position: await this.#lastPosition(key), isGap: true, missed: [] };
    }
    /** An empty stream is given a first entry, so that there is a position to come back to. */
    async #lastPosition(key) {
        const [last] = await this.#redis.xrevrange(key, '+', '-', 'COUNT', 1);
        return last?.[0] ?? String(await this.#redis.xadd(key, '*', 'change', ''));
    }
    #key(environmentId) {
        return `${this.#prefix}:change-stream:${environmentId}`;
    }
}
export function byEnvironment(messages) {
    const groups = new Map();
    for (const message of messages) {
        const group = groups.get(message.environmentId);
        if (group)
            group.push(message);
        else
            groups.set(message.environmentId, [message]);
    }
    return groups;
}
/** Whether `position` is at or before `other`. */
export function isReached(position, other) {
    const [[ms, sequence], [otherMs, otherSequence]] = [parsePosition(position), parsePosition(other)];
    return ms < otherMs || (ms === otherMs && sequence <= otherSequence);
}
function parsePosition(position) {
    const [ms = '0', sequence = '0'] = position.split('-');
    return [Number(ms), Number(sequence)];
}
const toEntry = ({ kind, customerId, resourceId, version }) => JSON.stringify([kind, customerId, resourceId ?? null, version]);
function latestOf(entries) {
    const latest = new Map();
    for (const [position, [, text = '']] of entries) {
        if (text === '')
            continue;
        const [kind, customerId, resourceId, version] = JSON.parse(text);
        // A kind of a newer version says at least that something changed.
        const known = changeKinds.includes(kind) ? kind : 'entitlements';
        const key = JSON.stringify([customerId, resourceId]);
        latest.delete(key);
        latest.set(key, { position, kind: known, customerId, resourceId, version });
    }
    return [...latest.values()];
}
//# sourceMappingURL=change-stream.js.map