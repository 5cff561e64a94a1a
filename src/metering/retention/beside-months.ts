import type pg from 'pg'

/** 4 MB a step: some milliseconds, and no more of the cache than it can spare. */
const blocksPerStep = 500

/**
 * Deletes events that are in no month, because a test clock stored them ahead of their time or nobody had made their month, and are before what their environment
 * keeps. What waits to be counted stays. Block by block, so it needs no index on the time and holds up nobody; any number may run at once. What it leaves when it is
 * stopped goes with the next month.
 */
export async function deleteBesideMonths(db: pg.Pool, signal?: AbortSignal): Promise<void> {
  for (const table of ['raw_event_ahead', 'raw_event_default'])
    for (let block = 0; !signal?.aborted; block += blocksPerStep) {
      const { rows } = await db.query<{ is_end: boolean }>({
        text: `SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint <= $2::bigint AS is_end`,
        values: [table, block],
      })
      if (rows[0]!.is_end) break
      await db.query({
        text: `
          DELETE FROM ${table} AS event USING environment
          WHERE event.ctid >= $1::tid AND event.ctid < $2::tid
            AND environment.id = event.environment_id AND event.occurred_at < environment.events_kept_since
            AND NOT EXISTS (SELECT FROM pending_batch AS batch WHERE batch.environment_id = event.environment_id AND batch.id = event.batch_id)`,
        values: [`(${block},0)`, `(${block + blocksPerStep},0)`],
      })
    }
}
