import type { EpochMs } from '../kernel/clock.js'
import { newId } from '../kernel/id.js'
import { type Db, Prisma } from '../platform/postgres.js'
import type { ChangeKind, UsageChange } from '../updates/wire/change-message.js'
import { noteChange } from './held-change.js'

export interface RecordedChange {
  environmentId: string
  kind: ChangeKind
  /** The caller's identifiers; null customer: a change of the whole environment (kind package). */
  customerId: string | null
  resourceId?: string | null
  version: EpochMs
  payload?: UsageChange | Record<string, unknown>
}

/**
 * Writes the change's message in the transaction that makes the change: both commit or neither. After the commit the writer nudges delivery
 * (`deliverChanges`), and the door announces the change (`noteChange`); a message that nobody was nudged for is found by the sweep.
 */
export async function recordChange(db: Db, change: RecordedChange): Promise<void> {
  noteChange({
    environmentId: change.environmentId,
    customerId: change.customerId,
    version: change.kind === 'purge' ? null : change.version,
  })
  await db.outboxMessage.create({
    data: {
      environmentId: change.environmentId,
      id: newId(),
      kind: change.kind,
      customerId: change.customerId,
      resourceId: change.resourceId ?? null,
      version: BigInt(change.version),
      payload: change.payload === undefined ? Prisma.DbNull : (change.payload as Prisma.InputJsonObject),
    },
  })
}
