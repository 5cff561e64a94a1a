/** Ten million stored events without reporting each of them: those that were reported are copied, with identities of their own. */
import pg from 'pg'
import type { Stack } from '../stack/stack.js'

/** Of one statement; the product's own limit of time does not hold here. */
const rowsAtOnce = 500_000

/** What was reported of one feature that adds up, kept apart with what came of it. */
export class EventCopies {
  /** How often each event is stored, the original included. */
  copies = 1

  private constructor(
    private readonly client: pg.Client,
    /** Events that are copied. */
    readonly originals: number,
    /** Whose usage grows with each copy; that of UNIQUE does not. */
    private readonly featureRefId: string,
  ) {}

  /** From what is stored now, and counted. */
  static async open(stack: Stack, featureRefId: string): Promise<EventCopies> {
    const client = new pg.Client({ connectionString: stack.databaseUrl })
    await client.connect()
    await client.query(`
      SET synchronous_commit = off;
      CREATE SCHEMA cost;
      CREATE TABLE cost.raw_event AS SELECT * FROM raw_event ORDER BY occurred_at;
      CREATE TABLE cost.ingestion_key AS SELECT * FROM ingestion_key;
      CREATE TABLE cost.usage_rollup AS SELECT * FROM usage_rollup;
      CREATE TABLE cost.usage_counter AS SELECT * FROM usage_counter`)
    const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM cost.raw_event')
    return new EventCopies(client, Number(rows[0]!.count), featureRefId)
  }

  /** Has each original stored so many times, with counters, rollups and identities that say so. The state in memory says it after the next event. */
  async growTo(copies: number): Promise<void> {
    const step = Math.max(1, Math.floor(rowsAtOnce / this.originals))
    for (let from = this.copies; from < copies; from += step) {
      const range = [from, Math.min(from + step, copies) - 1]
      await this.#copy('raw_event', { batch_id: `md5(original.batch_id::text || copy)::uuid` }, range)
      await this.#copy(
        'ingestion_key',
        { hash: `sha256(original.hash || copy::text::bytea)`, record_id: `md5(original.record_id::text || copy)::uuid` },
        range,
      )
    }
    const isAdded = `feature.environment_id = kept.environment_id AND feature.ref_id = $2`
    const values = [copies - this.copies, this.featureRefId]
    await this.client.query(
      `UPDATE usage_rollup AS rollup SET usage = rollup.usage + kept.usage * $1::int, events = rollup.events + kept.events * $1::int
       FROM cost.usage_rollup AS kept JOIN feature ON feature.id = kept.feature_id AND ${isAdded}
       WHERE rollup.customer_id = kept.customer_id AND rollup.feature_id = kept.feature_id AND rollup.part_id = kept.part_id
         AND rollup.bucket_start = kept.bucket_start`,
      values,
    )
    await this.client.query(
      `UPDATE usage_counter AS counter SET usage = counter.usage + kept.usage * $1::int, events = counter.events + kept.events * $1::int
       FROM cost.usage_counter AS kept JOIN usage_series AS series ON series.id = kept.series_id
       JOIN feature ON feature.id = series.feature_id AND ${isAdded}
       WHERE counter.series_id = kept.series_id AND counter.period_start = kept.period_start`,
      values,
    )
    this.copies = copies
    await this.client.query('VACUUM ANALYZE')
    await this.client.query('CHECKPOINT')
  }

  async #copy(table: string, changed: Record<string, string>, range: number[]): Promise<void> {
    const { rows } = await this.client.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
      [table],
    )
    const names = rows.map(({ name }) => name)
    const values = names.map((name) => changed[name] ?? `original.${name}`)
    await this.client.query(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM generate_series($1::int, $2::int) AS copy, cost.${table} AS original`,
      range,
    )
  }

  close(): Promise<void> {
    return this.client.end()
  }
}
