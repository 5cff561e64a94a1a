/** Raw SQL that reads stored events. */
import type { EpochMs } from '../../kernel/clock.js'
import type { Queryable } from '../../platform/sql.js'
import type { MeteredEvent } from '../model/meter.js'
import { rangeColumns, type UsageRange } from './measurement-repository.js'

/** Rows held in memory at once while a range is read. */
const pageSize = 5_000

/**
 * Which of the events that are stored.
 *
 * counted  those that are in counters and rollups: batches that still wait will be added to them
 * waiting  the others. Costs as much as the environment has of them
 * stored   both
 */
export type WhichEvents = 'counted' | 'waiting' | 'stored'

const from: Readonly<Record<WhichEvents, string>> = {
  counted: `raw_event WHERE environment_id = $1::uuid
          AND NOT EXISTS (SELECT FROM pending_batch WHERE environment_id = $1::uuid AND id = raw_event.batch_id)`,
  // The batches come first: they are few, where the customer may have millions of events.
  waiting: `(SELECT id FROM pending_batch WHERE environment_id = $1::uuid OFFSET 0) AS pending
          CROSS JOIN LATERAL (SELECT * FROM raw_event WHERE environment_id = $1::uuid AND batch_id = pending.id OFFSET 0) AS event WHERE true`,
  stored: 'raw_event WHERE environment_id = $1::uuid',
}

/**
 * Reads the raw events of the ranges page by page. Costs as much as the customers have events in the ranges, unless they are to be waiting ones. Needs a
 * transaction.
 */
export async function readEvents(
  db: Queryable,
  environmentId: string,
  which: WhichEvents,
  ranges: UsageRange[],
  visit: (page: (MeteredEvent & { range: number; resourceId: string | null; occurredAt: EpochMs })[]) => Promise<void> | void,
): Promise<void> {
  await db.query({
    text: `
      DECLARE metering_events NO SCROLL CURSOR FOR
      SELECT asked.ord::int - 1 AS range, event.event_name, event.dimensions, event.resource_id, event.occurred_at
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[])
        WITH ORDINALITY AS asked (customer_id, resource_id, feature_id, from_time, to_time, ord)
      CROSS JOIN LATERAL (
        SELECT event_name, dimensions, resource_id, occurred_at FROM ${from[which]}
          AND customer_id = asked.customer_id AND occurred_at >= asked.from_time AND occurred_at < asked.to_time
          AND (asked.resource_id IS NULL OR resource_id = asked.resource_id)
      ) AS event`,
    values: [environmentId, ...rangeColumns(ranges)],
  })
  for (;;) {
    const { rows } = await db.query<{
      range: number
      event_name: string
      dimensions: MeteredEvent['dimensions']
      resource_id: string | null
      occurred_at: Date
    }>({ text: `FETCH ${pageSize} FROM metering_events` })
    await visit(
      rows.map(({ range, event_name, dimensions, resource_id, occurred_at }) => ({
        range,
        eventName: event_name,
        dimensions,
        resourceId: resource_id,
        occurredAt: occurred_at.getTime(),
      })),
    )
    if (rows.length < pageSize) break
  }
  await db.query({ text: 'CLOSE metering_events' })
}
