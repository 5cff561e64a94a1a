/** What a worker tells a door of its batch, after the commit, on the door's channel. */
import { type Listeners, listenersLua } from '../../changes/wire/holders.js'
import type { EventAnswer } from './call.js'
import type { PackedAnswer } from './packed-reports.js'

/** Of the shape, with that of the answers in it; raised with either. */
export const replyVersion = 1

export interface IngestionReply {
  batchId: string
  /** One per call, in order. */
  answers: (PackedAnswer | EventAnswer)[]
  /** Who has to hear the announcement of what changed; absent: there was none. */
  listeners?: Listeners
}

/** The Redis channel on which a door hears what became of its batches. */
export const replyChannel = (prefix: string, door: string): string => `${prefix}:replies:${door}`

/** `listeners` are said by `announceAndReply`, which alone knows them. */
export function packReply({ batchId, answers }: Omit<IngestionReply, 'listeners'>): string {
  return JSON.stringify({ v: replyVersion, batchId, answers })
}

/** Null: it is of another version, or no reply at all. One that does not say its version is of the first. */
export function unpackReply(text: string): IngestionReply | null {
  const { v = 1, ...reply } = (parsed(text) ?? {}) as Partial<IngestionReply> & { v?: number }
  const { batchId, answers, listeners } = reply
  const isReply = typeof batchId === 'string' && Array.isArray(answers) && (listeners === undefined || Array.isArray(listeners?.holders))
  return isReply && v === replyVersion ? (reply as IngestionReply) : null
}

/** Whoever reaches Redis may say anything on a channel: what cannot be read must not end who hears it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Lua. KEYS: those of the holders of the environment. ARGV: channel and text of an announcement, those of a reply. In one step, so that the reply can say who
 * has to hear the announcement: as its first field, whatever the others are.
 */
export const announceAndReplyLua = `${listenersLua}
redis.call('PUBLISH', ARGV[1], ARGV[2])
local names = listeners(KEYS[1], KEYS[2])
local holders = #names == 0 and '[]' or '["' .. table.concat(names, '","') .. '"]'
local heard = '{"listeners":{"epoch":"' .. redisEpoch() .. '","holders":' .. holders .. '},'
redis.call('PUBLISH', ARGV[3], heard .. string.sub(ARGV[4], 2))`
