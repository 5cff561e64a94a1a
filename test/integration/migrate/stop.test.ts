import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.js'
import { answering, refusal, Scratch } from './fixture.js'

const ledger = `create table _prisma_migrations (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
  logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`

describe('a release that is stopped', function () {
  this.timeout(60_000)
  let scratch: Scratch
  let stop: AbortController

  beforeEach(async () => {
    scratch = await Scratch.open()
    await scratch.makeDatabase()
    stop = new AbortController()
  })
  afterEach(() => scratch.close())

  const begin = () => refusal(scratch.release({ signal: stop.signal, lockWaitSeconds: 60 }))
  const stopNow = () => stop.abort(new Error('stopped by SIGTERM'))
  const stopped = 'stopped by SIGTERM before the database was up to date: release again'
  const running = (query: string) => async () => {
    const { rows } = await scratch.admin.query(
      `select from pg_stat_activity where datname = $1 and state = 'active' and position($2 in query) > 0`,
      [scratch.database, query],
    )
    return rows.length === 1
  }

  it('undoes the migration under way at once, and the next run begins it again', async () => {
    await scratch.write('1_a', 'create table a (n int)')
    await scratch.write('2_b', 'create table b (n int); select pg_sleep(60)')
    const release = begin()
    await eventually('the migration to run', running('pg_sleep(60)'))
    const startedAt = performance.now()
    stopNow()
    expect(await release).to.equal('migration 2_b was interrupted (canceling statement due to user request) and undone: release again')
    expect(performance.now() - startedAt).to.be.below(3_000)
    expect(await scratch.query('select migration_name from _prisma_migrations')).to.deep.equal([{ migration_name: '1_a' }])
    await scratch.write('2_b', 'create table b (n int)')
    expect(await scratch.run()).to.deep.equal(['2_b'])
  })

  it('ends a migration that runs statement by statement, and begins no other', async () => {
    await scratch.write('1_a', '-- no transaction\nselect pg_sleep(0.7);\ncreate table a (n int);\nselect pg_sleep(0.2);')
    await scratch.write('2_b', 'create table b (n int)')
    const release = begin()
    await eventually('the migration to run', running('pg_sleep(0.7)'))
    stopNow()
    expect(await release).to.equal(stopped)
    expect(await scratch.query('select migration_name from _prisma_migrations where finished_at is not null')).to.deep.equal([
      { migration_name: '1_a' },
    ])
    expect(await scratch.run()).to.deep.equal(['2_b'])
  })

  it('leaves the functions as they were', async () => {
    await scratch.write('1_a', 'create table a (n int)')
    await scratch.run()
    await scratch.writeFunction('two.sql', `do $$ begin perform pg_sleep(60); end $$;\n${answering('two', 2)}`)
    const release = begin()
    await eventually('the functions to be made', running('pg_sleep(60)'))
    stopNow()
    expect(await release).to.match(/^the functions were interrupted \(.*\) and undone: release again$/)
    await scratch.writeFunction('two.sql', answering('two', 2))
    expect((await scratch.release()).made).to.deep.equal(['two'])
  })

  it('waits no more for another host, for a lock, or for a server', async () => {
    await scratch.write('1_a', 'create table a (n int)')
    await scratch.withClient(async (client) => {
      await client.query('select pg_advisory_lock(72707369)')
      const release = begin()
      await eventually('it to wait', running('pg_advisory_lock'))
      stopNow()
      expect(await release).to.equal(stopped)
    })
    await scratch.query(ledger)
    await scratch.withClient(async (client) => {
      await client.query('begin; lock table _prisma_migrations in exclusive mode')
      stop = new AbortController()
      const release = begin()
      await eventually('it to pause', () => scratch.lines.some(({ message }) => message.startsWith('waiting for a lock')))
      stopNow()
      expect(await release).to.match(/^(stopped by SIGTERM before .*|migration 1_a was interrupted \(.*\) and undone): release again$/)
    })
    stop = new AbortController()
    const release = refusal(scratch.release({ signal: stop.signal, databaseUrl: scratch.url({ port: '1' }), databaseWaitSeconds: 60 }))
    await eventually('it to wait', () => scratch.lines.some(({ message }) => message === 'waiting for the database'))
    stopNow()
    expect(await release).to.equal(stopped)
    expect(await scratch.run()).to.deep.equal(['1_a'])
  })

  it('ends with 1 after SIGTERM as a process, which then can be run again', async () => {
    await scratch.query(ledger)
    await scratch.withClient(async (client) => {
      await client.query('begin; lock table _prisma_migrations in exclusive mode')
      const stopped = run()
      await eventually('the migration to be under way', async () => stopped.lines.some(({ msg }) => msg.startsWith('waiting for a lock')))
      stopped.child.kill('SIGTERM')
      expect(await stopped.code).to.equal(1)
      expect(stopped.lines.find(({ msg }) => msg === 'stopping')).to.include({ signal: 'SIGTERM' })
      expect(stopped.lines.at(-1)).to.include({ level: 'fatal' })
      expect(stopped.lines.at(-1)!.msg).to.match(/release again$/)
      expect(await scratch.query(`select from pg_class where relname = 'customer'`)).to.deep.equal([])
    })
    const again = run()
    expect(await again.code, JSON.stringify(again.lines)).to.equal(0)
  })

  /** The release process itself, with the migrations of this project. */
  function run() {
    const file = fileURLToPath(new URL('../../../src/migrate.js', import.meta.url))
    const child = spawn(process.execPath, [file], { env: { PATH: process.env.PATH, DATABASE_URL: scratch.url() } })
    const lines: { msg: string; level: string }[] = []
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
    const code = new Promise((resolve) => child.once('close', resolve))
    return { child, lines, code }
  }
})
