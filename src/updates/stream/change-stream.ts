import type { Redis } from '../../platform/redis.js'
import { type ChangeMessage, changeChannel } from '../wire/change-message.js'
import { packEntry, type StreamEntry, unpackEntry } from '../wire/stream-entry.js'

/**
 * The latest changes of each environment, for readers that were away for a moment.
 *
 * stream    one Redis Stream per environment; its entries say who changed and not what to: about 150 bytes, so that the whole of it is small
 * position  the id of an entry; a reader that has seen everything up to it may ask for what came after
 * gap       the position is not in the stream (trimmed, or the stream was lost with its Redis): what was missed is not known
 */

/** Some minutes of a busy environment. Trimming is approximate: Redis cuts whole blocks of entries. */
const mostEntries = 10_000

/** Read at a time: who was away for long is told in pieces, so that it takes no more memory than who was not. */
const entriesPerRead = 250

/** In one step, during which Redis does nothing else: each may carry a whole state. */
export const messagesPerStep = 100

// KEYS: the stream. ARGV: most entries, the channel, then for each message its JSON and the fields of its entry.
// The message is published with the entry's id in it, in one step, so that ids arrive in their order.
const appendScript = `
for i = 3, #ARGV, 2 do
  local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'change', ARGV[i + 1])
  redis.call('PUBLISH', ARGV[2], '{"position":"' .. id .. '",' .. string.sub(ARGV[i], 2))
end`

interface ScriptedRedis extends Redis {
  appendChanges(key: string, ...values: (string | number)[]): Promise<null>
}

/** What a change was about. What the customer holds now is to be fetched by who wants to know. */
export interface MissedChange extends StreamEntry {
  position: string
}

export interface CatchUp {
  /** Everything up to here is told. */
  position: string
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

  constructor({ redis, prefix }: { redis: Redis; prefix: string }) {
    redis.defineCommand('appendChanges', { numberOfKeys: 1, lua: appendScript })
    this.#redis = redis as ScriptedRedis
    this.#prefix = prefix
  }

  /** Keeps the messages and publishes them on the channel of their environment, each with its `position`. Safe to repeat: they arrive twice then. */
  async append(messages: readonly ChangeMessage[]): Promise<void> {
    const steps: Promise<null>[] = []
    for (const [environmentId, ofEnvironment] of byEnvironment(messages)) {
      const channel = changeChannel(this.#prefix, environmentId)
      for (let start = 0; start < ofEnvironment.length; start += messagesPerStep) {
        const values = ofEnvironment.slice(start, start + messagesPerStep).flatMap((message) => [JSON.stringify(message), entryOf(message)])
        steps.push(this.#redis.appendChanges(this.#key(environmentId), mostEntries, channel, ...values))
      }
    }
    await Promise.all(steps)
  }

  /** What came first after a position; null: nothing is known to the reader yet, which is a gap. */
  async since(environmentId: string, position: string | null): Promise<CatchUp> {
    const key = this.#key(environmentId)
    const isPosition = position !== null && /^\d+-\d+$/.test(position)
    // From the position itself, inclusively: it tells whether the stream still has everything after it.
    const entries = isPosition ? await this.#redis.xrange(key, position, '+', 'COUNT', entriesPerRead) : []
    const missed = entries[0]?.[0] === position ? latestOf(entries.slice(1)) : null
    if (missed) return { position: entries.at(-1)![0], isLast: entries.length < entriesPerRead, isGap: false, missed }
    return { position: await this.#lastPosition(key), isLast: true, isGap: true, missed: [] }
  }

  /** An empty stream is given a first entry, so that there is a position to come back to. */
  async #lastPosition(key: string): Promise<string> {
    const [last] = await this.#redis.xrevrange(key, '+', '-', 'COUNT', 1)
    return last?.[0] ?? String(await this.#redis.xadd(key, '*', 'change', ''))
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

/** Whether `position` is at or before `other`. */
export function isReached(position: string, other: string): boolean {
  const [[ms, sequence], [otherMs, otherSequence]] = [parsePosition(position), parsePosition(other)]
  return ms < otherMs || (ms === otherMs && sequence <= otherSequence)
}

function parsePosition(position: string): [number, number] {
  const [ms = '0', sequence = '0'] = position.split('-')
  return [Number(ms), Number(sequence)]
}

/** Null: not all of them can be read, so something is missed. */
function latestOf(entries: readonly (readonly [id: string, fields: string[]])[]): MissedChange[] | null {
  const latest = new Map<string, MissedChange>()
  for (const [position, [, text = '']] of entries) {
    if (text === '') continue
    const entry = unpackEntry(text)
    if (!entry) return null
    const key = JSON.stringify([entry.customerId, entry.resourceId])
    latest.delete(key)
    latest.set(key, { position, ...entry })
  }
  return [...latest.values()]
}

const entryOf = ({ kind, customerId, resourceId, version }: ChangeMessage): string =>
  packEntry({ kind, customerId, resourceId: resourceId ?? null, version })
