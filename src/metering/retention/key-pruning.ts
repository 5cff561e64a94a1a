import type { Queryable } from '../../platform/sql.js'
import { identityDays } from '../model/windows.js'

const partitions = 16
/** 4 MB a step: some milliseconds, and no more of the cache than it can spare. */
const blocksPerStep = 500

/**
 * Deletes identities that no repeat can need any more. Walks through the blocks of each partition in turn, a few at a time, so it needs no index on
 * the age and holds up nobody. Any number may walk at once.
 */
export class KeyPruning {
  #partition = 0
  #block = 0

  constructor(private readonly db: Queryable) {}

  /** One step. Answers how many keys it deleted. */
  async step(): Promise<number> {
    const table = `ingestion_key_${this.#partition}`
    const { rowCount } = await this.db.query({
      text: `DELETE FROM ${table} WHERE ctid >= $1::tid AND ctid < $2::tid AND created_at < clock_timestamp() - make_interval(days => $3::int)`,
      values: [`(${this.#block},0)`, `(${this.#block + blocksPerStep},0)`, identityDays],
    })
    const { rows } = await this.db.query<{ blocks: string }>({
      text: `SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint AS blocks`,
      values: [table],
    })
    this.#block += blocksPerStep
    if (this.#block >= Number(rows[0]!.blocks)) {
      this.#block = 0
      this.#partition = (this.#partition + 1) % partitions
    }
    return rowCount ?? 0
  }
}
