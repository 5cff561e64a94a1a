import { expect } from 'chai'
import { lineAt, splitStatements } from '../../../src/platform/sql-script.js'

describe('splitStatements', () => {
  const cases: Array<[title: string, script: string, statements: string[]]> = [
    ['ends a statement at a semicolon and at the end of the script', 'select 1; select 2', ['select 1', ' select 2']],
    ['leaves out what is only blank or comment', ';; -- nothing;\n /* nor ; this */ ;', []],
    ['keeps the comments before a statement', '-- why; how\nselect 1;', ['-- why; how\nselect 1']],
    ['knows literals', `select 'a;b', 'it''s;', '';select 2`, [`select 'a;b', 'it''s;', ''`, 'select 2']],
    ['takes a backslash literally in a plain literal', `select 'a\\';select 2`, [`select 'a\\'`, 'select 2']],
    ['knows escapes in E strings', `select E'a\\';b''c;';select 2`, [`select E'a\\';b''c;'`, 'select 2']],
    ['knows quoted names', 'select 1 as "a;""b;";select 2', ['select 1 as "a;""b;"', 'select 2']],
    ['knows dollar quotes', 'do $$ begin; end $$;select 2', ['do $$ begin; end $$', 'select 2']],
    ['knows dollar quotes within dollar quotes', 'do $a$ x; $b$ y; $$ $b$; $a$;select 2', ['do $a$ x; $b$ y; $$ $b$; $a$', 'select 2']],
    ['does not take a name with dollars for a quote', 'select a$b$;select c$b$', ['select a$b$', 'select c$b$']],
    ['knows nested comments', '/* a /* b; */ c; */ select 1;select 2', ['/* a /* b; */ c; */ select 1', 'select 2']],
    ['takes what is never closed to the end', `select 1; select 'a;`, ['select 1', ` select 'a;`]],
    ['does not look for code in an unclosed comment', 'select 1; /* a; b', ['select 1']],
  ]
  for (const [title, script, statements] of cases) {
    it(title, () => expect(splitStatements(script).map(({ text }) => text)).to.deep.equal(statements))
  }

  it('says where each statement starts', () => {
    const script = 'select 1;\n\nselect $$;$$ ; select 3'
    for (const { text, start } of splitStatements(script)) expect(script.slice(start, start + text.length)).to.equal(text)
    expect(splitStatements(script).map(({ start }) => start)).to.deep.equal([0, 9, 25])
  })

  it('reads a megabyte in a fraction of a second', function () {
    this.timeout(2_000)
    const script = `insert into t values ('${'x;'.repeat(500_000)}');`.concat('select 1; -- one\n'.repeat(20_000))
    expect(splitStatements(script)).to.have.length(20_001)
  })
})

describe('lineAt', () => {
  it('counts characters as PostgreSQL does, from the start of the statement', () => {
    const script = '-- \u{1f600}\nselect 1;\nselect\n  nothing'
    expect(lineAt(script, 1)).to.equal(1)
    expect(lineAt(script, [...script.slice(0, script.indexOf('nothing'))].length + 1)).to.equal(4)
    const start = script.indexOf(';') + 1
    expect(lineAt(script, 2, start)).to.equal(3)
    expect(lineAt(script, '\nselect\n  '.length + 1, start)).to.equal(4)
  })
})
