import { redisEpochLua } from '../../changes/wire/redis-epoch.js'
import type { DatabaseEpoch } from '../../platform/epoch/database-epoch.js'
import type { Redis } from '../../platform/redis.js'
import { type ChangeMessage, changeChannel } from '../wire/change-message.js'
import { epochOf, epochSuffixLua, idOf, type Position } from '../wire/position.js'
import { packEntry, type StreamEntry, unpackEntry } from '../wire/stream-entry.js'

/**
 * The latest changes of each environment, for readers that were away for a moment.
 *
 * stream    one Redis Stream per environment; its entries say who changed and not what to: about 150 bytes, so that the whole of it is small
 * position  of an entry; a reader that has seen everything up to it may ask for what came after
 * gap       the position is not in the stream (trimmed, or the stream was lost with its Redis), or of another epoch: what was missed is not known
 */

/** Some minutes of a busy environment. Trimming is approximate: Redis cuts whole blocks of entries. */
const mostEntries = 10_000

/** Read at a time: who was away for long is told in pieces, so that it takes no more memory than who was not. */
const entriesPerRead = 250

/** In one step, during which Redis does nothing else: each may carry a whole state. */
export const messagesPerStep = 100

// KEYS: the stream. ARGV: most entries, the channel, the database's epoch, then for each message its JSON and the fields of its entry.
// The message is published with the entry's position in it, in one step, so that positions arrive in their order.
const appendScript = `${redisEpochLua}${epochSuffixLua}
local suffix = epochSuffix(ARGV[3])
for i = 4, #ARGV, 2 do
  local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'change', ARGV[i + 1])
  redis.call('PUBLISH', ARGV[2], '{"position":"' .. id .. suffix .. '",' .. string.sub(ARGV[i], 2))
end`

// KEYS: the stream. ARGV: the database's epoch, the id of an entry or nothing, entries at most. Answers the position of the last entry, and the entries from
// that id on. An empty stream is given a first entry, so that there is a position to come back to.
const readScript = `${redisEpochLua}${epochSuffixLua}
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local id = last and last[1] or redis.call('XADD', KEYS[1], '*', 'change', '')
return {id .. epochSuffix(ARGV[1]), ARGV[2] == '' and {} or redis.call('XRANGE', KEYS[1], ARGV[2], '+', 'COUNT', ARGV[3])}`

type Entries = [id: string, fields: string[]][]

interface ScriptedRedis extends Redis {
  appendChanges(key: string, ...values: (string | number)[]): Promise<null>
  readChanges(key: string, databaseEpoch: string, id: string, count: number): Promise<[last: Position, entries: Entries]>
}

/** What a change was about. What the customer holds now is to be fetched by who wants to know. */
export interface MissedChange extends StreamEntry {
  position: Position
}

export interface CatchUp {
  /** Everything up to here is told. */
  position: Position
  /** Changes from now on have later positions; false: there is more to be asked for, from here. */
  isLast: boolean
  /** Something may have been missed that is not among `missed`. */
  isGap: boolean
  /** In order; of several changes of one customer or resource the last. */
  missed: MissedChange[]
}

export class ChangeStream {
  readonly #redis: ScriptedRedis
  readonly #prefix: string
  readonly #databaseEpoch: Pick<DatabaseEpoch, 'current'>

  constructor({ redis, prefix, databaseEpoch }: { redis: Redis; prefix: string; databaseEpoch: Pick<DatabaseEpoch, 'current'> }) {
    redis.defineCommand('appendChanges', { numberOfKeys: 1, lua: appendScript })
    redis.defineCommand('readChanges', { numberOfKeys: 1, lua: readScript })
    this.#redis = redis as ScriptedRedis
    this.#prefix = prefix
    this.#databaseEpoch = databaseEpoch
  }

  /** Keeps the messages and publishes them on the channel of their environment, each with its `position`. Safe to repeat: they arrive twice then. */
  async append(messages: readonly ChangeMessage[]): Promise<void> {
    const steps: Promise<null>[] = []
    for (const [environmentId, ofEnvironment] of byEnvironment(messages)) {
      const channel = changeChannel(this.#prefix, environmentId)
      for (let start = 0; start < ofEnvironment.length; start += messagesPerStep) {
        const values = ofEnvironment.slice(start, start + messagesPerStep).flatMap((message) => [JSON.stringify(message), entryOf(message)])
        steps.push(this.#redis.appendChanges(this.#key(environmentId), mostEntries, channel, this.#databaseEpoch.current, ...values))
      }
    }
    await Promise.all(steps)
  }

  /** What came first after a position; null: nothing is known to the reader yet, which is a gap. */
  async since(environmentId: string, position: Position | null): Promise<CatchUp> {
    const id = position === null ? null : idOf(position)
    // From the position itself, inclusively: it tells whether the stream still has everything after it.
    const [last, entries] = await this.#redis.readChanges(this.#key(environmentId), this.#databaseEpoch.current, id ?? '', entriesPerRead)
    const epoch = epochOf(last)
    const isThere = position !== null && epochOf(position) === epoch && entries[0]?.[0] === id
    const missed = isThere ? latestOf(entries.slice(1), epoch) : null
    if (!missed) return { position: last, isLast: true, isGap: true, missed: [] }
    return { position: `${entries.at(-1)![0]}@${epoch}`, isLast: entries.length < entriesPerRead, isGap: false, missed }
  }

  #key(environmentId: string): string {
    return `${this.#prefix}:change-stream:${environmentId}`
  }
}

export function byEnvironment(messages: readonly ChangeMessage[]): Map<string, ChangeMessage[]> {
  const groups = new Map<string, ChangeMessage[]>()
  for (const message of messages) {
    const group = groups.get(message.environmentId)
    if (group) group.push(message)
    else groups.set(message.environmentId, [message])
  }
  return groups
}

/** Null: not all of them can be read, so something is missed. */
function latestOf(entries: Entries, epoch: string): MissedChange[] | null {
  const latest = new Map<string, MissedChange>()
  for (const [id, [, text = '']] of entries) {
    if (text === '') continue
    const entry = unpackEntry(text)
    if (!entry) return null
    const key = JSON.stringify([entry.customerId, entry.resourceId])
    latest.delete(key)
    latest.set(key, { position: `${id}@${epoch}`, ...entry })
  }
  return [...latest.values()]
}

const entryOf = ({ kind, customerId, resourceId, version }: ChangeMessage): string =>
  packEntry({ kind, customerId, resourceId: resourceId ?? null, version })
