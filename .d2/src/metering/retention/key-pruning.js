/** Events are accepted up to 35 days back, so a repeat may come that late. */
const keptDays = 40;
const partitions = 16;
/** 4 MB a step: some milliseconds, and no more of the cache than it can spare. */
const blocksPerStep = 500;
/**
 * Deletes identities that no repeat can need any more. Walks through the blocks of each partition in turn, a few at a time, so it needs no index on
 * the age and holds up nobody. Any number may walk at once.
 */
export class KeyPruning {
    db;
    #partition = 0;
    #block = 0;
    constructor(db) {
        this.db = db;
    }
    /** One step. Answers how many keys it deleted. */
    async step() {
        const table = `ingestion_key_${this.#partition}`;
        const { rowCount } = await this.db.query({
            text: `DELETE FROM ${table} WHERE ctid >= $1::tid AND ctid < $2::tid AND created_at < clock_timestamp() - make_interval(days => $3::int)`,
            values: [`(${this.#block},0)`, `(${this.#block + blocksPerStep},0)`, keptDays],
        });
        const { rows } = await this.db.query({
            text: `SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint AS blocks`,
            values: [table],
        });
        this.#block += blocksPerStep;
        if (this.#block >= Number(rows[0].blocks)) {
            this.#block = 0;
            this.#partition = (this.#partition + 1) % partitions;
        }
        return rowCount ?? 0;
    }
}
//# sourceMappingURL=key-pruning.js.map