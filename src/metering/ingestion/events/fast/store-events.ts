/** The one statement that stores events; `store-events.sql` is its other half. */
import type { EpochMs } from '../../../../kernel/clock.js'
import { callOf, plainArray, type Queryable, toTime } from '../../../../platform/sql.js'
import type { FoundHolder } from '../../../counting/holder-repository.js'
import type { EventItem } from '../../../model/report.js'
import { eachOnce } from '../../../wire/columns.js'

export interface NewEvent {
  event: EventItem
  /** See `eventIdentity`; here as latin1 text, whose order is that of the bytes. */
  identity: string
  holder: FoundHolder
}

/** The deadline came while it was stored. Nothing was. */
export const isTooLate = (error: unknown): boolean => (error as { code?: unknown }).code === 'TG001'

/**
 * Stores the events whose identity is new, and that the batch waits to be counted, in one statement, so in one transaction. The events must be in the
 * order of their identities. Answers the time of those that came without one (`times`: of each, where they differ), and which are new (null: all). The time is null when nothing was stored,
 * because a customer is not live any more or it is `deadline` by the database's clock, which says `now`. `mayRepeat` is about speed: whether some are
 * expected to have been stored before.
 */
export async function storeEvents(
  db: Queryable,
  environmentId: string,
  { batchId, deadline, mayRepeat, events }: { batchId: string; deadline: EpochMs; mayRepeat: boolean; events: NewEvent[] },
): Promise<{ now: EpochMs; time: EpochMs | null; times: EpochMs[] | null; isNew: boolean[] | null }> {
  const names = eachOnce(events.map(({ event }) => event.eventName))
  const call = callOf(
    'store_events',
    {
      p_environment: environmentId,
      p_batch: batchId,
      p_deadline: deadline,
      p_may_repeat: mayRepeat,
      p_live: plainArray([...new Set(events.map(({ holder }) => holder.customerId))]),
      p_hashes: Buffer.from(events.map(({ identity }) => identity).join(''), 'latin1'),
      p_customers: plainArray(events.map(({ holder }) => holder.customerId)),
      p_resources: events.some(({ holder }) => holder.resourceId !== null)
        ? plainArray(events.map(({ holder }) => holder.resourceId))
        : null,
      p_names: names.values,
      p_named: plainArray(names.positions),
      p_times: events.some(({ event }) => event.timestamp !== null) ? plainArray(events.map(({ event }) => toTime(event.timestamp))) : null,
      p_dimensions: JSON.stringify(events.map(({ event }) => event.dimensions)),
    },
    'o_now, o_time, o_times::float8[], o_is_new',
  )
  const { rows } = await db.query<{ o_now: string; o_time: string | null; o_times: EpochMs[] | null; o_is_new: boolean[] | null }>(call)
  const { o_now: now, o_time: time, o_times: times, o_is_new: isNew } = rows[0]!
  return { now: Number(now), time: time === null ? null : Number(time), times, isNew }
}
