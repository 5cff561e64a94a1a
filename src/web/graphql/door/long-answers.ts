import { bytesOf } from '../../access/answer-body.js'
import type { Identity } from '../../access/auth.js'
import { turns } from '../../access/fair-turns.js'
import { bytesPerField, type RateLimits } from '../../access/rate-limits.js'
import { tooMuchUnread, type UnreadAnswers } from '../../access/unread-answers.js'
import { longTextOf, maxAnswerBytes } from '../operations/answer-text.js'
import type { Operation } from '../operations/operation.js'
import { largeAnswers } from './execution.js'

export interface LongAnswerLimits {
  rateLimits: RateLimits
  unread: UnreadAnswers
}

/** Whose answer it is, and what was known of it before it was made. */
interface LongAnswer {
  operation: Operation
  identity: Identity
  address: string
  /** Fields that it may have. */
  cost: number
  /** It is large by its fields: those were paid, or are free, before it was given the place among the large ones that it still has. */
  hasPlace: boolean
}

/**
 * Plain data as JSON that is longer than is written at once. Few fields may have many bytes: so it has a place among the large answers, and what its fields do not
 * account for is owed. Nothing is written for whom nobody waits any more, who owes already, or whose answers nobody reads, unless it tells of a change.
 */
export async function writeLong(
  value: object,
  { operation, identity, address, cost, hasPlace }: LongAnswer,
  { rateLimits, unread }: LongAnswerLimits,
): Promise<Buffer[]> {
  const { room, isChange, environmentId = '' } = operation
  const write = async () => {
    if (!isChange) {
      if (operation.givenUp) throw operation.givenUp.reason
      expectRoom(operation, unread, room.valueBytes)
      if (!hasPlace) rateLimits.takeCost(identity, address, 0)
    }
    // Of what is refused in the end nearly all was written.
    let bytes = maxAnswerBytes
    try {
      const pieces = await longTextOf(value, room, () => turns.take(environmentId))
      bytes = bytesOf(pieces)
      return pieces
    } finally {
      const owed = bytes / bytesPerField - cost
      if (owed > 0) rateLimits.giveBackCost(identity, address, -owed)
    }
  }
  return hasPlace ? write() : largeAnswers.run(environmentId, write)
}

/** Counts what was made among what is not read until it is written. Fails when there is no room for it, unless it tells of a change. */
export function hold(pieces: Buffer[], operation: Operation, { unread }: LongAnswerLimits): Buffer[] {
  const bytes = bytesOf(pieces)
  if (!operation.isChange) expectRoom(operation, unread, bytes)
  operation.release = unread.hold(bytes, operation.environmentId)
  return pieces
}

function expectRoom(operation: Operation, unread: UnreadAnswers, bytes: number): void {
  if (unread.hasRoom(bytes, operation.environmentId)) return
  operation.isUnread = true
  throw tooMuchUnread()
}
