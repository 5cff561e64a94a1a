/**
 * Customers of whom something has changed that alerts, or who hears what they may use, are to be told of. Whoever gives a customer's state its version
 * says so here, in the same transaction, where the environment has alerts (any change), or hears of events (a change of access); elsewhere nothing is written.
 *
 * evaluation  a look at a customer that is to be taken, once for all changes until then
 * round       a look at every customer of an environment
 */
import type pg from 'pg'
import { type Db, Prisma } from '../platform/postgres.js'
import { busyEnvironments, plainArray } from '../platform/sql.js'

/** A customer that a worker has to itself for a while. */
export interface DueEvaluation {
  environmentId: string
  /** Ours. */
  customerId: string
  /** Grows with each change. */
  version: string
  /** For how long it has been due, in seconds. */
  waitedSeconds: number
}

/** Customers of one environment that are taken at a time where many have some. */
const leastOfOne = 25

/**
 * Takes customers that are due, some of each environment in turn, those that wait longest first. Who does not finish them has left them to others when
 * `seconds` are over.
 */
export async function leaseEvaluations(pool: pg.Pool, { limit, seconds }: { limit: number; seconds: number }): Promise<DueEvaluation[]> {
  const { rows } = await pool.query<DueEvaluation>({
    name: 'changes_lease_evaluations',
    text: `
      WITH RECURSIVE ${busyEnvironments('customer_evaluation', 'true').text}, due AS MATERIALIZED (
        SELECT waiting.* FROM busy CROSS JOIN LATERAL (
          SELECT environment_id, customer_id, due_at, row_number() OVER (ORDER BY due_at) AS place FROM (
            SELECT environment_id, customer_id, due_at FROM customer_evaluation AS evaluation
            WHERE evaluation.environment_id = busy.environment_id AND due_at <= clock_timestamp()
            ORDER BY due_at LIMIT greatest($3::int, $1::int / (SELECT count(environment_id) FROM busy)) FOR UPDATE SKIP LOCKED
          ) AS free
        ) AS waiting
      ), taken AS (
        SELECT environment_id, customer_id, due_at FROM due ORDER BY place, due_at LIMIT $1::int
      )
      UPDATE customer_evaluation AS evaluation SET due_at = clock_timestamp() + make_interval(secs => $2)
      FROM taken WHERE evaluation.environment_id = taken.environment_id AND evaluation.customer_id = taken.customer_id
      RETURNING evaluation.environment_id AS "environmentId", evaluation.customer_id AS "customerId", evaluation.version::text AS version,
        greatest(0, extract(epoch FROM clock_timestamp() - taken.due_at))::float8 AS "waitedSeconds"`,
    values: [limit, seconds, leastOfOne],
  })
  return rows
}

/** Of those that nothing came of: they are done, or due again where something has changed since they were taken. */
export async function finishEvaluations(pool: pg.Pool, environmentId: string, done: readonly DueEvaluation[]): Promise<void> {
  if (done.length === 0) return
  await pool.query({
    name: 'changes_finish_evaluations',
    // In the order in which changes take them.
    text: `
      WITH held AS MATERIALIZED (
        SELECT customer_id, evaluation.version = given.version AS is_done
        FROM customer_evaluation AS evaluation JOIN unnest($2::uuid[], $3::bigint[]) AS given (customer_id, version) USING (customer_id)
        WHERE evaluation.environment_id = $1::uuid ORDER BY customer_id FOR UPDATE OF evaluation
      ), finished AS (
        DELETE FROM customer_evaluation AS evaluation USING held
        WHERE evaluation.environment_id = $1::uuid AND evaluation.customer_id = held.customer_id AND held.is_done
      )
      UPDATE customer_evaluation AS evaluation SET due_at = clock_timestamp() FROM held
      WHERE evaluation.environment_id = $1::uuid AND evaluation.customer_id = held.customer_id AND NOT held.is_done`,
    values: [environmentId, plainArray(done.map(({ customerId }) => customerId)), plainArray(done.map(({ version }) => version))],
  })
}

/**
 * Ends the evaluation of customers whose state rows the transaction holds: what is read from now on is of no earlier state. Answers those of them that nobody else has
 * done. They are taken in the order in which changes take them, and it is taken back with the transaction.
 */
export async function endEvaluations(db: Db, environmentId: string, customerIds: readonly string[]): Promise<string[]> {
  const rows = await db.$queryRaw<{ customer_id: string }[]>(Prisma.sql`
    WITH held AS MATERIALIZED (
      SELECT customer_id FROM customer_evaluation
      WHERE environment_id = ${environmentId}::uuid AND customer_id = ANY(${[...customerIds]}::uuid[]) ORDER BY customer_id FOR UPDATE
    )
    DELETE FROM customer_evaluation AS evaluation USING held
    WHERE evaluation.environment_id = ${environmentId}::uuid AND evaluation.customer_id = held.customer_id RETURNING evaluation.customer_id`)
  return rows.map((row) => row.customer_id)
}

/** Has customers (our ids) evaluated whatever has changed. */
export async function askEvaluations(pool: pg.Pool, environmentId: string, customerIds: readonly string[]): Promise<void> {
  await pool.query({
    name: 'changes_ask_evaluations',
    text: `
      INSERT INTO customer_evaluation AS evaluation (environment_id, customer_id, version)
      SELECT $1::uuid, id, floor(extract(epoch FROM clock_timestamp()) * 1000) FROM unnest($2::uuid[]) AS given (id) ORDER BY id
      ON CONFLICT (environment_id, customer_id) DO UPDATE SET version = greatest(excluded.version, evaluation.version + 1)`,
    values: [environmentId, plainArray([...customerIds])],
  })
}

/** How often a round is made: once at once, and once for those whose changes were under way when it was asked for, and did not know of it. */
const rounds = 2
const nextRoundSeconds = 10

/** Has every customer of the environment evaluated, after the transaction. */
export async function askRound(db: Db, environmentId: string): Promise<void> {
  await db.$executeRaw(Prisma.sql`
    INSERT INTO evaluation_round (environment_id, after_id, rounds) VALUES (${environmentId}::uuid, ${firstId}::uuid, ${rounds})
    ON CONFLICT (environment_id) DO UPDATE SET after_id = excluded.after_id, rounds = excluded.rounds, due_at = clock_timestamp()`)
}

const firstId = '00000000-0000-0000-0000-000000000000'

/**
 * Goes on with the rounds that are due, by so many customers each, where no more wait in the environment: those of whom something has changed do not wait for a round.
 * Answers whether there is more to be done at once.
 */
export async function advanceRounds(pool: pg.Pool, customersEach: number): Promise<boolean> {
  const { rows } = await pool.query<{ is_more: boolean }>({
    name: 'changes_advance_rounds',
    text: `
      WITH due AS MATERIALIZED (
        SELECT environment_id, after_id, rounds FROM evaluation_round AS round
        WHERE due_at <= clock_timestamp() AND (
          SELECT count(*) FROM (SELECT FROM customer_evaluation AS waiting WHERE waiting.environment_id = round.environment_id LIMIT $1::int) AS counted
        ) < $1::int
        ORDER BY due_at LIMIT 20 FOR UPDATE SKIP LOCKED
      ), next AS MATERIALIZED (
        SELECT due.environment_id, state.customer_id FROM due CROSS JOIN LATERAL (
          SELECT customer_id FROM customer_state WHERE environment_id = due.environment_id AND customer_id > due.after_id ORDER BY customer_id LIMIT $1::int
        ) AS state
      ), asked AS (
        INSERT INTO customer_evaluation AS evaluation (environment_id, customer_id, version)
        SELECT environment_id, customer_id, floor(extract(epoch FROM clock_timestamp()) * 1000) FROM next ORDER BY environment_id, customer_id
        ON CONFLICT (environment_id, customer_id) DO UPDATE SET version = greatest(excluded.version, evaluation.version + 1)
      ), reached AS (
        SELECT due.environment_id, due.rounds, (array_agg(next.customer_id ORDER BY next.customer_id DESC))[1] AS last_id, count(next.customer_id) < $1::int AS is_whole
        FROM due LEFT JOIN next USING (environment_id) GROUP BY due.environment_id, due.rounds
      ), ended AS (
        DELETE FROM evaluation_round AS round USING reached
        WHERE round.environment_id = reached.environment_id AND reached.is_whole AND reached.rounds = 1
      ), advanced AS (
        UPDATE evaluation_round AS round SET
          after_id = CASE WHEN is_whole THEN $3::uuid ELSE last_id END,
          rounds = CASE WHEN is_whole THEN round.rounds - 1 ELSE round.rounds END,
          due_at = CASE WHEN is_whole THEN clock_timestamp() + make_interval(secs => $2) ELSE clock_timestamp() END
        FROM reached WHERE round.environment_id = reached.environment_id AND NOT (reached.is_whole AND reached.rounds = 1)
      )
      SELECT coalesce(bool_or(NOT is_whole), false) AS is_more FROM reached`,
    values: [customersEach, nextRoundSeconds, firstId],
  })
  return rows[0]!.is_more
}
