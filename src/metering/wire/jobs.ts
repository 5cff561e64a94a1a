import { hash } from 'node:crypto'
import { z } from 'zod'
import type { AnnouncementTicket } from '../../changes/wire/announcements.js'
import type { EpochMs } from '../../kernel/clock.js'
import type { JobDefinition } from '../../platform/queue.js'
import type { PackedEvents } from './packed-events.js'
import type { PackedCall } from './packed-reports.js'
import type { StoredEvents } from './stored-events.js'

/** From a call to its deadline in the worker; the door waits two seconds longer for the answer. */
export const deadlineMs = 4_000

/** Until a batch that the database could not take is tried again. */
const retryMs = 400

/** Calls that were gathered into one job, to be committed in one transaction. */
export interface IngestionJob {
  v: 1
  environmentId: string
  /** Whom to reply to. */
  door: string
  batchId: string
  /** The batch was added before: some of it may be counted already. */
  isRepeat: boolean
  /** The door's last question before it says that it does not know: what is stored already is answered, and nothing is counted. */
  onlyStored?: true
  /** Of a door outside the platform: SHA-256 of its API key, in base64. The worker checks it. */
  keyHash?: string
  /** What changed is announced under it before the reply. Absent: the door waits for no announcement. */
  announcement?: AnnouncementTicket
  batch: { kind: 'reports'; calls: PackedCall[] } | { kind: 'events'; calls: { deadline: EpochMs; packed: PackedEvents }[] }
}

// The items were checked by the door, and checking 500 of them again would cost more than counting them.
const callsSchema = z.custom<PackedCall[]>((calls) => Array.isArray(calls) && calls.every((call) => typeof call?.[0] === 'number'))
const packedSchema = z.custom<PackedEvents>((packed) => Array.isArray((packed as PackedEvents | undefined)?.keys))
const packedCallsSchema = z.array(z.object({ deadline: z.number(), packed: packedSchema }))
const ingestionSchema = z.object({
  v: z.literal(1),
  environmentId: z.uuid(),
  door: z.string(),
  batchId: z.uuid(),
  isRepeat: z.boolean(),
  onlyStored: z.literal(true).optional(),
  keyHash: z.string().optional(),
  announcement: z.object({ sender: z.string(), number: z.number() }).optional(),
  batch: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('reports'), calls: callsSchema }),
    z.object({ kind: z.literal('events'), calls: packedCallsSchema }),
  ]),
})

/**
 * Shard `index` of ingestion. What makes a second run harmless: measurement ids, idempotency keys and identities of events are unique in PostgreSQL. Which
 * shard counts a call is about speed only: any worker may count for any customer.
 */
export const ingestionShard = (index: number): JobDefinition<IngestionJob> => ({
  queue: index === 0 ? 'usage-ingestion' : `usage-ingestion-${index}`,
  name: 'ingest',
  version: 1,
  parse: (data) => ingestionSchema.parse(data),
  // As long as it may be counted: a database that is away or read-only for a moment costs nobody anything. Later nobody waits for the answer any more, and the payload is heavy.
  options: {
    attempts: deadlineMs / retryMs,
    backoff: { type: 'fixed', delay: retryMs },
    removeOnComplete: true,
    removeOnFail: { count: 100, age: 3_600 },
  },
})

/** The first shard, which is there whatever their number is. */
export const ingestUsage = ingestionShard(0)

/** The queue of an environment's sidecars that enqueue themselves: their Redis user reaches no other one. */
export const ingestDirectUsage = (environmentId: string): JobDefinition<IngestionJob> => ({
  ...ingestUsage,
  queue: `${ingestUsage.queue}-${environmentId}`,
})

/** Doors of such sidecars begin so, so that a Redis user can be kept from the replies to others. */
export const directDoorPrefix = (environmentId: string): string => `${environmentId}:`

/** The shard of a customer (refId): the same in every process, whatever its language or release. */
export function shardOf(environmentId: string, customerRefId: string, shards: number): number {
  if (shards === 1) return 0
  return hash('sha1', `${environmentId}:${customerRefId}`, 'buffer').readUInt32BE(0) % shards
}

export interface AggregationJob {
  v: 1
  environmentId: string
  batchId: string
  /** Null: read them from the database (the sweep found the batch). */
  stored: StoredEvents | null
  /** When the first of them was reported (or, if the sweep found the batch, stored), for the measured lag; absent in jobs of older releases. */
  reportedAt?: EpochMs
}

const aggregationSchema = z.object({
  v: z.literal(1),
  environmentId: z.uuid(),
  batchId: z.uuid(),
  stored: z.custom<StoredEvents | null>((stored) => stored === null || Array.isArray((stored as StoredEvents | undefined)?.placed)),
  reportedAt: z.number().optional(),
})

/** What makes a second run harmless: the batch's row is deleted in the transaction that counts it. A lost job is found by the sweep. */
export const aggregateEvents: JobDefinition<AggregationJob> = {
  queue: 'event-aggregation',
  name: 'aggregate',
  version: 1,
  parse: (data) => aggregationSchema.parse(data),
  options: { removeOnComplete: true, removeOnFail: { count: 100, age: 86_400 } },
}

/** Usage that readers have to compute because it has no counter. Ids are ours. */
export interface FillingJob {
  v: 1
  environmentId: string
  customerId: string
  /** Null: the customer's totals. */
  resourceId: string | null
}

const fillingSchema = z.object({ v: z.literal(1), environmentId: z.uuid(), customerId: z.uuid(), resourceId: z.uuid().nullable() })

/** What makes a second run harmless: counters that are there are left alone. A lost job is asked for again by the next reader. */
export const fillUsage: JobDefinition<FillingJob> = {
  queue: 'usage-filling',
  name: 'fill',
  version: 1,
  parse: (data) => fillingSchema.parse(data),
  // While one is kept, no other of its name is taken.
  options: { removeOnComplete: true, removeOnFail: true },
}
