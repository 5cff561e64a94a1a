import type { EpochMs } from '../../kernel/clock.js'
import type { Queryable } from '../../platform/sql.js'

/** Raw events of the environment before it have been dropped; null: all are there. */
export async function findKeptSince(db: Queryable, environmentId: string): Promise<EpochMs | null> {
  const { rows } = await db.query<{ events_kept_since: Date | null }>({
    text: 'SELECT events_kept_since FROM environment WHERE id = $1::uuid',
    values: [environmentId],
  })
  return rows[0]?.events_kept_since?.getTime() ?? null
}
