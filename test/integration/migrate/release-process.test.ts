import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { schemaFolders } from '../../../src/platform/schema.js'
import { requiredVariable } from '../../support/database.js'
import { testSecretsKey } from '../../support/webhooks.js'
import { Scratch } from './fixture.js'

type Exit = { code: number; stdout: string; stderr: string }

/** Runs a file of this project to its end. */
const runFile = (path: string, env: Record<string, string>, ...args: string[]) =>
  new Promise<Exit>((resolve) => {
    const file = fileURLToPath(new URL(`../../../${path}`, import.meta.url))
    execFile(process.execPath, [file, ...args], { env: { PATH: process.env.PATH, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
const linesOf = ({ stdout }: Exit): Array<{ level: string; msg: string; [field: string]: unknown }> =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
const lastLine = (exit: Exit) => linesOf(exit).at(-1)!

describe('the release process', function () {
  this.timeout(20_000)
  let scratch: Scratch

  beforeEach(async () => {
    scratch = await Scratch.open()
  })
  afterEach(() => scratch.close())

  const release = (env: Record<string, string>, ...args: string[]) => runFile('src/migrate.js', env, ...args)

  it("applies this project's migrations twice in a row and says so in JSON", async () => {
    for (const isFirst of [true, false]) {
      const exit = await release({ DATABASE_URL: scratch.url() })
      expect(exit.code, exit.stdout).to.equal(0)
      const last = lastLine(exit)
      expect(last).to.include({ level: 'info', process: 'release', msg: 'the database is up to date', database: scratch.database })
      expect([Number(last.applied) > 0, Number(last.functions) > 0]).to.deep.equal([isFirst, isFirst])
    }
    await scratch.start(schemaFolders)
  })

  it('leaves a database alone that was made before there was one initial migration, and so does every process', async () => {
    await scratch.makeDatabase()
    await scratch.query(`
      create table _prisma_migrations (
        id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
        logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0);
      insert into _prisma_migrations (id, checksum, finished_at, migration_name, started_at)
      select gen_random_uuid(), repeat('0', 64), now(), name, now() + ord * interval '1 second'
      from unnest(array['20261128000000_initial', '20261128100100_customer_imports', '20261128180001_told_reports']) with ordinality as made (name, ord);
      create table customer (id int);
      insert into customer values (1)`)
    const env = { DATABASE_URL: scratch.url(), REDIS_URL: requiredVariable('TEST_REDIS_URL'), PORT: '0', SECRETS_KEY: testSecretsKey }
    for (const path of ['src/migrate.js', 'src/web/main.js', 'workers/event-aggregation.js']) {
      const exit = await runFile(path, env)
      expect(exit.code, path).to.equal(1)
      expect(linesOf(exit).find(({ level }) => level === 'fatal')?.msg, path).to.match(
        /^the database was made by another initial migration \(20261128000000_initial\) .* point DATABASE_URL to an empty database or, .* remove the folder \.data/,
      )
    }
    expect(await scratch.query('select * from customer')).to.deep.equal([{ id: 1 }])
    expect(
      await scratch.query(`select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`),
    ).to.deep.equal([{ relname: '_prisma_migrations' }, { relname: 'customer' }])
    expect(await scratch.query('select count(*)::int as n from _prisma_migrations')).to.deep.equal([{ n: 3 }])
  })

  it('ends with 1 and one sentence when it can not', async () => {
    const { code, stdout, stderr } = await release({
      DATABASE_URL: 'postgresql://ada:battery-staple@127.0.0.1:1/x',
      DATABASE_WAIT_SECONDS: '1',
    })
    expect(code).to.equal(1)
    expect(stderr).to.equal('')
    const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect(last).to.include({
      level: 'fatal',
      msg: 'no PostgreSQL answers at 127.0.0.1:1 (connect ECONNREFUSED 127.0.0.1:1): start it or correct DATABASE_URL',
    })
    expect(last).not.to.have.property('err')
    expect(stdout).not.to.include('battery-staple')
  })

  const configurations: Array<[title: string, env: Record<string, string>, args: string[], code: number, output: string]> = [
    [
      'takes a valid configuration',
      { DATABASE_URL: 'postgresql://127.0.0.1:1/x' },
      ['--check-config'],
      0,
      'release: configuration is valid\n',
    ],
    [
      'reports every problem at once',
      { DATABASE_WAIT_SECONDS: 'soon', LOG_LEVEL: 'loud' },
      [],
      1,
      'release: the configuration has 3 problem(s)\n  DATABASE_URL is not set (PostgreSQL 15 or newer; for example postgresql://user:password@host:5432/tollgate)\n',
    ],
    [
      'wants a PostgreSQL URL',
      { DATABASE_URL: 'mysql://ada:battery-staple@h/x' },
      [],
      1,
      'DATABASE_URL must begin with postgresql:// or postgres://',
    ],
    ['wants a database name', { DATABASE_URL: 'postgresql://h' }, [], 1, 'DATABASE_URL names no database'],
    ['refuses a schema of its own', { DATABASE_URL: 'postgresql://h/x?schema=other' }, [], 1, 'DATABASE_URL asks for schema=other'],
    [
      'refuses an argument that it does not know',
      { DATABASE_URL: 'postgresql://h/x' },
      ['--chek-config'],
      1,
      "Unknown option '--chek-config'",
    ],
  ]
  for (const [title, env, args, expectedCode, output] of configurations) {
    it(title, async () => {
      const { code, stdout, stderr } = await release(env, ...args)
      expect(code).to.equal(expectedCode)
      expect(expectedCode === 0 ? stdout : stderr).to.include(output)
      expect(stdout + stderr).not.to.include('battery-staple')
    })
  }
})
