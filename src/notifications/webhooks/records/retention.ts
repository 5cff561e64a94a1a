import { deleteEvents } from '../../../changes/events.js'
import { type Db, Prisma } from '../../../platform/postgres.js'

/**
 * Forgets events that are older than so many days, with their deliveries and the attempts at them, when these are older too. In a lot; answers how many. The last
 * attempt is asked for one event at a time: a join would be planned through all attempts there are.
 */
export async function deleteOldEvents(db: Db, { days, limit }: { days: number; limit: number }): Promise<number> {
  const old = await db.$queryRaw<{ environmentId: string; id: string }[]>(Prisma.sql`
    SELECT environment_id AS "environmentId", id
    FROM notification_event AS event, CAST(clock_timestamp() - make_interval(days => ${days}) AS timestamptz) AS kept_since
    WHERE created_at < kept_since AND coalesce((
        SELECT max(attempt.at) FROM webhook_delivery AS delivery JOIN webhook_attempt AS attempt USING (environment_id, endpoint_id, event_id)
        WHERE delivery.environment_id = event.environment_id AND delivery.event_id = event.id), created_at) < kept_since
    ORDER BY created_at LIMIT ${limit}`)
  return deleteEvents(db, old)
}
