/** The processes that usage goes through, with a PostgreSQL and a Redis of their own, as durable as in production. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import type pg from 'pg'
import { Problem } from '../../../src/kernel/problem.js'
import { Secret } from '../../../src/kernel/secret.js'
import { Children } from '../../../src/local/processes/children.js'
import { Ports } from '../../../src/local/processes/ports.js'
import { type Services, startServices } from '../../../src/local/services.js'
import { migrate } from '../../../src/migrate.js'
import { Sealing } from '../../../src/notifications/webhooks/secrets.js'
import { DatabaseClock } from '../../../src/platform/database-clock.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import type { Life } from '../../../src/platform/process.js'
import { type App, createApp } from '../../../src/wiring/app.js'
import { makeDataFolder, removeDataFolder } from '../../support/data-folder.js'
import { administer, databaseUrl } from '../../support/database.js'
import { testSecretsKey } from '../../support/webhooks.js'
import { commandOf } from './process-figures.js'
import { StackProcess, type StartOptions } from './stack-process.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
/** To recover from its log after an immediate stop, on a busy machine. */
const restartMs = 60_000

export interface Stack {
  databaseUrl: string
  pool: pg.Pool
  app: App
  environmentId: string
  serverKey: string
  redisUrl: string
  queuePrefix: string
  /** Those that were started, in this order; some may have been killed since. */
  processes: readonly StackProcess[]
  /** The process ids of PostgreSQL and Redis, where they run on this machine. */
  servers: ReadonlyMap<string, number>
  start(name: ProcessName, env?: Record<string, string>, options?: StartOptions): Promise<StackProcess>
  /**
   * Stops PostgreSQL, and answers when it takes connections again: `fast` as an operator restarts it, `immediate` as a crash does it.
   * @throws Problem when the PostgreSQL is not an own one
   */
  restartPostgres(how: 'fast' | 'immediate'): Promise<void>
}

/** Those of the Procfile that usage, and what is told of it, go through. */
export type ProcessName =
  | 'web'
  | 'sidecar'
  | 'usage-ingestion'
  | 'event-aggregation'
  | 'cache-invalidation'
  | 'queue-consumption'
  | 'alert-evaluation'
  | 'webhook-delivery'

/** Starts the services (those of BENCH_DATABASE_URL and BENCH_REDIS_URL, else of a test run, when set), migrates and applies the catalog. All ends with `life`. */
export async function startStack(life: Life, catalog: object, { isOwn = false }: { isOwn?: boolean } = {}): Promise<Stack> {
  const given = {
    databaseUrl: isOwn ? undefined : (process.env.BENCH_DATABASE_URL ?? process.env.TEST_DATABASE_URL),
    redisUrl: process.env.BENCH_REDIS_URL ?? process.env.TEST_REDIS_URL,
  }
  const services = await openServices(life, given)
  const name = `tollgate_bench_${process.pid}_${Date.now()}`
  await administer(services.databaseUrl, (client) => client.query(`create database ${name}`))
  life.open('database', name, () =>
    administer(services.databaseUrl, async (client) => void (await client.query(`drop database if exists ${name} with (force)`))),
  )
  const url = databaseUrl(services.databaseUrl, name)
  await migrate({ databaseUrl: url, log: () => {} })

  const postgres = openPostgres(life, url, { poolSize: 10 })
  const prefix = `{${name}}`
  const clock = await DatabaseClock.open(life, postgres.pool)
  const webhooks = { sealing: new Sealing(new Secret(testSecretsKey)), targets: 'loopback too' as const }
  const app = createApp({ life, postgres, clock, queues: { redisUrl: services.redisUrl, prefix }, webhooks })
  const { environment } = await app.environments.create({ refId: 'bench' })
  await app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
  const { key } = await app.environments.createKey({ environment: environment.refId, kind: 'SERVER', name: 'bench', expiresAt: null })
  // As in production: what it costs to write the events that somebody hears is in all figures.
  await app.webhooks.create(environment.id, { url: 'http://127.0.0.1:9/events' })
  const processes: StackProcess[] = []
  return {
    databaseUrl: url,
    pool: postgres.pool,
    app,
    environmentId: environment.id,
    serverKey: key,
    redisUrl: services.redisUrl,
    queuePrefix: prefix,
    processes,
    servers: await findServers(postgres.pool, services.redisUrl),
    start: async (process, env = {}, options = {}) => {
      const stores: Record<string, string> =
        process === 'sidecar' || process === 'queue-consumption'
          ? {}
          : { DATABASE_URL: url, REDIS_URL: services.redisUrl, QUEUE_PREFIX: prefix }
      const started = life.open(process, await StackProcess.start(process, { ...stores, ...env }, options), (p) => p.stop())
      processes.push(started)
      return started
    },
    restartPostgres: async (how) => {
      if (given.databaseUrl !== undefined)
        throw new Problem('FAILED_PRECONDITION', 'NOT_OUR_POSTGRES', 'This restarts PostgreSQL, so it needs one of its own')
      const postmaster = await findPostmaster(postgres.pool)
      const startedAt = await postgres.pool.query<{ at: Date }>('SELECT pg_postmaster_start_time() AS at').then(({ rows }) => rows[0]!.at)
      // As `pg_ctl stop -m fast` and `-m immediate` do; what keeps the services running starts it again.
      process.kill(postmaster, how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      const end = performance.now() + restartMs
      for (;;) {
        const isBack = await administer(services.databaseUrl, async (client) => {
          const { rows } = await client.query<{ at: Date }>('SELECT pg_postmaster_start_time() AS at')
          return rows[0]!.at > startedAt
        }).catch(() => false)
        if (isBack) return
        if (performance.now() > end)
          throw new Problem('UNAVAILABLE', 'SERVER_NOT_STARTED', `PostgreSQL was not back in ${restartMs / 1_000} s`)
        await sleep(20)
      }
    },
  }
}

async function openServices(life: Life, given: { databaseUrl: string | undefined; redisUrl: string | undefined }): Promise<Services> {
  const folder = life.open('data folder', makeDataFolder(join(root, '.data'), 'bench-'), removeDataFolder)
  const ports = life.open('ports', new Ports(), (all) => all.release())
  const children = life.open('services', new Children(), (all) => all.stopAll())
  const notice = (line: string) => process.stderr.write(`${line}\n`)
  const options = { root, dataFolder: folder, ...given, children, ports, isDurable: true, notice, signal: life.signal }
  const services = await startServices(options)
  services.keepRunning(life.signal).catch((error: unknown) => {
    if (!life.signal.aborted) notice(String(error))
  })
  return services
}

async function findPostmaster(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: string }>(`SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1) AS pid`)
  return Number(rows[0]!.pid)
}

async function findServers(pool: pg.Pool, redisUrl: string): Promise<Map<string, number>> {
  const redis = new Redis(redisUrl)
  const information = await redis.info('server').finally(() => redis.disconnect())
  // Not every user of a given PostgreSQL may know its process.
  const postgres = await findPostmaster(pool).catch(() => 0)
  const found = new Map([
    ['postgres', postgres],
    ['redis', Number(/^process_id:(\d+)/m.exec(information)?.[1])],
  ])
  // An id that another program has here is that of a server elsewhere.
  for (const [name, pid] of found) if (!/^(postgres|redis-server|valkey-server)/.test(commandOf(pid) ?? '')) found.delete(name)
  return found
}

/** Customers `customer-0`, `customer-1`, … on the plan: one is provisioned, the others are copies of its rows, which takes seconds for a hundred thousand. */
export async function addCustomers({ app, databaseUrl: url, environmentId }: Stack, count: number, planRefId: string): Promise<void> {
  await app.customers.provision(environmentId, { refId: 'customer-0', subscription: { planRefId } })
  const text = `
      WITH template AS (SELECT * FROM customer WHERE environment_id = $1::uuid AND ref_id = 'customer-0'),
      ids AS MATERIALIZED (SELECT n, gen_random_uuid() AS id FROM generate_series(1, $2::int) AS n),
      copied AS (
        INSERT INTO customer SELECT (jsonb_populate_record(NULL::customer, to_jsonb(template) || jsonb_build_object('id', ids.id, 'ref_id', 'customer-' || n))).*
        FROM template, ids
      ), states AS (
        INSERT INTO customer_state
        SELECT (jsonb_populate_record(NULL::customer_state, to_jsonb(state) || jsonb_build_object('customer_id', ids.id))).*
        FROM customer_state AS state JOIN template ON template.id = state.customer_id, ids
      )
      INSERT INTO subscription
      SELECT (jsonb_populate_record(NULL::subscription, to_jsonb(held) || jsonb_build_object('id', gen_random_uuid(), 'ref_id', 'subscription-' || n, 'customer_id', ids.id))).*
      FROM subscription AS held JOIN template ON template.id = held.customer_id, ids`
  // Not over the pool: its statements have little time, and this one takes as long as the machine needs.
  await administer(url, async (client) => {
    await client.query(text, [environmentId, count - 1])
    // Not of tables that are still empty: plans that are made for those would be kept while they grow.
    await client.query('ANALYZE customer, customer_state, subscription')
  })
}
