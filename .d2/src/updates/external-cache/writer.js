import { unavailable } from '../../kernel/problem.js';
import { entityKey, keysBelow, metadataKey, timestampKey, usageKey, withoutTimestamp } from './keys.js';
import { toEntry, toMetadata, toUsage } from './value.js';
// KEYS: guards, then what to write; each key is followed by that of its timestamp. ARGV: number of guards, ttl in seconds (negative: no expiry),
// then a version and a value (empty: delete it) for each key to write. Answers how many were written.
// A guard is an entity. A timestamp without a value says that it was purged, and that nothing older may come back.
const writeScript = `
local guards, ttl = tonumber(ARGV[1]), tonumber(ARGV[2])
local function stored(key) return tonumber(redis.call('GET', key) or '') or -1 end
local function put(key, value)
  if ttl < 0 then redis.call('SET', key, value) else redis.call('SET', key, value, 'EX', ttl) end
end
local purged = -1
for i = 1, guards * 2, 2 do
  if redis.call('EXISTS', KEYS[i]) == 0 then purged = math.max(purged, stored(KEYS[i + 1])) end
end
local written, arg = 0, 3
for i = guards * 2 + 1, #KEYS, 2 do
  local version, value = ARGV[arg], ARGV[arg + 1]
  arg = arg + 2
  if tonumber(version) >= math.max(purged, stored(KEYS[i + 1])) then
    if value == '' then redis.call('DEL', KEYS[i]) else put(KEYS[i], value) end
    put(KEYS[i + 1], version)
    written = written + 1
  end
end
return written`;
/** Longer than any message waits in a queue, so that no message from before a purge finds its trace gone. */
const purgeTraceSeconds = 7 * 86_400;
/** Keys that a step of a scan looks at, and at most purges: Redis does nothing else meanwhile. */
const keysPerStep = 1_000;
const deleted = '';
/**
 * Writes an environment's entitlement states where SDKs and sidecars read them. Every key has a version beside it and is written together with it,
 * only when no newer one is there: several writers, repeats and any order end with the same entitlements and usages. (What may differ is a usage
 * key of a feature that the entry does not list, and the usage inside the entry; readers look at neither.)
 *
 * All methods answer whether anything was written, and fail with UNAVAILABLE when Redis did not take it; they are safe to repeat.
 */
export class ExternalCacheWriter {
    #redis;
    #prefix;
    #ttlSeconds;
    /** `ttlSeconds`: negative keeps keys for ever; not 0. */
    constructor({ redis, prefix, ttlSeconds }) {
        redis.defineCommand('writeExternalCache', { lua: writeScript });
        this.#redis = redis;
        this.#prefix = prefix;
        this.#ttlSeconds = ttlSeconds;
    }
    /**
     * Replaces the entry; each usage stays when it is newer. The entry's version is that of its rights and not of its usages: readers take a resource's
     * entry for a miss when it is older than the customer's own, and usage alone must not make it one.
     */
    writeState(state) {
        const entity = entityKey(this.#prefix, state);
        const version = state.accessVersion;
        const usages = state.entitlements.flatMap(({ feature, usage }) => {
            // With new rights another series may be read, whose usage was last changed before that of the old one.
            return usage
                ? [{ key: usageKey(entity, feature.refId), version: Math.max(usage.updatedAt, version), json: JSON.stringify(toUsage(usage)) }]
                : [];
        });
        return this.#write(this.#guards(state), [
            { key: entity, version, json: JSON.stringify(toEntry(state)) },
            { key: metadataKey(entity), version, json: JSON.stringify(toMetadata(state)) },
            ...usages,
        ]);
    }
    /** Writes one usage. Also when there is no entry yet: one that is on its way may be older. */
    writeUsage(id, { featureId, usage }) {
        const key = usageKey(entityKey(this.#prefix, id), featureId);
        return this.#write(this.#guards(id), [{ key, version: usage.updatedAt, json: JSON.stringify(toUsage(usage)) }]);
    }
    /**
     * Deletes everything about a customer (its resources included), or about one resource, that is not newer. What readers see is gone at once; for the rest the
     * key space is scanned, which may take seconds in a large one.
     */
    async purge(id, version) {
        const entity = entityKey(this.#prefix, id);
        const isApplied = await this.#delete([entity, metadataKey(entity)], version);
        let cursor = '0';
        do {
            const [next, found] = await this.#redis.scan(cursor, 'MATCH', keysBelow(entity), 'COUNT', keysPerStep).catch(refuse);
            await this.#delete([...new Set(found.map(withoutTimestamp))], version);
            cursor = next;
        } while (cursor !== '0');
        return isApplied;
    }
    #delete(keys, version) {
        return this.#write([], keys.map((key) => ({ key, version, json: deleted })), purgeTraceSeconds);
    }
    /** A resource goes with its customer. */
    #guards(id) {
        const customer = entityKey(this.#prefix, { ...id, resourceId: null });
        return id.resourceId === null ? [customer] : [customer, entityKey(this.#prefix, id)];
    }
    async #write(guards, writes, ttlSeconds = this.#ttlSeconds) {
        if (writes.length === 0)
            return false;
        const keys = [...guards, ...writes.map(({ key }) => key)].flatMap((key) => [key, timestampKey(key)]);
        const values = writes.flatMap(({ version, json }) => [version, json]);
        return (await this.#redis.writeExternalCache(keys.length, ...keys, guards.length, ttlSeconds, ...values).catch(refuse)) > 0;
    }
}
const refuse = (cause) => {
    throw unavailable('The external cache did not take the write', cause);
};
//# sourceMappingURL=writer.js.map