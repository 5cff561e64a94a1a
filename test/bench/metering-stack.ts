/** The processes that usage goes through, with a PostgreSQL and a Redis of their own, as durable as in production. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type App, createApp } from '../../src/app.js'
import { Problem } from '../../src/kernel/problem.js'
import { Children } from '../../src/local/children.js'
import { Ports } from '../../src/local/ports.js'
import { startServices } from '../../src/local/services.js'
import { migrate } from '../../src/migrate.js'
import { openPostgres } from '../../src/platform/postgres.js'
import type { Life } from '../../src/platform/process.js'
import { administer, databaseUrl } from '../support/database.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const probe = new URL('./cpu-probe.js', import.meta.url).href
const startMs = 30_000

/** One process of ours under load. */
export class StackProcess {
  private constructor(
    readonly name: string,
    readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static async start(name: string, script: string, env: Record<string, string>): Promise<StackProcess> {
    const port = await freePort()
    const child = spawn(
      process.execPath,
      [...(process.env.BENCH_NODE_OPTIONS?.split(' ') ?? []), '--import', probe, join(root, 'dist', script)],
      {
        env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', BIND_ADDRESS: '127.0.0.1', PORT: String(port), ...env },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    )
    const started = new StackProcess(name, child, `http://127.0.0.1:${port}`)
    const end = performance.now() + startMs
    while (!(await started.isReady())) {
      if (child.exitCode !== null || performance.now() > end)
        throw new Problem('UNAVAILABLE', 'SERVER_NOT_STARTED', `${name} did not start`)
      await sleep(50)
    }
    return started
  }

  async isReady(): Promise<boolean> {
    const answer = await fetch(`${this.url}/readyz`).catch(() => null)
    await answer?.arrayBuffer()
    return answer?.status === 200
  }

  /** CPU time of all its threads since it started. */
  async cpuMicroseconds(): Promise<number> {
    const answer = once(this.child, 'message', { signal: AbortSignal.timeout(5_000) })
    this.child.send('cpu')
    return ((await answer) as [number])[0]
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exit = once(this.child, 'exit')
    this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 12_000)
    await exit
    clearTimeout(timer)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

export interface Stack {
  databaseUrl: string
  pool: pg.Pool
  app: App
  environmentId: string
  serverKey: string
  start(name: keyof typeof scripts, env?: Record<string, string>): Promise<StackProcess>
}

const scripts = {
  web: 'src/web/main.js',
  'usage-ingestion': 'workers/usage-ingestion.js',
  'event-aggregation': 'workers/event-aggregation.js',
  'cache-invalidation': 'workers/cache-invalidation.js',
} as const

/** Starts the services (those of BENCH_DATABASE_URL and BENCH_REDIS_URL, else of a test run, when set), migrates and applies the catalog. All ends with `life`. */
export async function startStack(life: Life, catalog: object): Promise<Stack> {
  const data = join(root, '.data')
  mkdirSync(data, { recursive: true })
  const folder = life.open('data folder', mkdtempSync(join(data, 'bench-')), async (path) => rmSync(path, { recursive: true, force: true }))
  const children = life.open('services', new Children(), (all) => all.stopAll())
  const services = await startServices({
    root,
    dataFolder: folder,
    databaseUrl: process.env.BENCH_DATABASE_URL ?? process.env.TEST_DATABASE_URL,
    redisUrl: process.env.BENCH_REDIS_URL ?? process.env.TEST_REDIS_URL,
    children,
    ports: new Ports(),
    isDurable: true,
    notice: (line) => process.stderr.write(`${line}\n`),
    signal: life.signal,
  })
  const name = `tollgate_bench_${process.pid}_${Date.now()}`
  await administer(services.databaseUrl, (client) => client.query(`create database ${name}`))
  life.open('database', name, () =>
    administer(services.databaseUrl, async (client) => void (await client.query(`drop database if exists ${name} with (force)`))),
  )
  const url = databaseUrl(services.databaseUrl, name)
  await migrate({ databaseUrl: url, directory: join(root, 'prisma', 'migrations'), log: () => {} })

  const postgres = openPostgres(life, url, { poolSize: 10 })
  const prefix = `{${name}}`
  const app = createApp({ life, postgres, queues: { redisUrl: services.redisUrl, prefix } })
  const { environment } = await app.environments.create({ refId: 'bench' })
  await app.catalog.apply(environment.id, catalog, { dryRun: false, archiveMissing: false })
  const { key } = await app.environments.createKey({ environment: environment.refId, kind: 'SERVER', name: 'bench', expiresAt: null })
  return {
    databaseUrl: url,
    pool: postgres.pool,
    app,
    environmentId: environment.id,
    serverKey: key,
    start: async (process, env = {}) =>
      life.open(
        process,
        await StackProcess.start(process, scripts[process], {
          DATABASE_URL: url,
          REDIS_URL: services.redisUrl,
          QUEUE_PREFIX: prefix,
          ...env,
        }),
        (started) => started.stop(),
      ),
  }
}

/** Customers `customer-0`, `customer-1`, … on the plan: one is provisioned, the others are copies of its rows, which takes seconds for a hundred thousand. */
export async function addCustomers({ app, pool, environmentId }: Stack, count: number, planRefId: string): Promise<void> {
  await app.customers.provision(environmentId, { refId: 'customer-0', subscription: { planRefId } })
  await pool.query({
    text: `
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
      FROM subscription AS held JOIN template ON template.id = held.customer_id, ids`,
    values: [environmentId, count - 1],
  })
  await pool.query('ANALYZE')
}
