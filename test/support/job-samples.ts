import { runImport } from '../../src/customer/jobs.js'
import { fromText } from '../../src/kernel/decimal.js'
import type { EventItem, ReportItem } from '../../src/metering/model/report.js'
import {
  type AggregationJob,
  aggregateEvents,
  type FillingJob,
  fillUsage,
  type IngestionJob,
  ingestDirectUsage,
  ingestUsage,
} from '../../src/metering/wire/jobs.js'
import { packEvents } from '../../src/metering/wire/packed-events.js'
import { packCall } from '../../src/metering/wire/packed-reports.js'
import { packStored } from '../../src/metering/wire/stored-events.js'
import type { JobDefinition } from '../../src/platform/queue.js'
import { applyDueTransitions } from '../../src/subscription/time/jobs.js'
import { deliverChanges, environmentQueue } from '../../src/updates/deliver/jobs.js'
import type { HeartbeatMessage, QueuedChange, ReloadMessage } from '../../src/updates/wire/queue-message.js'

const environmentId = '01900000-0000-7000-8000-000000000001'
const ids = [2, 3, 4, 5].map((n) => `01900000-0000-7000-8000-00000000000${n}`)
const at = 1_791_000_000_000

const plain: ReportItem = {
  id: ids[0]!,
  customerId: 'acme',
  featureId: 'calls',
  value: fromText('1.5'),
  behavior: 'DELTA',
  resourceId: null,
  timestamp: null,
  idempotencyKey: null,
  dimensions: null,
}
const particular: ReportItem = {
  ...plain,
  id: ids[1]!,
  behavior: 'SET',
  resourceId: 'desk',
  timestamp: at,
  idempotencyKey: 'key',
  dimensions: { region: 'eu', retried: true, size: 3, note: null },
}
const events: EventItem[] = ['login', 'logout'].map((eventName, index) => ({
  customerId: 'acme',
  resourceId: index === 0 ? null : 'desk',
  eventName,
  idempotencyKey: `key-${index}`,
  timestamp: index === 0 ? null : at,
  dimensions: { tokens: index },
}))
/** `Required`: what is added to a job is added here, or it does not compile. */
const asked: Required<Omit<IngestionJob, 'batch'>> = {
  v: 1,
  environmentId,
  door: `${environmentId}:door`,
  batchId: ids[2]!,
  isRepeat: false,
  onlyStored: true,
  keyHash: 'aGFzaA==',
  announcement: { sender: 'web', number: 7 },
}
const ofReports: Required<IngestionJob> = {
  ...asked,
  batch: { kind: 'reports', calls: [packCall({ deadline: at, items: [plain, particular] })] },
}
const ofEvents: Required<IngestionJob> = { ...asked, batch: { kind: 'events', calls: [{ deadline: at, packed: packEvents(events) }] } }
const aggregation: Required<AggregationJob> = {
  v: 1,
  environmentId,
  batchId: ids[2]!,
  stored: packStored(
    at,
    events.map(({ eventName, timestamp, dimensions, ...holder }) => {
      return { customerId: ids[0]!, resourceId: holder.resourceId && ids[1]!, holder, eventName, occurredAt: timestamp, dimensions }
    }),
  ),
  reportedAt: at,
}
const filling: Required<FillingJob> = { v: 1, environmentId, customerId: ids[0]!, resourceId: ids[1]! }
const calls = { id: ids[3]!, refId: 'calls', displayName: 'Calls', featureType: 'NUMBER', meterType: 'Incremental' } as const
const usage = { currentUsage: fromText('5'), periodStart: at, periodEnd: at + 1, updatedAt: at }
const change: Omit<Required<QueuedChange>, 'state' | 'usage'> & Pick<QueuedChange, 'usage'> = {
  v: 1,
  id: ids[0]!,
  position: '1791000000000-0',
  environmentId,
  customerId: 'acme',
  resourceId: 'desk',
  kind: 'usage',
  version: at,
  timestamp: at,
  usage: { featureId: calls.refId, usage, accessVersion: at },
  package: { packageRefId: 'pro', packageType: 'Plan', packageVersion: 2, migrationType: 'ALL_CUSTOMERS' },
  epoch: at,
  sequence: 7,
}
const reload: Required<ReloadMessage> = { v: 1, id: ids[0]!, environmentId, kind: 'reload', epoch: at, timestamp: at }
const heartbeat: Required<HeartbeatMessage> = {
  v: 1,
  id: ids[0]!,
  environmentId,
  kind: 'heartbeat',
  epoch: at,
  sequence: 7,
  asOf: at,
  timestamp: at,
}

interface JobSample {
  /** Of the fixture: `<name>.<version>.json`. */
  name: string
  definition: JobDefinition<{ v: number }>
  /** Made by what makes such jobs today. */
  job: object
}

/** One of each kind of job that there is, with all that it may carry. */
export const jobSamples: readonly JobSample[] = [
  { name: 'usage-ingestion-reports', definition: ingestUsage, job: ofReports },
  { name: 'usage-ingestion-events', definition: ingestUsage, job: ofEvents },
  { name: 'usage-ingestion-direct', definition: ingestDirectUsage(environmentId), job: ofReports },
  { name: 'event-aggregation', definition: aggregateEvents, job: aggregation },
  { name: 'usage-filling', definition: fillUsage, job: filling },
  { name: 'subscription-transitions', definition: applyDueTransitions, job: { v: 1, environmentId, customerId: ids[0]! } },
  { name: 'imports', definition: runImport, job: { v: 1, environmentId, importId: ids[0]! } },
  { name: 'cache-invalidation', definition: deliverChanges, job: { v: 1, environmentId } },
  { name: 'environment', definition: environmentQueue(environmentId), job: change },
  { name: 'environment-reload', definition: environmentQueue(environmentId), job: reload },
  { name: 'environment-heartbeat', definition: environmentQueue(environmentId), job: heartbeat },
]
