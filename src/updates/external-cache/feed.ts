import { Gatherer } from '../../platform/gatherer.js'
import type { Redis } from '../../platform/redis.js'
import type { HeartbeatMessage, Place, QueueMessage } from '../wire/queue-message.js'
import { epochKey, feedKey, heartbeatKey, markerKey } from './keys.js'
import { refuse } from './refuse.js'

/** Of what tells the platform's time, beside the clock of the cache: a heartbeat of later is none, as it would let everything count as fresh. */
const mostAheadMs = 86_400_000

const nowLua = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[2])`

// KEYS: the feed, its numbers ahead, its numbers that wait, the heartbeat. ARGV: epoch, how much later than now it is to be. Of the copies of a consumer each has
// a clock of its own, so the cache's counts.
// The feed is a hash: `epoch`; `applied`, up to which number all are settled (-1: not even the beginning); `latest`, the greatest number that was heard of;
// `movedAt`, when `applied` was changed or a number beyond it heard of first; `proof` and `asOf`, the heartbeat that is not proven yet; `proven`,
// the latest that is, which one that comes again does not take back. What is of an older epoch is nothing here.
const feedLua = `
local feed, ahead, waiting, heartbeat = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local epoch = tonumber(ARGV[1])
${nowLua}
local function number(field)
  return tonumber(redis.call('HGET', feed, field) or '-1')
end
local known = number('epoch')
if epoch < known then return 0 end
if epoch > known then
  redis.call('DEL', feed, ahead, waiting)
  redis.call('HSET', feed, 'epoch', ARGV[1], 'applied', -1, 'latest', -1, 'movedAt', now)
end
local applied = number('applied')
local function hear(sequence)
  local latest = number('latest')
  if sequence <= latest then return end
  if latest <= applied then redis.call('HSET', feed, 'movedAt', now) end
  redis.call('HSET', feed, 'latest', string.format('%.0f', sequence))
end
local function prove(sequence, asOf)
  if sequence > applied then return false end
  if asOf > number('proven') and asOf <= now + ${mostAheadMs} then
    redis.call('HSET', feed, 'proven', string.format('%.0f', asOf))
    redis.call('SET', heartbeat, string.format('%.0f', asOf))
  end
  return true
end
local function moveTo(sequence)
  applied = sequence
  redis.call('ZREMRANGEBYSCORE', ahead, '-inf', sequence)
  while true do
    local first = redis.call('ZRANGE', ahead, 0, 0)[1]
    if not first or tonumber(first) ~= applied + 1 then break end
    applied = applied + 1
    redis.call('ZREM', ahead, first)
  end
  redis.call('HSET', feed, 'applied', string.format('%.0f', applied), 'movedAt', now)
  local proof = redis.call('HGET', feed, 'proof')
  if proof and prove(tonumber(proof), tonumber(redis.call('HGET', feed, 'asOf'))) then redis.call('HDEL', feed, 'proof', 'asOf') end
end`

// ARGV[3] and all after it: numbers, the least one first.
const settleScript = `${feedLua}
hear(tonumber(ARGV[#ARGV]))
redis.call('ZREM', waiting, unpack(ARGV, 3))
local reached = applied
for i = 3, #ARGV do
  local sequence = tonumber(ARGV[i])
  if sequence == reached + 1 then reached = sequence
  elseif sequence > reached then redis.call('ZADD', ahead, sequence, ARGV[i]) end
end
if reached > applied then moveTo(reached) end
return 1`

// ARGV[3]: the number.
const waitScript = `${feedLua}
local sequence = tonumber(ARGV[3])
hear(sequence)
if sequence > applied then redis.call('ZADD', waiting, now, ARGV[3]) end
return 1`

// ARGV[3], ARGV[4]: number and instant of a heartbeat. One that waits for its proof goes first: with many messages under way the latest would never be proven.
const beatScript = `${feedLua}
local sequence = tonumber(ARGV[3])
hear(sequence)
if not prove(sequence, tonumber(ARGV[4])) and redis.call('HEXISTS', feed, 'proof') == 0 then redis.call('HSET', feed, 'proof', ARGV[3], 'asOf', ARGV[4]) end
return 1`

// ARGV[1] is 0: of whichever epoch it is. ARGV[3]: how long a number may be missing. ARGV[4]: how long one that waits is believed to be somewhere.
// Answers epoch and latest number when one is missing, and leaves it to who asks for as long again.
const missingScript = `
local feed, waiting = KEYS[1], KEYS[3]
${nowLua}
local fields = redis.call('HMGET', feed, 'epoch', 'applied', 'latest', 'movedAt')
if not fields[1] then return {} end
local applied, latest = tonumber(fields[2]), tonumber(fields[3])
if applied >= latest or now - tonumber(fields[4]) < tonumber(ARGV[3]) then return {} end
local since = redis.call('ZSCORE', waiting, string.format('%.0f', applied + 1))
if since and now - tonumber(since) < tonumber(ARGV[4]) then return {} end
redis.call('HSET', feed, 'movedAt', now)
return {fields[1], fields[3]}`

// ARGV[3]: up to which number nothing is missing any more.
const mendScript = `${feedLua}
local sequence = tonumber(ARGV[3])
if sequence > applied then moveTo(sequence) end
return 1`

// KEYS: the feed, the epoch of what is written. Empty when nothing was heard of.
const heardScript = `
local epoch = math.max(tonumber(redis.call('HGET', KEYS[1], 'epoch') or '-1'), tonumber(redis.call('GET', KEYS[2])) or -1)
if epoch < 0 then return {} end
return {string.format('%.0f', epoch), redis.call('HGET', KEYS[1], 'latest') or '-1'}`

interface ScriptedRedis extends Redis {
  settleInFeed: Script
  waitInFeed: Script
  beatInFeed: Script
  missingInFeed: Script<string[]>
  mendFeed: Script
  heardInFeed: Script<string[]>
}
type Script<T = number> = (...keysAndArguments: (string | number)[]) => Promise<T>

/** At once: Redis does nothing else meanwhile. */
const mostSettled = 200

/** Longer than a message of a process that was killed takes to appear again. A gap that is none costs reading everything anew once. */
const missingMs = 90_000
/** The longest that a message stays with somebody between two tries, of either kind of queue. */
const waitingMs = 20 * 60_000

/** Messages that are missing: those of the epoch up to the number are all that may be. */
type Gap = Place

/**
 * What all copies of the consumer have taken of the environment's queue, kept beside what it tells. A message is settled when it is applied, or set aside for good.
 * From this follow the heartbeat, by which readers judge the age of all entries, and which messages were lost on the way: the queue, or the Redis that it was in.
 */
export class Feed {
  readonly #redis: ScriptedRedis
  readonly #keys: string[]
  readonly #epochKey: string
  readonly #marker: string
  readonly #missingMs: number
  /** By epoch: many messages are in work at the same time, and settled together. */
  readonly #settled = new Gatherer<number>(mostSettled, async (epoch, sequences) => {
    const sorted = sequences.sort((one, other) => one - other)
    await this.#redis.settleInFeed(...this.#keys, Number(epoch), 0, ...sorted).catch(refuse)
  })

  constructor({ redis, prefix, missingAfterMs = missingMs }: { redis: Redis; prefix: string; missingAfterMs?: number }) {
    for (const [name, lua] of Object.entries({
      settleInFeed: settleScript,
      waitInFeed: waitScript,
      beatInFeed: beatScript,
      missingInFeed: missingScript,
      mendFeed: mendScript,
    }))
      redis.defineCommand(name, { numberOfKeys: 4, lua })
    redis.defineCommand('heardInFeed', { numberOfKeys: 2, lua: heardScript })
    this.#redis = redis as ScriptedRedis
    const feed = feedKey(prefix)
    this.#epochKey = epochKey(prefix)
    this.#keys = [feed, `${feed}:ahead`, `${feed}:waiting`, heartbeatKey(prefix)]
    this.#marker = markerKey(prefix)
    this.#missingMs = missingAfterMs
  }

  /** The message is applied, or never will be. */
  async settle(message: QueueMessage): Promise<void> {
    const place = placeOf(message)
    if (place) await this.#settled.add(String(place.epoch), place.sequence)
  }

  /** Something is away that the message needs: it is not lost. Never fails, as what is away may be the cache. */
  async wait(message: QueueMessage): Promise<void> {
    const place = placeOf(message)
    if (place) await this.#redis.waitInFeed(...this.#keys, place.epoch, 0, place.sequence).catch(() => undefined)
  }

  /** Writes the heartbeat as soon as all up to its number is settled. */
  async beat({ epoch, sequence, asOf }: HeartbeatMessage): Promise<void> {
    await this.#redis.beatInFeed(...this.#keys, epoch, 0, sequence, asOf).catch(refuse)
  }

  /** Null: nothing is, or it is not for long. Of several that ask, one is answered. `laterMs`: as it will be by then. */
  async missing(laterMs = 0): Promise<Gap | null> {
    const [epoch, latest] = await this.#redis.missingInFeed(...this.#keys, 0, laterMs, this.#missingMs, waitingMs).catch(refuse)
    return epoch === undefined ? null : { epoch: Number(epoch), sequence: Number(latest) }
  }

  /** Everything was read anew since that was found to be missing. */
  async mend({ epoch, sequence }: Gap): Promise<void> {
    await this.#redis.mendFeed(...this.#keys, epoch, 0, sequence).catch(refuse)
  }

  /** The latest epoch and number that any message said, true or not; null: nothing was heard of yet. */
  async heard(): Promise<Place | null> {
    const [epoch, latest] = await this.#redis.heardInFeed(this.#keys[0]!, this.#epochKey).catch(refuse)
    return epoch === undefined ? null : { epoch: Number(epoch), sequence: Number(latest) }
  }

  /** Nothing of the queue was ever heard of: the next heartbeat finds everything missing, and it is read anew. */
  async forget(): Promise<void> {
    await this.#redis.del(...this.#keys, this.#epochKey).catch(refuse)
  }

  /** Whether the cache was never filled, or was lost with all that it held. */
  async isCold(): Promise<boolean> {
    return (await this.#redis.exists(this.#marker).catch(refuse)) === 0
  }

  /** The cache is being filled: what tells that is lost together with what it holds. */
  async markFilled(by: string): Promise<void> {
    await this.#redis.set(this.#marker, by).catch(refuse)
  }
}

/** Null: it has none. A heartbeat is no message of those that are counted. */
function placeOf(message: QueueMessage): Place | null {
  if (message.kind === 'heartbeat') return null
  if (message.kind === 'reload') return { epoch: message.epoch, sequence: 0 }
  const { epoch, sequence } = message
  return epoch === undefined || sequence === undefined ? null : { epoch, sequence }
}
