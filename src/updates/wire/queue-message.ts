/** What an environment's queue carries to its persistent cache. */
import type { EpochMs } from '../../kernel/clock.js'
import type { ChangeMessage } from './change-message.js'

/** A change, and the epoch that it was enqueued in; absent: none has begun yet. */
export interface QueuedChange extends ChangeMessage {
  epoch?: EpochMs
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

export type QueueMessage = QueuedChange | ReloadMessage
