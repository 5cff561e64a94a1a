/**
 * Announcements: changes on their way to the processes that hold states, and back that they were heard. Changes are told by position, because every
 * report makes one and every web process reads it.
 */
import type { EpochMs } from '../../kernel/clock.js'
import type { Decimal } from '../../kernel/decimal.js'
import type { HeldChange } from '../model/change.js'

/** Of the shape; raised with it. */
export const announcementVersion = 1

/** Names an announcement to the process that waits for it to be heard. */
export interface AnnouncementTicket {
  sender: string
  number: number
}

type PackedChange =
  | [customerId: string | null, version: EpochMs | null]
  | [
      customerId: string | null,
      version: EpochMs | null,
      resourceId: string | null,
      featureId: string,
      currentUsage: Decimal,
      periodStart: EpochMs | null,
      periodEnd: EpochMs | null,
      updatedAt: EpochMs,
    ]

interface PackedAnnouncement extends Partial<AnnouncementTicket> {
  v?: number
  changes: PackedChange[]
}

/** The Redis channel of an environment's announcements. */
export const announcementChannel = (prefix: string, environmentId: string): string => `${prefix}:held-changes:${environmentId}`
/** The Redis channel on which a sender learns who has heard its own. */
export const heardChannel = (prefix: string, sender: string): string => `${prefix}:held-changes-heard:${sender}`

/** The channel, and what to publish there. Workers do it for the process that the ticket is of, or without one, when nobody has to read its own write. */
export function announcementOf(
  prefix: string,
  environmentId: string,
  changes: readonly HeldChange[],
  ticket?: AnnouncementTicket,
): [channel: string, text: string] {
  const packed: PackedAnnouncement = { v: announcementVersion, ...ticket, changes: changes.map(packChange) }
  return [announcementChannel(prefix, environmentId), JSON.stringify(packed)]
}

/** Without a ticket nobody waits for it to be heard. One that does not say its version is of the first. Fails when it is of another one. */
export function unpackAnnouncement(text: string): { changes: HeldChange[]; ticket: AnnouncementTicket | null } {
  const { v = 1, changes, sender, number } = JSON.parse(text) as PackedAnnouncement
  if (v !== announcementVersion) throw new Error(`announcement of version ${v}`)
  return { changes: changes.map(unpackChange), ticket: sender === undefined || number === undefined ? null : { sender, number } }
}

function packChange({ customerId, version, usage: changed }: HeldChange): PackedChange {
  if (!changed) return [customerId, version]
  const { currentUsage, periodStart, periodEnd, updatedAt } = changed.usage
  return [customerId, version, changed.resourceId, changed.featureId, currentUsage, periodStart, periodEnd, updatedAt]
}

function unpackChange([customerId, version, ...usage]: PackedChange): HeldChange {
  if (usage.length === 0) return { customerId, version }
  const [resourceId, featureId, currentUsage, periodStart, periodEnd, updatedAt] = usage
  return { customerId, version, usage: { resourceId, featureId, usage: { currentUsage, periodStart, periodEnd, updatedAt } } }
}

/** `number`: of the announcement; `by`: who has heard it. */
export const packHeard = (number: number, by: string): string => `${number} ${by}`

export function unpackHeard(text: string): { number: number; by: string } {
  const [number, by = ''] = text.split(' ')
  return { number: Number(number), by }
}
