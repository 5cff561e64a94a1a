import type { EpochMs } from '../../kernel/clock.js'
import { type Queryable, toTime } from '../../platform/sql.js'

/** A usage period that is over and had usage. Ids are the caller's. */
export interface EndedPeriod {
  customerId: string
  featureId: string
  endedAt: EpochMs
  /** When it is this customer's turn. */
  turnAt: EpochMs
}

/**
 * The periods whose customers have their turn in (`after`, `until`], in the order of their turns: `delayMs` after the end, and up to `spreadMs` later, by the
 * customer. About `limit` of them: those with the same turn come together.
 */
export async function findEndedPeriods(
  db: Queryable,
  environmentId: string,
  { after, until, delayMs, spreadMs, limit }: { after: EpochMs; until: EpochMs; delayMs: number; spreadMs: number; limit: number },
): Promise<EndedPeriod[]> {
  const { rows } = await db.query<EndedPeriod>({
    // The last two bytes of an id are chance. Turns are whole milliseconds, so that a caller can go on exactly where an answer ended.
    text: `
      SELECT customer.ref_id AS "customerId", feature.ref_id AS "featureId", (extract(epoch FROM ended.period_end) * 1000)::float8 AS "endedAt",
        (extract(epoch FROM ended.turn_at) * 1000)::float8 AS "turnAt"
      FROM (
        SELECT series.customer_id, series.feature_id, counter.period_end,
          counter.period_end + make_interval(secs => floor($4::float8 + $5::float8
            * (get_byte(uuid_send(series.customer_id), 14) * 256 + get_byte(uuid_send(series.customer_id), 15)) / 65536) / 1000) AS turn_at
        FROM usage_counter AS counter
        JOIN usage_series AS series ON series.environment_id = counter.environment_id AND series.id = counter.series_id
        WHERE counter.environment_id = $1::uuid AND counter.period_end < 'infinity' AND counter.usage <> 0
          AND counter.period_end > $2::timestamptz - make_interval(secs => ($4::float8 + $5::float8) / 1000) AND counter.period_end <= $3::timestamptz
      ) AS ended
      JOIN customer ON customer.environment_id = $1::uuid AND customer.id = ended.customer_id
      JOIN feature ON feature.environment_id = $1::uuid AND feature.id = ended.feature_id
      WHERE ended.turn_at > $2::timestamptz AND ended.turn_at <= $3::timestamptz
      ORDER BY ended.turn_at FETCH FIRST ($6::int) ROWS WITH TIES`,
    values: [environmentId, toTime(after), toTime(until), delayMs, spreadMs, limit],
  })
  return rows
}
