import { join } from 'node:path'
import { expect } from 'chai'
import { answering, refusal, Scratch } from './fixture.js'

describe('migrate: functions of the database', function () {
  this.timeout(20_000)
  let scratch: Scratch

  beforeEach(async () => {
    scratch = await Scratch.open()
    await scratch.write('1_a', 'create table a (n int)')
  })
  afterEach(() => scratch.close())

  const functions = async () =>
    (
      await scratch.query(`select proname || '(' || pg_get_function_arguments(oid) || ')' as name from pg_proc
        where pronamespace = 'public'::regnamespace order by 1`)
    ).map(({ name }) => name)
  const ledger = () => scratch.query('select name, identity from schema_function order by name')

  it('are found at any depth and made after the migrations', async () => {
    await scratch.writeFunction(
      'deep/er/row-count.sql',
      'create or replace function row_count() returns bigint language sql as $$ select count(*) from a $$;',
    )
    expect(await scratch.release()).to.deep.equal({ applied: ['1_a'], made: ['row_count', 'one'], dropped: [] })
    expect(await scratch.query('select one(), row_count()::int')).to.deep.equal([{ one: 1, row_count: 0 }])
    expect(scratch.lines.at(-1)).to.deep.equal({ message: 'functions applied', made: ['row_count', 'one'], dropped: [] })
  })

  it('are made anew when their text has changed, each by itself, and not touched otherwise', async () => {
    await scratch.writeFunction('two.sql', answering('two', 2))
    await scratch.release()
    await scratch.writeFunction('one.sql', answering('one', 11))
    expect(await scratch.release()).to.deep.equal({ applied: [], made: ['one'], dropped: [] })
    expect(await scratch.query('select one(), two()')).to.deep.equal([{ one: 11, two: 2 }])
    // then: neither the lock, which somebody else has, nor a right to write is asked for
    await scratch.admin.query(`alter database ${scratch.database} set default_transaction_read_only = on`)
    await scratch.withClient(async (client) => {
      await client.query('select pg_advisory_lock(72707369)')
      expect(await scratch.release({ lockWaitSeconds: 0.1 })).to.deep.equal({ applied: [], made: [], dropped: [] })
    })
  })

  it('are the same with the line ends of Windows', async () => {
    await scratch.writeFunction('one.sql', `-- the first\n${answering('one', 1)}`)
    await scratch.release()
    await scratch.writeFunction('one.sql', `-- the first\r\n${answering('one', 1).replaceAll('\n', '\r\n')}`)
    expect((await scratch.release()).made).to.deep.equal([])
    await scratch.start()
  })

  it('are dropped when their file is gone', async () => {
    await scratch.writeFunction('two.sql', answering('two', 2))
    await scratch.release()
    await scratch.forgetFunction('two.sql')
    expect(await scratch.release()).to.deep.equal({ applied: [], made: [], dropped: ['two'] })
    expect(await functions()).to.deep.equal(['one()'])
    expect(await ledger()).to.deep.equal([{ name: 'one', identity: 'one()' }])
  })

  it('take the place of what they were when parameters or results change', async () => {
    await scratch.release()
    for (const [parameters, returned] of [
      ['a int, b text', 'int'],
      ['x int, b text', 'int'],
      ['x int, b text', 'bigint'],
    ] as const) {
      await scratch.writeFunction(
        'one.sql',
        `create or replace function one(${parameters}) returns ${returned} language sql as $$ select 1 $$;`,
      )
      expect((await scratch.release()).made).to.deep.equal(['one'])
      expect(await functions()).to.deep.equal([`one(${parameters.replace('int', 'integer')})`])
    }
    expect(await ledger()).to.deep.equal([{ name: 'one', identity: 'one(integer,text)' }])
  })

  it('come and go with their triggers', async () => {
    const keeping = (events: string, value: number) => `
      create or replace function keep() returns trigger language plpgsql as $$ begin new.n := ${value}; return new; end $$;
      create or replace trigger keep before ${events} on a for each row execute function keep();`
    const inserted = async () => (await scratch.query('insert into a values (0) returning n'))[0]?.n
    await scratch.writeFunction('keep.sql', keeping('insert', 1))
    await scratch.release()
    expect(await inserted()).to.equal(1)
    await scratch.writeFunction('keep.sql', keeping('insert or update', 2))
    await scratch.release()
    expect(await inserted()).to.equal(2)
    await scratch.writeFunction('keep.sql', keeping('update', 3))
    await scratch.release()
    expect(await inserted()).to.equal(0)
    await scratch.forgetFunction('keep.sql')
    await scratch.release()
    expect(await scratch.query('select count(*)::int as triggers from pg_trigger')).to.deep.equal([{ triggers: 0 }])
    expect(await functions()).to.deep.equal(['one()'])
  })

  it('may call each other in any order', async () => {
    await scratch.writeFunction('a.sql', 'create or replace function a() returns int language sql as $$ select one() + 1 $$;')
    await scratch.release()
    expect(await scratch.query('select a()')).to.deep.equal([{ a: 2 }])
  })

  it('are made once when several hosts run at the same time', async () => {
    await scratch.release()
    await scratch.writeFunction('one.sql', answering('one', 11))
    const answers = await Promise.all(Array.from({ length: 5 }, () => scratch.release()))
    expect(answers.flatMap(({ made }) => made)).to.deep.equal(['one'])
  })

  it('are not changed at all when one of them is wrong, and file and line are named', async () => {
    await scratch.writeFunction('two.sql', answering('two', 2))
    await scratch.release()
    const before = await scratch.query('select * from schema_function order by name')
    await scratch.writeFunction('one.sql', answering('one', 11))
    await scratch.forgetFunction('two.sql')
    const file = join(scratch.folders.functions, 'wrong.sql')
    const body = (line: string) =>
      `-- a comment\ncreate or replace function wrong() returns int language plpgsql as $$\nbegin\n  ${line}\nend $$;\n`
    for (const [script, reason] of [
      ['create or replace function wrong() returns int\nlangage sql as $$ select 1 $$;', 'syntax error at or near "langage", line 2'],
      [body('retrun 1;'), 'syntax error at or near "retrun", line 4'],
      ['create or replace function wrong()\n  returns int language sql as $$\n  select m from a $$;', 'column "m" does not exist, line 3'],
    ] as const) {
      await scratch.writeFunction('wrong.sql', script)
      expect(await refusal(scratch.release())).to.equal(`${file} failed (${reason}): correct it, then release again`)
    }
    await scratch.writeFunction('wrong.sql', answering('wrogn', 1))
    expect(await refusal(scratch.release())).to.equal(
      `${file} must make one function wrong, and there are 0: correct it, then release again`,
    )
    expect(await scratch.query('select * from schema_function order by name')).to.deep.equal(before)
    expect(await scratch.query('select one(), two()')).to.deep.equal([{ one: 1, two: 2 }])
    expect(await functions()).to.deep.equal(['one()', 'two()'])
    // then: what was wrong is not recorded as a failure, so that the next release just goes on
    await scratch.writeFunction('wrong.sql', body('return 1;'))
    expect(await scratch.release()).to.deep.equal({ applied: [], made: ['one', 'wrong'], dropped: ['two'] })
  })

  it('are never dropped with what depends on them', async () => {
    await scratch.writeFunction('two.sql', 'create or replace function two(n int) returns int immutable language sql as $$ select n $$;')
    await scratch.release()
    await scratch.query('create index a_two on a (two(n))')
    await scratch.forgetFunction('two.sql')
    expect(await refusal(scratch.release())).to.equal(
      "the function two can't be dropped (index a_two depends on function two(integer)): write a migration that does without it",
    )
  })

  it('are made again when somebody has dropped them', async () => {
    await scratch.release()
    await scratch.query('drop function one()')
    expect((await scratch.release()).made).to.deep.equal(['one'])
    await scratch.start()
  })

  it('must be those of the code when a process starts', async () => {
    const asked = () => refusal(scratch.start())
    const sentence = (names: string) =>
      `the database lacks functions of this code or has others of that name (${names}): run \`npm run release\` (node dist/src/migrate.js) with the same DATABASE_URL, then start again`
    await scratch.release()
    await scratch.start()
    await scratch.writeFunction('two.sql', answering('two', 2))
    expect(await asked()).to.equal(sentence('two'))
    await scratch.writeFunction('one.sql', answering('one', 11))
    expect(await asked()).to.equal(sentence('one, two'))
    await scratch.release()
    await scratch.start()
    await scratch.query('drop function two()')
    expect(await asked()).to.equal(sentence('two'))
    // what only the database has is not in the way
    await scratch.release()
    await scratch.forgetFunction('two.sql')
    await scratch.start()
  })

  it('must be deployed: without their folder nothing is dropped', async () => {
    await scratch.release()
    await scratch.forgetFunction('one.sql')
    const sentence = `there are no functions of the database in ${scratch.folders.functions}: deploy the src folder together with dist`
    expect(await refusal(scratch.release())).to.equal(sentence)
    expect(await refusal(scratch.start())).to.equal(sentence)
    expect(await functions()).to.deep.equal(['one()'])
  })
})
