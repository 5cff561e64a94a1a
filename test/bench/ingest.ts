import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Client } from 'undici'
import { Problem } from '../../src/kernel/problem.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { compare, type Sample } from './compare.js'
import { addCustomers, type Stack, type StackProcess, startStack } from './metering-stack.js'

const feature = (refId: string, aggregation: string, field: string) => ({
  refId,
  displayName: refId,
  type: 'NUMBER',
  meter: 'Incremental',
  units: 'unit',
  unitsPlural: 'units',
  events: { aggregation, field, filters: [[{ field: 'eventName', operation: 'EQUALS', value: 'request' }]] },
})
const catalog = {
  features: [feature('tokens', 'SUM', 'tokens'), feature('users', 'UNIQUE', 'user')],
  products: [{ refId: 'cloud', displayName: 'Cloud' }],
  plans: [
    {
      refId: 'free',
      product: 'cloud',
      displayName: 'Free',
      pricingType: 'FREE',
      entitlements: ['tokens', 'users'].map((name) => ({ feature: name, limit: 1_000_000_000, resetPeriod: 'MONTH' })),
    },
  ],
}
const customers = 10_000
const eventsPerCall = 1_000
const callers = 4
const roundSeconds = 5
/** Of a customer: distinct users are found again and again, as in life. */
const usersPerCustomer = 50

interface BenchEvent {
  customerId: string
  eventName: string
  idempotencyKey: string
  dimensions: { tokens: number; user: string }
}

function makeCall(): BenchEvent[] {
  return Array.from({ length: eventsPerCall }, () => ({
    customerId: `customer-${Math.floor(Math.random() * customers)}`,
    eventName: 'request',
    idempotencyKey: randomUUID(),
    dimensions: { tokens: Math.floor(Math.random() * 1_000), user: `user-${Math.floor(Math.random() * usersPerCustomer)}` },
  }))
}

const mutation = 'mutation ($events: UsageEventsReportInput!) { reportEvent(events: $events) }'

type Measure = 'rate'

/** Acknowledged events until they are counted, against one process that does the same work straight in PostgreSQL. */
export const ingest: Benchmark = {
  name: 'ingest',
  about: `reportEvent, ${eventsPerCall} events a call over ${customers} customers, until it is counted (SUM and UNIQUE); reference: one statement per call, no queue`,
  async run(context) {
    const { life, seconds, note } = context
    const stack = await startStack(life, catalog)
    await addCustomers(stack, customers, 'free')
    const web = await stack.start('web', { RATE_LIMIT_PER_KEY: '1000000' })
    const workers = [await stack.start('usage-ingestion'), await stack.start('event-aggregation')]
    const subject = () => loadStack(stack, web, roundSeconds)
    const reference = await startReference(life, stack)
    note('warming up: every customer once')
    await loadStack(stack, web, roundSeconds * 2)
    await reference(roundSeconds)
    return compare<Measure>({
      subject: () => withCpu([web, ...workers], note, subject),
      reference: () => reference(roundSeconds),
      measures: { rate: { name: 'ingest', unit: 'events/s' } },
      rounds: 50,
      seconds,
      onRound: (round, { rate }, { rate: bare }) => note(`round ${round}: ${Math.round(rate)} and ${Math.round(bare)} events/s`),
    })
  },
}

async function withCpu(processes: StackProcess[], note: (line: string) => void, run: () => Promise<Sample<Measure> & { events: number }>) {
  const before = await Promise.all(processes.map((p) => p.cpuMicroseconds()))
  const sample = await run()
  const after = await Promise.all(processes.map((p) => p.cpuMicroseconds()))
  note(processes.map(({ name }, i) => `${name} ${((after[i]! - before[i]!) / sample.events).toFixed(1)} µs`).join(', '))
  return sample
}

/** Calls as fast as they are answered; ends when all that was stored is counted. */
async function loadStack(stack: Stack, web: StackProcess, forSeconds: number): Promise<Sample<Measure> & { events: number }> {
  const began = performance.now()
  let events = 0
  const call = async () => {
    const client = new Client(web.url)
    while (performance.now() - began < forSeconds * 1_000) {
      const body = JSON.stringify({ query: mutation, variables: { events: { usageEvents: makeCall() } } })
      const answer = await client.request({
        path: '/graphql',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': stack.serverKey },
        body,
      })
      const text = await answer.body.text()
      if (text.startsWith('{"data":{"reportEvent":null}}')) events += eventsPerCall
      // Refused for the backlog, or not stored in time: as a caller is told, nothing was counted.
      else if (!/"code":"(Timeout|RateLimitExceeded)"/.test(text)) throw new Problem('ABORTED', 'WRONG_ANSWERS', text.slice(0, 500))
    }
    await client.close()
  }
  await Promise.all(Array.from({ length: callers }, call))
  for (;;) {
    const { rows } = await stack.pool.query('SELECT FROM pending_batch LIMIT 1')
    if (rows.length === 0) break
    await sleep(10)
  }
  return { rate: (events / (performance.now() - began)) * 1_000, events }
}

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

/** The same work, from this process, one statement per call, two calls at a time. */
async function startReference(life: BenchmarkContext['life'], stack: Stack): Promise<(forSeconds: number) => Promise<Sample<Measure>>> {
  await stack.pool.query(referenceSchema)
  const pool = new pg.Pool({
    connectionString: stack.databaseUrl,
    max: 2,
    options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off',
  })
  life.open('reference pool', pool, (p) => p.end())
  const sha = (text: string) => createHash('sha256').update(text).digest()
  const call = async () => {
    const events = makeCall()
    await pool.query({
      name: 'reference',
      text: referenceStatement,
      values: [
        stack.environmentId,
        randomUUID(),
        events.map((e) => sha(`${e.customerId}|${e.eventName}|${e.idempotencyKey}`)),
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
    await Promise.all(
      [1, 2].map(async () => {
        while (performance.now() - began < forSeconds * 1_000) {
          // Members are inserted in no common order with counters: a call that loses is made again.
          await call().then(
            () => (events += eventsPerCall),
            () => (deadlocks += 1),
          )
        }
      }),
    )
    if (events === 0) throw new Problem('ABORTED', 'WRONG_ANSWERS', `the reference made no call of ${deadlocks}`)
    return { rate: (events / (performance.now() - began)) * 1_000 }
  }
}
