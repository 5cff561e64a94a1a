import { expect } from 'chai'
import { refusal, Scratch } from './fixture.js'

describe('migrate', function () {
  this.timeout(20_000)
  let scratch: Scratch

  beforeEach(async () => {
    scratch = await Scratch.open()
  })
  afterEach(() => scratch.close())

  describe('applies', () => {
    it('every migration in order to a database that it creates, and nothing the second time', async () => {
      await scratch.write('2_b', 'insert into a values (2)')
      await scratch.write('1_a', 'create table a (n int); insert into a values (1)')
      expect(await scratch.run()).to.deep.equal(['1_a', '2_b'])
      expect(await scratch.query('select n from a order by n')).to.deep.equal([{ n: 1 }, { n: 2 }])
      expect(await scratch.run()).to.deep.equal([])
      expect(await scratch.query('select count(*)::int as rows from _prisma_migrations')).to.deep.equal([{ rows: 2 }])
    })

    it('only what is new', async () => {
      await scratch.write('1_a', 'create table a (n int)')
      await scratch.run()
      await scratch.write('2_b', 'create table b (n int)')
      expect(await scratch.run()).to.deep.equal(['2_b'])
    })

    it('each migration once when several hosts run at the same time', async () => {
      await scratch.write('1_a', 'create table a (n int); select pg_sleep(0.2)')
      await scratch.write('2_b', 'insert into a values (1)')
      const answers = await Promise.all(Array.from({ length: 5 }, () => scratch.run()))
      expect(answers.flat().sort()).to.deep.equal(['1_a', '2_b'])
      expect(await scratch.query('select n from a')).to.deep.equal([{ n: 1 }])
      expect(scratch.lines.map(({ message }) => message)).to.include('waiting for another host that is migrating')
    })

    it('a migration marked "no transaction" statement by statement', async () => {
      await scratch.write('1_a', 'create table a (n int)')
      await scratch.write(
        '2_b',
        '-- no transaction\ncreate index concurrently a_n on a (n);\ncreate index concurrently a_n2 on a (n, (n + 1));',
      )
      expect(await scratch.run()).to.deep.equal(['1_a', '2_b'])
      expect(await scratch.query(`select count(*)::int as n from pg_indexes where tablename = 'a'`)).to.deep.equal([{ n: 2 }])
    })

    it('function bodies and semicolons in literals', async () => {
      await scratch.write('1_a', `create function f() returns text language plpgsql as $$ begin return 'x;y'; end; $$;`)
      expect(await scratch.run()).to.deep.equal(['1_a'])
      expect(await scratch.query('select f()')).to.deep.equal([{ f: 'x;y' }])
    })

    it('long migrations although the role limits its statements', async () => {
      const role = await scratch.makeRole()
      await scratch.makeDatabase(role)
      await scratch.admin.query(`alter role ${role} set statement_timeout = 50`)
      await scratch.write('1_a', 'select pg_sleep(0.2)')
      expect(await scratch.run({ databaseUrl: scratch.url({ username: role, password: 'correct-horse' }) })).to.deep.equal(['1_a'])
    })
  })

  describe('a migration that fails', () => {
    const failing = 'create table a (n int);\nselect 1 / 0;'

    it('leaves nothing behind, says where, and is recorded', async () => {
      await scratch.write('1_a', failing)
      expect(await refusal(scratch.run())).to.match(
        /^migration 1_a failed \(division by zero\): correct it, run `npx prisma migrate resolve --rolled-back 1_a`/,
      )
      expect(await scratch.query(`select to_regclass('a') as a`)).to.deep.equal([{ a: null }])
      expect(
        await scratch.query('select migration_name, finished_at, rolled_back_at, applied_steps_count, logs from _prisma_migrations'),
      ).to.deep.equal([
        {
          migration_name: '1_a',
          finished_at: null,
          rolled_back_at: null,
          applied_steps_count: 0,
          logs: 'division by zero\nSQLSTATE 22012',
        },
      ])
    })

    it('names the line of a mistake', async () => {
      await scratch.write('1_a', `select 1; -- é\n\nselect 'ü',\n  nothing;`)
      expect(await refusal(scratch.run())).to.include('failed (column "nothing" does not exist, line 4)')
      await scratch.query('drop table _prisma_migrations')
      await scratch.write('1_a', '-- no transaction\nselect 1;\n\nselect\n  nothing;')
      expect(await refusal(scratch.run())).to.include('failed (column "nothing" does not exist, line 5)')
    })

    it('blocks the next run, which says what to do, until it is resolved', async () => {
      await scratch.write('1_a', failing)
      await refusal(scratch.run())
      await scratch.write('1_a', 'create table a (n int)')
      expect(await refusal(scratch.run())).to.match(
        /^migration 1_a failed on 20\d\d-\S+Z \(division by zero\): correct it, run `npx prisma migrate resolve --rolled-back 1_a`/,
      )
      await scratch.query('update _prisma_migrations set rolled_back_at = now()')
      expect(await scratch.run()).to.deep.equal(['1_a'])
    })

    it('keeps the statements before it when it is marked "no transaction"', async () => {
      await scratch.write('1_a', `-- no transaction\n${failing}`)
      await refusal(scratch.run())
      expect(await scratch.query('select count(*)::int as n from a')).to.deep.equal([{ n: 0 }])
      expect(await refusal(scratch.run())).to.include('migration 1_a failed on')
    })

    it('is not recorded when it was only interrupted: the next run begins again', async () => {
      await scratch.write('1_a', 'create table a (n int); select pg_sleep(30)')
      const stopped = refusal(scratch.run())
      for (;;) {
        const { rows } = await scratch.admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and query like '%pg_sleep(30)%'`,
          [scratch.database],
        )
        if (rows.length > 0) break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      expect(await stopped).to.match(/^migration 1_a was interrupted \(.+\) and undone: release again$/)
      await scratch.write('1_a', 'create table a (n int)')
      expect(await scratch.run()).to.deep.equal(['1_a'])
    })

    it('waits for a table that others use, briefly and again: nobody waits long behind it', async function () {
      this.timeout(30_000)
      await scratch.write('1_a', 'create table a (n int)')
      await scratch.run()
      await scratch.writeFunction(
        'b.sql',
        'create or replace function b() returns trigger language plpgsql as $$ begin return new; end $$;',
      )
      await scratch.write('2_b', 'alter table a add column m int')
      await scratch.write('3_c', '-- no transaction\nalter table a add column k int')
      const dump = await scratch.withClient(async (client) => {
        await client.query('begin')
        await client.query('select * from a')
        const released = scratch.run()
        let waited = 0
        await scratch.withClient(async (reader) => {
          for (const end = performance.now() + 5_000; performance.now() < end; ) {
            const startedAt = performance.now()
            await reader.query('select * from a')
            waited = Math.max(waited, performance.now() - startedAt)
          }
        })
        expect(waited).to.be.below(2_000)
        const [line] = scratch.lines.filter(({ level }) => level === 'warn')
        expect(line).to.include({ what: 'migration 2_b' })
        expect(line!.holders).to.match(/pid \d+, for \d+ s/)
        await client.query('commit')
        return released
      })
      expect(dump).to.deep.equal(['2_b', '3_c'])
    })

    it('gives up on a table that others use for too long, says who, and begins again next time', async function () {
      this.timeout(30_000)
      await scratch.write('1_a', 'create table a (n int)')
      await scratch.run()
      await scratch.write('2_b', 'alter table a add column m int')
      await scratch.withClient(async (client) => {
        await client.query("set application_name = 'a dump'")
        await client.query('begin')
        await client.query('select * from a')
        expect(await refusal(scratch.run({ lockWaitSeconds: 1 }))).to.match(
          /^migration 2_b needs a lock .* for 1 s \(a dump, pid \d+, for \d+ s\)/,
        )
      })
      expect(await scratch.run()).to.deep.equal(['2_b'])
    })

    it('leaves the earlier ones applied', async () => {
      await scratch.write('1_a', 'create table a (n int)')
      await scratch.write('2_b', 'create table a (n int)')
      await refusal(scratch.run())
      expect(await scratch.query('select migration_name from _prisma_migrations where finished_at is not null')).to.deep.equal([
        { migration_name: '1_a' },
      ])
    })
  })

  describe('differences between code and database', () => {
    beforeEach(() => scratch.write('1_a', 'create table a (n int)'))

    it('warns of a migration that was edited after it was applied', async () => {
      await scratch.write('2_b', 'create table b (n int)')
      await scratch.run()
      await scratch.write('2_b', 'create table b (n bigint)')
      expect(await scratch.run()).to.deep.equal([])
      expect(scratch.lines.at(-1)).to.deep.equal({
        message: 'migration was edited after it was applied: put the change into a new one',
        level: 'warn',
        migration: '2_b',
      })
    })

    it('lets older code work with a newer database', async () => {
      await scratch.write('2_b', 'create table b (n int)')
      await scratch.run()
      await scratch.forget('2_b')
      expect(await scratch.run()).to.deep.equal([])
      expect(scratch.lines.at(-1)?.migrations).to.deep.equal(['2_b'])
      await scratch.start()
    })

    it('refuses older code beyond a breaking migration', async () => {
      await scratch.write('2_b', '-- breaking: column n moved\nalter table a drop column n')
      await scratch.run()
      await scratch.start()
      await scratch.forget('2_b')
      const sentence =
        'the database is newer than this code and beyond the breaking migration 2_b (column n moved): deploy the version that has it'
      expect(await refusal(scratch.run())).to.equal(sentence)
      expect(await refusal(scratch.start())).to.equal(sentence)
    })

    it('records the mark also when another tool applied the migration', async () => {
      await scratch.write('2_b', '-- breaking: column n moved\nalter table a drop column n')
      await scratch.run()
      await scratch.query('drop table schema_guard')
      expect(await scratch.run()).to.deep.equal([])
      expect(await scratch.query('select * from schema_guard')).to.deep.equal([
        { migration_name: '2_b', breaking_reason: 'column n moved' },
      ])
    })

    it('does not record the mark of a breaking migration that failed', async () => {
      await scratch.write('2_b', '-- breaking: column n moved\nalter table a drop column nothing')
      await refusal(scratch.run())
      expect(await scratch.query('select * from schema_guard')).to.deep.equal([])
    })

    it('refuses a database that lacks what the code needs', async () => {
      const asked = () => refusal(scratch.start())
      const sentence = (what: string) =>
        `the database lacks ${what}: run \`npm run release\` (node dist/src/migrate.js) with the same DATABASE_URL, then start again`
      await scratch.makeDatabase()
      expect(await asked()).to.equal(sentence('all migrations'))
      await scratch.run()
      await scratch.write('2_b', 'select 1 / 0')
      expect(await asked()).to.equal(sentence('2_b'))
      await refusal(scratch.run())
      expect(await asked()).to.equal(sentence('2_b'))
    })

    it('refuses a database that another initial migration made, and keeps it', async () => {
      await scratch.run()
      await scratch.query('insert into a values (1)')
      const sentence =
        'the database was made by another initial migration (1_a) than this code has, and before release 1.0 there is no way from one to the other: point DATABASE_URL to an empty database or, if it is the own one of `npm start`, remove the folder .data, in which it is'
      // given: it was edited, or has another name
      for (const [name, script] of [
        ['1_a', 'create table a (n int, m int)'],
        ['3_c', 'create table a (n int)'],
      ] as const) {
        await scratch.forget('1_a')
        await scratch.write(name, script)
        expect(await refusal(scratch.run())).to.equal(sentence)
        expect(await refusal(scratch.start())).to.equal(sentence)
        await scratch.forget(name)
        await scratch.write('1_a', 'create table a (n int)')
      }
      expect(await scratch.query('select * from a')).to.deep.equal([{ n: 1 }])
      expect(await scratch.run()).to.deep.equal([])
    })

    it('refuses a database that already holds tables of somebody else', async () => {
      await scratch.makeDatabase()
      await scratch.query('create table theirs (n int)')
      expect(await refusal(scratch.run())).to.equal(
        'the database already has tables that no migration made (theirs): point DATABASE_URL to an empty database',
      )
      expect(await scratch.query(`select to_regclass('_prisma_migrations') as ledger`)).to.deep.equal([{ ledger: null }])
    })
  })
})
