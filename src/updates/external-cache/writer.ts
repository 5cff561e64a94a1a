import type { EpochMs } from '../../kernel/clock.js'
import { scanKeys } from '../../platform/redis/cluster.js'
import type { Redis } from '../../platform/redis.js'
import type { UsageChange } from '../wire/change-message.js'
import { type HeldTexts, readHeld } from './held.js'
import {
  anyEntity,
  type EntityId,
  entityKey,
  entityOf,
  epochKey,
  escaped,
  holderOf,
  keysBelow,
  latestVersion,
  metadataKey,
  timestampKey,
  usageKey,
  withoutTimestamp,
} from './keys.js'
import { refuse } from './refuse.js'
import { toEntry, toMetadata, toUsage, type WritableState } from './value.js'

// What is no time (others may write here: a list, text, infinity) is none, and is written over: nothing would ever be later.
const versionOf = `
local function versionOf(text)
  local number = text and tonumber(text)
  return number and number >= 0 and number <= ${latestVersion} and number or -1
end`

/** Lua gives no call more than some thousand arguments. */
const mostUnpacked = 1_000

// KEYS: the epoch, guards, then what to write; each of these is followed by the key of its timestamp. ARGV: number of guards, ttl in seconds (negative: no
// expiry), epoch, the version from which on stored ones count, then a version and a value (empty: delete it) for each key to write. Answers how many were
// written. When a later epoch has begun, only what is later than its beginning: who told it may not have heard of the epoch yet, and what is earlier is read anew.
// A guard is an entity. A timestamp without a value says that it was purged, and that nothing older may come back; but one from before the epoch may be undone,
// and who tells something in the epoch knows whether it is.
const writeScript = `${versionOf}
local guards, ttl, epoch, floor = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local timestamps, texts = {KEYS[1]}, {}
for i = 3, #KEYS, 2 do timestamps[#timestamps + 1] = KEYS[i] end
for from = 1, #timestamps, ${mostUnpacked} do
  local some = redis.call('MGET', unpack(timestamps, from, math.min(from + ${mostUnpacked - 1}, #timestamps)))
  for i, text in ipairs(some) do texts[from + i - 1] = text end
end
local latest = versionOf(texts[1])
local since = epoch < latest and latest or -1
local expires = tonumber(ttl) >= 0
local function stored(i)
  local version = versionOf(texts[(i + 2) / 2])
  if version < floor then return -1 end
  if epoch == latest and version <= latest and redis.call('EXISTS', KEYS[i]) == 0 then return -1 end
  return version
end
local purged = -1
for i = 2, guards * 2, 2 do
  if redis.call('EXISTS', KEYS[i]) == 0 then purged = math.max(purged, stored(i)) end
end
local written, arg = 0, 5
for i = guards * 2 + 2, #KEYS, 2 do
  local version, value = ARGV[arg], ARGV[arg + 1]
  local number = tonumber(version)
  arg = arg + 2
  if number > since and number >= purged and number >= stored(i) then
    if value == '' then redis.call('DEL', KEYS[i])
    elseif expires then redis.call('SET', KEYS[i], value, 'EX', ttl)
    else redis.call('SET', KEYS[i], value) end
    if expires then redis.call('SET', KEYS[i + 1], version, 'EX', ttl) else redis.call('SET', KEYS[i + 1], version) end
    written = written + 1
  end
end
return written`

// KEYS: the epoch. ARGV: epoch. Answers whether it is the latest.
const epochScript = `${versionOf}
if tonumber(ARGV[1]) < versionOf(redis.call('MGET', KEYS[1])[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
return 1`

/** Longer than any message waits in a queue, so that no message from before a purge finds its trace gone. */
const purgeTraceSeconds = 7 * 86_400
/** Keys that a step of a scan looks at, and at most purges: Redis does nothing else meanwhile. */
const keysPerStep = 1_000

interface Write {
  key: string
  version: EpochMs
  /** `deleted`: takes the value away and leaves its timestamp. */
  json: string
}

const deleted = ''

/** What a write is part of; absent: of no message. */
export interface Writing {
  /** Of the message: once a later one has begun, only what is later than its beginning is written. */
  epoch?: EpochMs
  /** Everything is read anew: stored versions of before this count for nothing. */
  replacesBefore?: EpochMs
}

interface ScriptedRedis extends Redis {
  writeExternalCache(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<number>
  beginEpoch(key: string, epoch: EpochMs): Promise<0 | 1>
}

/**
 * Writes an environment's entitlement states where SDKs and sidecars read them. Every key has a version beside it and is written together with it,
 * only when no newer one is there: several writers, repeats and any order end with the same entitlements and usages. (What may differ is a usage
 * key of a feature that the entry does not list, and the usage inside the entry; readers look at neither.)
 *
 * All methods answer whether anything was written, and fail with UNAVAILABLE when Redis did not take it; they are safe to repeat.
 */
export class ExternalCacheWriter {
  readonly #redis: ScriptedRedis
  readonly #prefix: string
  readonly #ttlSeconds: number

  /** `ttlSeconds`: negative keeps keys for ever; not 0. */
  constructor({ redis, prefix, ttlSeconds }: { redis: Redis; prefix: string; ttlSeconds: number }) {
    redis.defineCommand('writeExternalCache', { lua: writeScript })
    redis.defineCommand('beginEpoch', { numberOfKeys: 1, lua: epochScript })
    this.#redis = redis as ScriptedRedis
    this.#prefix = prefix
    this.#ttlSeconds = ttlSeconds
  }

  /**
   * Replaces the entry; each usage stays when it is newer. The entry's version is that of its rights and not of its usages: readers take a resource's
   * entry for a miss when it is older than the customer's own, and usage alone must not make it one.
   */
  writeState(state: WritableState, writing: Writing = {}): Promise<boolean> {
    const entity = entityKey(this.#prefix, state)
    const version = state.accessVersion
    const usages = state.entitlements.flatMap(({ feature, usage }) => {
      // With new rights another series may be read, whose usage was last changed before that of the old one.
      return usage
        ? [{ key: usageKey(entity, feature.refId), version: Math.max(usage.updatedAt, version), json: JSON.stringify(toUsage(usage)) }]
        : []
    })
    const writes = [
      { key: entity, version, json: JSON.stringify(toEntry(state)) },
      { key: metadataKey(entity), version, json: JSON.stringify(toMetadata(state)) },
      ...usages,
    ]
    return this.#write(this.#guards(state), writes, writing)
  }

  /** Writes one usage. Also when there is no entry yet: one that is on its way may be older. */
  writeUsage(id: EntityId, { featureId, usage }: UsageChange, writing: Writing = {}): Promise<boolean> {
    const key = usageKey(entityKey(this.#prefix, id), featureId)
    return this.#write(this.#guards(id), [{ key, version: usage.updatedAt, json: JSON.stringify(toUsage(usage)) }], writing)
  }

  /**
   * Deletes everything about a customer (its resources included), or about one resource, that is not newer. What readers see is gone at once; for the rest the
   * key space is scanned, which may take seconds in a large one.
   */
  async purge(id: EntityId, version: EpochMs, writing: Writing = {}): Promise<boolean> {
    const entity = entityKey(this.#prefix, id)
    const isApplied = await this.#delete([entity, metadataKey(entity)], version, writing)
    for await (const found of this.#keys(keysBelow(entity))) await this.#delete([...new Set(found.map(withoutTimestamp))], version, writing)
    return isApplied
  }

  /** From now on nothing is written that was told in an older epoch and is earlier than this one. False: a later one has begun. */
  async beginEpoch(epoch: EpochMs): Promise<boolean> {
    return (await this.#redis.beginEpoch(epochKey(this.#prefix), epoch).catch(refuse)) === 1
  }

  /** Those that have an entry, some at a time; one that gets its entry meanwhile may be left out, and one may come twice. */
  async *entities({ alsoWithoutEntry = false } = {}): AsyncGenerator<EntityId[]> {
    const pattern = `${escaped(anyEntity(this.#prefix))}*`
    for await (const found of this.#keys(pattern)) {
      // Usage is written also when there is no entry yet.
      const holders = alsoWithoutEntry ? found.flatMap((key) => holderOf(this.#prefix, key) ?? []) : []
      const each = new Map(holders.map((id) => [entityKey(this.#prefix, id), id]))
      yield [...found.flatMap((key) => entityOf(this.#prefix, key) ?? []), ...(await this.#withoutEntry(each))]
    }
  }

  async #withoutEntry(byKey: ReadonlyMap<string, EntityId>): Promise<EntityId[]> {
    if (byKey.size === 0) return []
    const pipeline = this.#redis.pipeline()
    for (const key of byKey.keys()) pipeline.exists(key)
    const answers = (await pipeline.exec().catch(refuse)) ?? []
    const failed = answers.find(([error]) => error)
    if (failed) refuse(failed[0])
    return [...byKey.values()].filter((_, at) => answers[at]?.[1] === 0)
  }

  async *#keys(pattern: string): AsyncGenerator<string[]> {
    try {
      yield* scanKeys(this.#redis, pattern, keysPerStep)
    } catch (error) {
      refuse(error)
    }
  }

  /** What there is of one, as it is written. */
  held(id: EntityId): Promise<HeldTexts> {
    return readHeld(this.#redis, this.#prefix, id)
  }

  #delete(keys: string[], version: EpochMs, writing: Writing): Promise<boolean> {
    return this.#write(
      [],
      keys.map((key) => ({ key, version, json: deleted })),
      writing,
      purgeTraceSeconds,
    )
  }

  /** A resource goes with its customer. */
  #guards(id: EntityId): string[] {
    const customer = entityKey(this.#prefix, { ...id, resourceId: null })
    return id.resourceId === null ? [customer] : [customer, entityKey(this.#prefix, id)]
  }

  async #write(
    guards: string[],
    writes: Write[],
    { epoch = anyEpoch, replacesBefore = 0 }: Writing,
    ttlSeconds = this.#ttlSeconds,
  ): Promise<boolean> {
    if (writes.length === 0) return false
    const keys = [epochKey(this.#prefix), ...[...guards, ...writes.map(({ key }) => key)].flatMap((key) => [key, timestampKey(key)])]
    const values = writes.flatMap(({ version, json }) => [version, json])
    const given = [guards.length, ttlSeconds, epoch, replacesBefore, ...values]
    return (await this.#redis.writeExternalCache(keys.length, ...keys, ...given).catch(refuse)) > 0
  }
}

/** What is read from the API by itself is of now. */
const anyEpoch = Number.MAX_SAFE_INTEGER
