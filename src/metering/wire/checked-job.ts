/** Jobs of doors outside the platform: what they carry may be anything. */
import { z } from 'zod'
import type { EpochMs } from '../../kernel/clock.js'
import { type Decimal, fromText } from '../../kernel/decimal.js'
import { invalidInput, Problem } from '../../kernel/problem.js'
import { checkEvent, checkReport, checkTogether, type Dimensions, maxItemsPerCall } from '../model/report.js'
import type { Call } from './call.js'
import { deadlineMs, type IngestionJob } from './jobs.js'
import { packEvents, unpackEvents } from './packed-events.js'
import { type PackedCall, packCall, unpackCall } from './packed-reports.js'

/** The clocks of doors and workers may be so far apart. */
const clockSkewMs = 2_000

const text = z.string()
const time = z.number().nullable()
// The rest of what they may be is looked at by `checkReport` and `checkEvent`.
const dimensionsSchema: z.ZodType<Dimensions> = z.record(text, z.union([text, z.number(), z.boolean(), z.null()]))

const reportSchema = z.object({
  id: z.uuid(),
  customerId: text,
  resourceId: text.nullable(),
  featureId: text,
  value: text.transform((value): Decimal => fromText(value)),
  behavior: z.enum(['DELTA', 'SET']),
  timestamp: time,
  idempotencyKey: text.nullable(),
  dimensions: dimensionsSchema.nullable(),
})

const eventSchema = z.object({
  customerId: text,
  resourceId: text.nullable(),
  eventName: text,
  idempotencyKey: text,
  timestamp: time,
  dimensions: dimensionsSchema,
})

const reportsSchema = z.array(reportSchema).min(1).max(maxItemsPerCall)
const eventsSchema = z.array(eventSchema).min(1).max(maxItemsPerCall)

/** What is left of a job when each item is one that a door of the platform could have sent; else why not. It announces nothing. */
export function checkedJob({ announcement: _, ...job }: IngestionJob, now: EpochMs): IngestionJob | Problem {
  try {
    return { ...job, batch: checkedBatch(job.batch, now) }
  } catch (error) {
    if (error instanceof Problem) return error
    return invalidInput('The job is none that a sidecar sends')
  }
}

/** A door gathers calls until they are that many items; one call may be as large again. */
const mostItems = 2 * maxItemsPerCall

function checkedBatch(batch: IngestionJob['batch'], now: EpochMs): IngestionJob['batch'] {
  const items = batch.calls.map((call) => ('packed' in call ? call.packed.keys.length : call.length - 1))
  if (items.reduce((sum, count) => sum + count, 0) > mostItems) throw invalidInput(`A job has at most ${mostItems} items`)
  const deadlineOf = (deadline: EpochMs) => Math.min(deadline, now + deadlineMs + clockSkewMs)
  if (batch.kind === 'events')
    return {
      kind: 'events',
      calls: batch.calls.map(({ deadline, packed }) => ({
        deadline: deadlineOf(deadline),
        packed: packEvents(eventsSchema.parse(unpackEvents(packed)).map((event) => checkEvent(event, now))),
      })),
    }
  return { kind: 'reports', calls: batch.calls.map((packed) => checkedReports(packed, deadlineOf, now)) }
}

function checkedReports(packed: PackedCall, deadlineOf: (deadline: EpochMs) => EpochMs, now: EpochMs): PackedCall {
  const { deadline, items } = unpackCall(packed)
  const checked: Call<ReturnType<typeof checkReport>> = {
    deadline: deadlineOf(deadline),
    items: reportsSchema.parse(items).map((item) => checkReport(item, item.id, now)),
  }
  checkTogether(checked.items)
  return packCall(checked)
}
