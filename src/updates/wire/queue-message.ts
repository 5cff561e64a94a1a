/** What an environment's queue carries to its persistent cache. */
import type { EpochMs } from '../../kernel/clock.js'
import type { ChangeMessage } from './change-message.js'

/** A change, and its place among all that the queue is told; absent: no epoch has begun yet. */
export interface QueuedChange extends ChangeMessage, Partial<Place> {}

/** A message is of an epoch and has a number in it: without gaps from 1 on. What begins the epoch counts as 0. */
export interface Place {
  epoch: EpochMs
  sequence: number
}

/**
 * An epoch begins: messages of before may have been lost, or tell of what was never committed. The consumer reads everything anew, and takes nothing more
 * from an older epoch.
 */
export interface ReloadMessage {
  /** Version of this shape. */
  v: 1
  id: string
  environmentId: string
  kind: 'reload'
  /** When it began, by the clock of the environment: what was written at an earlier version is to be replaced. Later epochs are greater. */
  epoch: EpochMs
  timestamp: EpochMs
}

/** How far the queue goes, each 5 s: who has applied all messages of the epoch up to the number knows everything that was committed until `asOf`. */
export interface HeartbeatMessage extends Place {
  /** Version of this shape. */
  v: 1
  id: string
  environmentId: string
  kind: 'heartbeat'
  /** By the clock of the database. */
  asOf: EpochMs
  timestamp: EpochMs
}

export type QueueMessage = QueuedChange | ReloadMessage | HeartbeatMessage
