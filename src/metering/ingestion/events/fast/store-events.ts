import type { EpochMs } from '../../../../kernel/clock.js'
import { plainArray, type Queryable, toTime } from '../../../../platform/sql.js'
import type { FoundHolder } from '../../../counting/holder-repository.js'
import type { EventItem } from '../../../model/report.js'

export interface NewEvent {
  event: EventItem
  /** See `eventIdentity`; here as latin1 text, whose order is that of the bytes. */
  identity: string
  holder: FoundHolder
}

/**
 * Stores the events whose identity is new, and that the batch waits to be counted, in one statement, so in one transaction. The events must be in the
 * order of their identities. Answers the time of those that came without one, and which are new (null: all). The time is null when nothing was stored,
 * because a customer is not live any more or it is `deadline` by the database's clock, which says `now`. `mayRepeat` is about speed: whether some are
 * expected to have been stored before.
 */
export async function storeEvents(
  db: Queryable,
  environmentId: string,
  { batchId, deadline, mayRepeat, events }: { batchId: string; deadline: EpochMs; mayRepeat: boolean; events: NewEvent[] },
): Promise<{ now: EpochMs; time: EpochMs | null; isNew: boolean[] | null }> {
  const names = [...new Set(events.map(({ event }) => event.eventName))]
  const { rows } = await db.query<{ now: string; time: string | null; is_new: boolean[] | null }>({
    name: 'metering_store_events',
    text: `
      SELECT o_now AS now, o_time AS time, o_is_new AS is_new
      FROM store_events($1::uuid, $2::uuid, $3::bigint, $4::boolean,
        $5::uuid[], $6::bytea, $7::uuid[], $8::uuid[], $9::text[], $10::int[], $11::timestamptz[], $12::jsonb)`,
    values: [
      environmentId,
      batchId,
      deadline,
      mayRepeat,
      plainArray([...new Set(events.map(({ holder }) => holder.customerId))]),
      Buffer.from(events.map(({ identity }) => identity).join(''), 'latin1'),
      plainArray(events.map(({ holder }) => holder.customerId)),
      events.some(({ holder }) => holder.resourceId !== null) ? plainArray(events.map(({ holder }) => holder.resourceId)) : null,
      names,
      plainArray(events.map(({ event }) => names.indexOf(event.eventName))),
      events.some(({ event }) => event.timestamp !== null) ? plainArray(events.map(({ event }) => toTime(event.timestamp))) : null,
      JSON.stringify(events.map(({ event }) => event.dimensions)),
    ],
  })
  const { now, time, is_new } = rows[0]!
  return { now: Number(now), time: time === null ? null : Number(time), isNew: is_new }
}
