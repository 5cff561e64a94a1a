import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import { Problem } from '../../../src/kernel/problem.js'
import type { Life } from '../../../src/platform/process.js'
import type { Stack } from '../stack/stack.js'
import { type BenchEvent, eventsPerCall, makeEvents } from './event-calls.js'
import { customers } from './event-load.js'

const referenceSchema = `
  CREATE SCHEMA reference;
  CREATE TABLE reference.key (environment_id uuid, hash bytea, record_id uuid, created_at timestamptz DEFAULT now(), PRIMARY KEY (environment_id, hash));
  CREATE TABLE reference.event (environment_id uuid, batch_id uuid, position int, occurred_at timestamptz, customer_id text, event_name text, dimensions jsonb,
    PRIMARY KEY (environment_id, batch_id, position));
  CREATE INDEX ON reference.event (environment_id, customer_id, occurred_at);
  CREATE TABLE reference.counter (environment_id uuid, customer_id text, feature text, usage numeric, PRIMARY KEY (environment_id, customer_id, feature)) WITH (fillfactor = 70);
  CREATE TABLE reference.member (environment_id uuid, customer_id text, member bytea, PRIMARY KEY (environment_id, customer_id, member));`

const referenceStatement = `
  WITH given AS MATERIALIZED (
    SELECT * FROM unnest($3::bytea[], $4::text[], $5::text[], $6::jsonb[], $7::numeric[], $8::bytea[])
      WITH ORDINALITY AS given (hash, customer_id, event_name, dimensions, value, member, ord)
  ), claimed AS (
    INSERT INTO reference.key (environment_id, hash, record_id) SELECT $1::uuid, hash, $2::uuid FROM given ORDER BY hash ON CONFLICT DO NOTHING RETURNING hash
  ), fresh AS MATERIALIZED (
    SELECT given.* FROM claimed JOIN given USING (hash)
  ), stored AS (
    INSERT INTO reference.event SELECT $1::uuid, $2::uuid, ord, now(), customer_id, event_name, dimensions FROM fresh
  ), joined AS (
    INSERT INTO reference.member SELECT DISTINCT $1::uuid, customer_id, member FROM fresh ORDER BY 2, 3 ON CONFLICT DO NOTHING RETURNING customer_id
  ), added AS (
    SELECT customer_id, 'tokens' AS feature, sum(value) AS value FROM fresh GROUP BY customer_id
    UNION ALL SELECT customer_id, 'users', count(*) FROM joined GROUP BY customer_id
  )
  INSERT INTO reference.counter AS counter SELECT $1::uuid, customer_id, feature, value FROM added ORDER BY 2, 3
  ON CONFLICT (environment_id, customer_id, feature) DO UPDATE SET usage = counter.usage + excluded.usage`

/** Built before, as those of the load are. */
const calls = 50
const atOnce = 2

/** The same work from this process, one statement per call, two calls at a time. Answers what makes calls for some seconds, and tells how many events a second. */
export async function startReference(life: Life, stack: Stack): Promise<(forSeconds: number) => Promise<{ rate: number; events: number }>> {
  await stack.pool.query(referenceSchema)
  const pool = new pg.Pool({
    connectionString: stack.databaseUrl,
    max: atOnce,
    options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off',
  })
  life.open('reference pool', pool, (p) => p.end())
  const built = Array.from({ length: calls }, () => makeEvents(customers))
  let made = 0
  const sha = (text: string) => createHash('sha256').update(text).digest()
  const call = async (events: BenchEvent[], batch: number) => {
    await pool.query({
      name: 'reference',
      text: referenceStatement,
      values: [
        stack.environmentId,
        randomUUID(),
        events.map((e) => sha(`${e.customerId}|${e.eventName}|${e.idempotencyKey}|${batch}`)),
        events.map((e) => e.customerId),
        events.map((e) => e.eventName),
        events.map((e) => JSON.stringify(e.dimensions)),
        events.map((e) => e.dimensions.tokens),
        events.map((e) => sha(e.dimensions.user).subarray(0, 16)),
      ],
    })
  }
  return async (forSeconds) => {
    const began = performance.now()
    let events = 0
    let deadlocks = 0
    const work = async () => {
      while (performance.now() - began < forSeconds * 1_000) {
        const batch = made++
        // Members are inserted in no common order with counters: a call that loses is made again.
        await call(built[batch % calls]!, batch).then(
          () => (events += eventsPerCall),
          () => (deadlocks += 1),
        )
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    if (events === 0) throw new Problem('ABORTED', 'WRONG_ANSWERS', `the reference made no call of ${deadlocks}`)
    return { rate: (events / (performance.now() - began)) * 1_000, events }
  }
}
