import type { Attack } from './attack.js'
import { callAttacks } from './attacks/calls.js'
import { connectionAttacks } from './attacks/connections.js'
import { readAttacks } from './attacks/reads.js'
import { socketAttacks } from './attacks/sockets.js'
import { writeAttacks } from './attacks/writes.js'

export const attacks: readonly Attack[] = [...connectionAttacks, ...socketAttacks, ...readAttacks, ...writeAttacks, ...callAttacks]

/** Those that run at a time, after all have run alone: each of another kind of caller. */
export const together: Readonly<Record<string, readonly string[]>> = {
  'together-no-key': ['stalled-bodies-60', 'brackets', 'made-up-keys', 'ping-flood', 'silent-sockets'],
  'together-end-user': ['long-resource-ids', 'same-question', 'documents', 'subscriptions-95', 'message-flood'],
  'together-server-key': ['heavy-documents', 'metadata-answers', 'suggestions', 'large-events', 'huge-lists'],
  'together-all': ['stalled-bodies-60', 'made-up-keys', 'ping-flood', 'long-resource-ids', 'many-sockets', 'heavy-documents', 'full-calls'],
}
