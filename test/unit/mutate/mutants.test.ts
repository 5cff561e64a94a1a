import { expect } from 'chai'
import { isNoticed, type Mutant, nameOf, resultOf, scoreOf } from '../../mutate/mutants.js'
import { selectRooms } from '../../mutate/rooms.js'

const code = `function isOver(used, limit) {
    if (used > limit)
        return 'OVER';
    return null;
}`
const at = (startLine: number, startColumn: number, endLine: number, endColumn: number) => ({
  start: { line: startLine, column: startColumn },
  end: { line: endLine, column: endColumn },
})

describe('a mutant', () => {
  it('is called by what stands where, and what it becomes, wherever lines move', () => {
    const change = { location: at(2, 9, 2, 21), mutatorName: 'EqualityOperator', replacement: 'used >= limit' }
    const name = 'EqualityOperator: used > limit → used >= limit in if (used > limit)'
    expect(nameOf(change, code)).to.equal(name)
    expect(nameOf({ ...change, location: at(4, 9, 4, 21) }, `\n\n${code}`)).to.equal(name)
  })

  it('of several lines is called in one, by its beginning', () => {
    const change = { location: at(1, 30, 5, 2), mutatorName: 'BlockStatement', replacement: '{}' }
    expect(nameOf(change, code)).to.equal(
      "BlockStatement: { if (used > limit) return 'OVER'; return null; } → {} in function isOver(used, limit) {",
    )
    const long = `const all = [${'1, '.repeat(100)}]`
    expect(
      nameOf({ location: at(1, 13, 1, long.length + 1), mutatorName: 'ArrayDeclaration', replacement: '[]' }, long),
    ).to.have.length.below(250)
  })

  it('is noticed by a test that fails, or does not end', () => {
    const name = "StringLiteral: 'OVER' → \"\" in return 'OVER';"
    for (const status of ['Killed', 'Timeout'] as const) expect(isNoticed({ status }, name)).to.equal(true)
    for (const status of ['Survived', 'NoCoverage'] as const) expect(isNoticed({ status }, name)).to.equal(false)
    for (const status of ['Ignored', 'CompileError', 'RuntimeError'] as const) expect(isNoticed({ status }, name)).to.equal(null)
  })

  it('of words for people needs to be noticed by none', () => {
    for (const text of ["'no such feature'", '`The customer was not found`'])
      expect(isNoticed({ status: 'Survived' }, `StringLiteral: ${text} → "" in throw`)).to.equal(null)
    for (const text of ["'NOT_FOUND'", "''", "' '", '`:changes`'])
      expect(isNoticed({ status: 'Survived' }, `StringLiteral: ${text} → "" in throw new Problem('no such thing')`)).to.equal(false)
  })
})

describe('what became of a room', () => {
  const mutant = (name: string, isNoticed: boolean, isTimedOut = false): Mutant => ({
    file: 'src/kernel/id.ts',
    line: 1,
    name,
    isNoticed,
    isTimedOut,
  })
  const mutants = [mutant('a', true), mutant('b', false), mutant('c', false), mutant('d', true, true)]

  it('tells survivors that the list explains from those that it does not, and what it explains without need', () => {
    const list = { 'src/kernel/id.ts': { b: 'why', d: 'why' }, 'src/kernel/money.ts': { b: 'why' }, 'src/other.ts': { e: 'why' } }
    expect(resultOf('src/kernel', ['src/kernel/id.ts', 'src/kernel/money.ts'], mutants, list)).to.deep.equal({
      room: 'src/kernel',
      mutants: 4,
      noticed: 2,
      timedOut: 1,
      expected: 1,
      unexpected: [mutant('c', false)],
      outdated: ['src/kernel/id.ts: d', 'src/kernel/money.ts: b'],
    })
  })

  it('counts what the list explains as not noticed all the same', () => {
    expect(scoreOf({ mutants: 4, noticed: 2 })).to.equal(50)
    expect(scoreOf({ mutants: 0, noticed: 0 })).to.equal(100)
  })
})

describe('the rooms that are named', () => {
  const named = (...paths: string[]) => selectRooms(paths).map(({ name, files }) => (files ? [name, ...files] : name))

  it('are all, those in a folder, one, or a file of one', () => {
    expect(named()).to.include.members(['src/kernel', 'src/billing/rules', 'src/reader/states'])
    expect(named('src/catalog')).to.deep.equal(['src/catalog/model', 'src/catalog/document'])
    expect(named('src/billing/rules')).to.deep.equal(['src/billing/rules'])
    expect(named('src/kernel/id.ts', 'src/kernel/money.ts')).to.deep.equal([['src/kernel', 'id.ts', 'money.ts']])
  })

  it('are none of what does more than compute', () => {
    expect(named('src/billing/records', 'src/web', 'src/reader/api/client.ts', 'src/kern')).to.deep.equal([])
    expect(named('src/reader/api')).to.deep.equal([['src/reader/api', 'clock.ts', 'outage.ts']])
  })
})
