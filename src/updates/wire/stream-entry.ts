/** What the change stream keeps of a change: by position, so that the whole of a busy environment's stream is small. */
import { type ChangeKind, changeKinds } from '../../changes/model/change.js'
import type { EpochMs } from '../../kernel/clock.js'

/** Of the shape; raised with it. */
export const streamEntryVersion = 1

/** Who changed, and not what to. Ids are the caller's. */
export interface StreamEntry {
  kind: ChangeKind
  customerId: string
  resourceId: string | null
  version: EpochMs
}

type PackedEntry = [v: number, kind: ChangeKind, customerId: string, resourceId: string | null, version: EpochMs]

export const packEntry = ({ kind, customerId, resourceId, version }: StreamEntry): string =>
  JSON.stringify([streamEntryVersion, kind, customerId, resourceId, version] satisfies PackedEntry)

/** Null: it is of another version. */
export function unpackEntry(text: string): StreamEntry | null {
  const [v, kind, customerId, resourceId, version] = JSON.parse(text) as PackedEntry
  if (v !== streamEntryVersion) return null
  // A kind of a newer release says at least that something changed.
  return { kind: changeKinds.includes(kind) ? kind : 'entitlements', customerId, resourceId, version }
}
