import type pg from 'pg'
import { type EpochMs } from '../../kernel/clock.js'
import { newId } from '../../kernel/id.js'
import { Problem } from '../../kernel/problem.js'

/** Everything is told to an environment's persistent cache once. */
export interface Warming {
  id: string
  beganAt: EpochMs
  /** Null: it is under way. */
  endedAt: EpochMs | null
  /** Customers, when it began. */
  total: number
  /** Of these, those that the queue was told of. */
  told: number
}

/** Between the beginnings of two of an environment: each tells its queue of every customer. */
const pauseSeconds = 60

const columns = `
  id, (extract(epoch FROM began_at) * 1000)::float8 AS "beganAt", (extract(epoch FROM ended_at) * 1000)::float8 AS "endedAt", total, told`

/** Asks for warmings, and tells how far they are; `WarmingDelivery` does them. */
export class Warmings {
  readonly #pool: pg.Pool

  constructor({ pool }: { pool: pg.Pool }) {
    this.#pool = pool
  }

  /**
   * Begins one, or answers the one that is under way. Fails with FAILED_PRECONDITION when the environment has no persistent cache, and with RESOURCE_EXHAUSTED when
   * the last one began a moment ago.
   */
  async begin(environmentId: string): Promise<Warming> {
    const { rows } = await this.#pool.query<Warming>({
      text: `
        INSERT INTO cache_warming AS warming (environment_id, id, began_at, total, told)
        SELECT id, $2::uuid, clock_timestamp(),
          (SELECT count(*) FROM customer WHERE customer.environment_id = environment.id AND customer.archived_at IS NULL), 0
        FROM environment WHERE id = $1::uuid AND has_persistent_cache
        ON CONFLICT (environment_id) DO UPDATE
          SET id = excluded.id, began_at = excluded.began_at, ended_at = NULL, total = excluded.total, told = 0, last_customer = NULL, claimed_until = NULL
          WHERE warming.ended_at IS NOT NULL AND warming.began_at < clock_timestamp() - make_interval(secs => $3)
        RETURNING ${columns}`,
      values: [environmentId, newId(), pauseSeconds],
    })
    if (rows[0]) return rows[0]
    const last = await this.find(environmentId)
    if (last === null) throw noPersistentCache()
    if (last.endedAt === null) return last
    const retryAfterMs = Math.max(1_000, last.beganAt + pauseSeconds * 1_000 - Date.now())
    throw new Problem('RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED', 'The persistent cache was warmed a moment ago: try again later.', {
      details: { retryAfterMs },
    })
  }

  /** The last one; null: there was none. */
  async find(environmentId: string): Promise<Warming | null> {
    const { rows } = await this.#pool.query<Warming>(`SELECT ${columns} FROM cache_warming WHERE environment_id = $1::uuid`, [
      environmentId,
    ])
    return rows[0] ?? null
  }
}

const noPersistentCache = () =>
  new Problem(
    'FAILED_PRECONDITION',
    'NO_PERSISTENT_CACHE',
    'The environment has no persistent cache: enablePersistentCache, or npm run admin -- environment enable-persistent-cache.',
  )
