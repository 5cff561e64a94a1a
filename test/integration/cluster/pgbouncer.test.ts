import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Children } from '../../../src/local/processes/children.js'
import { Ports } from '../../../src/local/processes/ports.js'
import { bringProgram } from '../../../src/local/programs/debian-package.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { openPostgres } from '../../../src/platform/postgres.js'
import { Life } from '../../../src/platform/process.js'
import { withinSignal } from '../../../src/platform/within-signal.js'
import { eventually } from '../../support/eventually.js'
import { OwnProcesses } from '../../support/own-processes.js'
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
  afterEach(() => load?.stop())
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
