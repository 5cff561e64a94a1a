import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import pg from 'pg'
import { migrate } from '../../src/migrate.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const adminUrl = process.env.TEST_DATABASE_URL ?? ''

const diffArguments = ['migrate', 'diff', '--from-migrations', 'prisma/migrations', '--to-schema', 'prisma/schema.prisma']

const schema = (fields = '') => `
  generator client {
    provider = "prisma-client"
    output   = "../.generated/prisma"
  }
  datasource db {
    provider = "postgresql"
  }
  enum Kind {
    TRIAL
    ACTIVE
  }
  model Customer {
    id     String  @id @db.Uuid
    kind   Kind    @default(TRIAL)
    usage  Decimal @db.Decimal
    events Event[]
    ${fields}
    @@map("customer")
  }
  model Event {
    customerId String   @map("customer_id") @db.Uuid
    at         DateTime @db.Timestamptz
    customer   Customer @relation(fields: [customerId], references: [id])
    @@id([customerId, at])
    @@map("event")
  }
`

// Everything that Prisma's schema has no words for and that its introspection must read past.
const handWritten = `
  create table event_2026 partition of event for values from ('2026-01-01') to ('2027-01-01');
  create table event_rest partition of event default;
  alter table customer add constraint usage_not_negative check (usage >= 0);
  create unique index customer_trial on customer (usage) where kind = 'TRIAL';
  create function touch() returns trigger language plpgsql as $$ begin new.usage := new.usage; return new; end; $$;
  create trigger touch before update on customer for each row execute function touch();
`

describe('the Prisma CLI on prisma/schema-engine.mjs', function () {
  this.timeout(60_000)
  const database = `prisma_cli_${process.pid}`
  const databaseUrl = Object.assign(new URL(adminUrl || 'postgresql://x'), { pathname: database }).href
  let admin: pg.Client
  let project: string
  let directory: string

  /** Runs it in a project of its own; offline, since nothing but the engine under test is given to it. */
  const prisma = (args: string[], env: Record<string, string> = { DATABASE_URL: databaseUrl }) =>
    new Promise<{ code: number; output: string }>((resolve) => {
      const options = { cwd: project, env: { PATH: process.env.PATH, HOME: project, CHECKPOINT_DISABLE: '1', ...env } }
      execFile(process.execPath, [join(root, 'node_modules/prisma-cli/build/index.js'), ...args], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
      )
    })
  const writeSchema = (fields?: string) => writeFile(join(project, 'prisma/schema.prisma'), schema(fields))
  const release = () =>
    migrate({ databaseUrl, folders: { migrations: directory, functions: join(project, 'src') }, log: () => undefined }).then(
      ({ applied }) => applied,
    )
  const migrationNames = async () => (await readdir(directory)).filter((name) => name !== 'migration_lock.toml').sort()
  const scriptOf = (name: string) => join(directory, name, 'migration.sql')
  const diffWith = (env: Record<string, string>) => prisma([...diffArguments, '--exit-code'], env)
  const diff = (...args: string[]) => prisma([...diffArguments, ...args])

  before(async () => {
    if (!adminUrl) throw new Error('TEST_DATABASE_URL is not set: run the tests with npm test')
    admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    project = await mkdtemp(join(tmpdir(), 'prisma-cli-'))
    directory = join(project, 'prisma/migrations')
    await mkdir(join(project, 'prisma'))
    await mkdir(join(project, '.config'))
    await mkdir(join(project, 'src'))
    await writeFile(
      join(project, 'src/count-customers.sql'),
      'create or replace function count_customers() returns bigint language sql as $$ select count(*) from customer $$;',
    )
    await cp(join(root, '.config/prisma.ts'), join(project, '.config/prisma.ts'))
    await cp(join(root, 'prisma/schema-engine.mjs'), join(project, 'prisma/schema-engine.mjs'))
    await cp(join(root, 'package.json'), join(project, 'package.json'))
    await symlink(join(root, 'node_modules'), join(project, 'node_modules'))
    await writeSchema()
  })
  after(async () => {
    await admin.query(`drop database if exists ${database} with (force)`)
    await admin.end()
    await rm(project, { recursive: true })
  })

  it('validates and generates without a database', async () => {
    const validated = await prisma(['validate'], {})
    expect(validated.code, validated.output).to.equal(0)
    const generated = await prisma(['generate'], {})
    expect(generated.code, generated.output).to.equal(0)
    expect(await readdir(join(project, '.generated/prisma'))).to.include('client.ts')
  })

  it('says in a sentence that a command needs a database', async () => {
    await mkdir(join(directory), { recursive: true })
    const { code, output } = await prisma(
      ['migrate', 'diff', '--from-migrations', 'prisma/migrations', '--to-schema', 'prisma/schema.prisma'],
      {},
    )
    expect(code).to.equal(1)
    expect(output).to.include('DATABASE_URL is not set: this command needs a PostgreSQL database')
  })

  it('says in a sentence that the server does not answer, without the password', async () => {
    const { code, output } = await prisma(['migrate', 'status'], { DATABASE_URL: 'postgresql://ada:battery-staple@127.0.0.1:1/x' })
    expect(code).to.equal(1)
    expect(output).to.include("P1001: Can't reach the database server: connect ECONNREFUSED 127.0.0.1:1").and.not.include('battery-staple')
  })

  it('makes the database and a migration that the runner finds applied', async () => {
    const { code, output } = await prisma(['migrate', 'dev', '--name', 'first'])
    expect(code, output).to.equal(0)
    const [name = ''] = await migrationNames()
    expect(name).to.match(/^\d{14}_first$/)
    expect(await readFile(scriptOf(name), 'utf8')).to.include('CREATE TABLE "customer"')
    expect(await release()).to.deep.equal([])
  })

  it('agrees with the runner about a migration that was edited by hand', async () => {
    await admin.query(`drop database ${database} with (force)`)
    const [name = ''] = await migrationNames()
    const script = await readFile(scriptOf(name), 'utf8')
    await writeFile(scriptOf(name), script.replace(/(CREATE TABLE "event" \([^;]*\))/, '$1 PARTITION BY RANGE (at)') + handWritten)
    expect(await release()).to.deep.equal([name])
    const status = await prisma(['migrate', 'status'])
    expect(status.output).to.include('Database schema is up to date!')
    // The schema guard is the runner's own table: it must not look like drift.
    const dev = await prisma(['migrate', 'dev'])
    expect(dev.output).to.include('Already in sync, no schema change or pending migration was found.')
    const difference = await diff('--exit-code')
    expect(difference.code, difference.output).to.equal(0)
  })

  it('writes the statements of a change as a script', async () => {
    await writeSchema(`name String @default("a;b")`)
    const { code, output } = await diff('--script')
    expect(code, output).to.equal(0)
    expect(output).to.include(`ALTER TABLE "customer" ADD COLUMN     "name" TEXT NOT NULL DEFAULT 'a;b';`)
  })

  it('replays migrations in a database of the user, but not in the main one', async () => {
    const given = `${database}_shadow`
    await admin.query(`create database ${given}`)
    const shadowUrl = Object.assign(new URL(databaseUrl), { pathname: given }).href
    for (let run = 1; run <= 2; run++) {
      const { code, output } = await diffWith({ DATABASE_URL: databaseUrl, SHADOW_DATABASE_URL: shadowUrl })
      expect(code, output).to.equal(2)
    }
    const refused = await diffWith({ DATABASE_URL: databaseUrl, SHADOW_DATABASE_URL: databaseUrl })
    expect(refused.output).to.include('SHADOW_DATABASE_URL is the main database')
    await admin.query(`drop database ${given} with (force)`)
    expect(await release()).to.deep.equal([])
  })

  it('deploys what the runner has not applied, and warns of data loss when it makes a migration', async () => {
    await writeSchema()
    const dev = await prisma(['migrate', 'dev', '--name', 'second', '--create-only'])
    expect(dev.code, dev.output).to.equal(0)
    const name = (await migrationNames()).at(-1) ?? ''
    await writeFile(scriptOf(name), 'create view trials as select * from customer;')
    const deployed = await prisma(['migrate', 'deploy'])
    expect(deployed.code, deployed.output).to.equal(0)
    expect(await release()).to.deep.equal([])
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(`insert into customer (id, usage) values (gen_random_uuid(), 1)`)
    await client.end()
    await writeSchema('name String')
    const refused = await prisma(['migrate', 'dev', '--name', 'third'])
    expect(refused.code).to.equal(1)
    expect(refused.output).to.include(
      'Added the required column `name` to the `customer` table without a default value. There are 1 rows in this table',
    )
  })

  it('resolves what failed in the runner, which then applies it', async () => {
    const name = '20990101000000_failing'
    await mkdir(join(directory, name))
    await writeFile(scriptOf(name), 'select 1 / 0;')
    const error = await release().catch((reason: Error) => reason)
    expect(error).to.be.instanceOf(Error)
    const deployed = await prisma(['migrate', 'deploy'])
    expect(deployed.code).to.equal(1)
    expect(deployed.output).to.include('P3009').and.include(name)
    const resolved = await prisma(['migrate', 'resolve', '--rolled-back', name])
    expect(resolved.code, resolved.output).to.equal(0)
    await writeFile(scriptOf(name), 'select 1;')
    expect(await release()).to.deep.equal([name])
  })

  it('leaves no shadow database behind', async () => {
    const { rows } = await admin.query(`select datname from pg_database where datname like 'prisma_migrate_shadow_db_%'`)
    expect(rows).to.deep.equal([])
  })
})
