/** What a worker tells a door of its batch, after the commit, on the door's channel. */
import type { EventAnswer } from './call.js'
import type { PackedAnswer } from './packed-reports.js'

/** Of the shape, with that of the answers in it; raised with either. */
export const replyVersion = 1

export interface IngestionReply {
  batchId: string
  /** One per call, in order. */
  answers: (PackedAnswer | EventAnswer)[]
  /** How many processes hear the announcement of what changed; absent: there was none. */
  receivers?: number
}

/** The Redis channel on which a door hears what became of its batches. */
export const replyChannel = (prefix: string, door: string): string => `${prefix}:replies:${door}`

/** `receivers` is said by `announceAndReply`, which alone knows it. */
export function packReply({ batchId, answers }: Omit<IngestionReply, 'receivers'>): string {
  return JSON.stringify({ v: replyVersion, batchId, answers })
}

/** Null: it is of another version. One that does not say it is of the first. */
export function unpackReply(text: string): IngestionReply | null {
  const { v = 1, ...reply } = JSON.parse(text) as IngestionReply & { v?: number }
  return v === replyVersion ? reply : null
}

/**
 * Lua. KEYS: none. ARGV: channel and text of an announcement, those of a reply. In one step, so that the reply can say how many hear the announcement:
 * as its first field, whatever the others are.
 */
export const announceAndReply = `
local receivers = redis.call('PUBLISH', ARGV[1], ARGV[2])
redis.call('PUBLISH', ARGV[3], '{"receivers":' .. receivers .. ',' .. string.sub(ARGV[4], 2))`
