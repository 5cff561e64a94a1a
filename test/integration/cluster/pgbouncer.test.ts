import { execFile } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import type pg from 'pg'
import { Children } from '../../../src/local/processes/children.js'
import { Ports } from '../../../src/local/processes/ports.js'
import { bringProgram } from '../../../src/local/programs/debian-package.js'
import { withinSignal } from '../../../src/platform/context/within-signal.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { administer } from '../../support/database.js'
import { eventually } from '../../support/eventually.js'
import { OwnProcesses } from '../../support/own-processes.js'
import { testSecretsKey } from '../../support/webhooks.js'
import { Load } from './load.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const wanted = {
  title: 'PgBouncer',
  // It stands among the programs of the system.
  name: '../sbin/pgbouncer',
  packageName: 'pgbouncer',
  howToInstall: 'or install it (Debian, Ubuntu: apt-get install pgbouncer)',
}

describe('the platform behind PgBouncer in transaction mode', function () {
  this.timeout(180_000)

  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pgbouncer-'))
  const children = new Children()
  const ports = new Ports()
  let port: number
  let own: OwnProcesses
  let load: Load | undefined

  before(async () => {
    port = await ports.take()
    const direct = new URL(process.env.TEST_DATABASE_URL!)
    const signal = AbortSignal.timeout(120_000)
    const program = await bringProgram(wanted, {
      cacheFolder: join(root, '.cache'),
      children,
      notice: (line) => console.error(line),
      signal,
    })
    const user = decodeURIComponent(direct.username)
    const password = direct.password === '' ? '' : ` password='${decodeURIComponent(direct.password)}'`
    writeFileSync(
      join(folder, 'pgbouncer.ini'),
      [
        '[databases]',
        `* = host=${direct.hostname} port=${direct.port || 5432} user=${user}${password}`,
        '[pgbouncer]',
        `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any`,
        // Far fewer than the processes open, so that transactions of one go over many.
        'pool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 200',
        '',
      ].join('\n'),
    )
    const log = openSync(join(folder, 'pgbouncer.log'), 'w')
    children.start({
      command: program.file,
      args: [...(process.getuid?.() === 0 ? ['--user=nobody'] : []), join(folder, 'pgbouncer.ini')],
      stage: 'service',
      env: { ...process.env, ...program.env },
      cwd: '/',
      stopSignal: 'SIGTERM',
      graceMs: 2_000,
      output: log,
    })
    closeSync(log)
    own = await OwnProcesses.create(Load.catalog, { DATABASE_DIRECT_URL: direct.href, DATABASE_POOL_SIZE: '6' }, { databaseUrlOf: pooled })
    await own.start(['usage-ingestion', 'event-aggregation', 'subscription-transitions', 'cache-invalidation', 'billing-sync', 'web'])
  })
  afterEach(async function () {
    await load?.stop()
    own?.showComplaints(this.currentTest)
  })
  after(async () => {
    await own?.close()
    await children.stopAll()
    ports.release()
    rmSync(folder, { recursive: true, force: true })
  })

  function pooled(url: string): string {
    const through = new URL(url)
    through.hostname = '127.0.0.1'
    through.port = String(port)
    return through.href
  }

  /** A process of this project to its end, with the addresses that it is told. */
  const run = (file: string, urls: Record<string, string>, ...args: string[]) =>
    new Promise<{ code: number; said: string }>((resolve) => {
      const env = {
        PATH: process.env.PATH,
        REDIS_URL: process.env.TEST_REDIS_URL,
        PORT: '0',
        METRICS_PORT: '0',
        SECRETS_KEY: testSecretsKey,
        ...urls,
      }
      execFile(process.execPath, [join(root, 'dist', file), ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, said: `${stdout}${stderr}` }),
      )
    })
  const [release, admin] = ['src/migrate.js', 'src/local/admin/main.js']

  it('is released past it, and not through it', async () => {
    const database = `released_${process.pid}_${Date.now()}`
    const direct = Object.assign(new URL(process.env.TEST_DATABASE_URL!), { pathname: database }).href
    await administer(process.env.TEST_DATABASE_URL!, (client) => client.query(`create database ${database}`))
    try {
      const through = await run(release, { DATABASE_URL: pooled(direct) })
      expect(through.code).to.equal(1)
      expect(through.said).to.include(
        `what answers at 127.0.0.1:${port} is a pooler such as PgBouncer, and migrations need a session: set DATABASE_DIRECT_URL`,
      )
      const tables = (client: pg.Client) => client.query('select from pg_class where relname = $1', ['customer'])
      expect((await administer(direct, tables)).rowCount).to.equal(0)
      const past = await run(release, { DATABASE_URL: pooled(direct), DATABASE_DIRECT_URL: direct })
      expect(past.code, past.said).to.equal(0)
      expect((await administer(direct, tables)).rowCount).to.equal(1)
    } finally {
      await administer(process.env.TEST_DATABASE_URL!, (client) => client.query(`drop database ${database} with (force)`))
    }
  })

  it('is told by each process that is not told of it', async () => {
    const DATABASE_URL = pooled(own.database.url)
    for (const file of ['src/web/main.js', admin]) {
      const { code, said } = await run(file, { DATABASE_URL }, ...(file === admin ? ['environment', 'list'] : []))
      expect(code, file).to.equal(1)
      expect(said, file).to.match(
        /what answers at 127\.0\.0\.1:\d+ is a PgBouncer \(.*\): set DATABASE_DIRECT_URL to the address of the PostgreSQL itself/,
      )
    }
  })

  it('lets the admin command read and write with the variables of the other processes', async () => {
    const urls = { DATABASE_URL: pooled(own.database.url), DATABASE_DIRECT_URL: own.database.url, QUEUE_PREFIX: own.queues.prefix }
    const created = await run(admin, urls, 'key', 'create', '--environment', 'own', '--name', 'pooled', '--json')
    expect(created.code, created.said).to.equal(0)
    const listed = await run(admin, urls, 'key', 'list', '--environment', 'own', '--json')
    expect((JSON.parse(listed.said) as { name: string }[]).map(({ name }) => name)).to.have.members(['test', 'pooled'])
  })

  it('counts reports, answers checks and makes changes over fewer connections than there are processes', async () => {
    load = new Load(own, { customers: 6, name: 'pooled' })
    await load.begin()
    for (let more = 0; more < 5; more++) await load.goesOn()
    await load.end()
    await load.expectAllTrue()
  })

  it('ends the statement that is given up, and no other', async () => {
    const life = new Life('pooled', silentLogger())
    try {
      const { pool } = openPostgres(life, pooled(own.database.url), { poolSize: 4, isPooler: true })
      const others = Promise.all([1, 2].map(() => pool.query('SELECT pg_sleep(3)')))
      const giveUp = new AbortController()
      const given = withinSignal(giveUp, () => pool.query('SELECT pg_sleep(60)')).then(
        () => 'answered',
        (error: { code?: string }) => error.code ?? 'given up',
      )
      const sleeping = async () => {
        const { rows } = await pool.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)' AND state = 'active'`,
        )
        return rows[0]!.count
      }
      await eventually('it to run', async () => (await sleeping()) === 1)
      giveUp.abort()
      expect(await given).to.be.oneOf(['57014', 'given up'])
      await eventually('it to be over in the database', async () => (await sleeping()) === 0, 2_500)
      await others
    } finally {
      await life.stop()
    }
  })
})
