import { expect } from 'chai'
import { faults, noFault } from './faults.js'
import { countOf, headings, isClean, type Row, toJson, toLine, toMarkdown, withTable } from './row.js'

const row: Row = {
  fault: 'kill-web',
  seconds: 10,
  acknowledged: 700,
  refused: 20,
  unknown: 30,
  lost: 0,
  doubled: 0,
  wrong: 0,
  quietWorstMs: 123,
  recoverSeconds: 2.5,
  recoveredLast: 'web-1',
  findings: [],
}

describe('a row of faults', () => {
  it('is clean when nothing was lost, doubled or wrong', () => {
    expect(isClean(row)).to.equal(true)
    for (const name of ['lost', 'doubled', 'wrong'] as const) expect(isClean({ ...row, [name]: 1 }), name).to.equal(false)
  })

  it('counts its findings by kind', () => {
    const findings = [
      { kind: 'lost', what: 'a', count: 2 },
      { kind: 'wrong', what: 'b', count: 1 },
      { kind: 'lost', what: 'c', count: 3 },
    ] as const
    expect([countOf(findings, 'lost'), countOf(findings, 'doubled'), countOf(findings, 'wrong')]).to.deep.equal([5, 0, 1])
  })

  it('is JSON with the figures that others read, and nothing else', () => {
    expect(toJson(row)).to.equal(
      '{"fault":"kill-web","seconds":10,"acknowledged":700,"refused":20,"unknown":30,"lost":0,"doubled":0,"wrong":0,"quietWorstMs":123,"recoverSeconds":2.5}',
    )
  })

  it('is as wide as its headings, and a line of a table in Markdown', () => {
    expect(toLine(row).length).to.equal(headings().length)
    expect(toLine(row)).to.match(/^kill-web +10 +75 +700 +20 +30 +0 +0 +0 +123 +2.5$/)
    const [heading, rule, line] = toMarkdown([row]).split('\n')
    expect(heading).to.match(/^\| fault \| seconds \|/)
    expect(rule).to.match(/^\| --- \| ---: \|/)
    expect(line).to.equal('| kill-web | 10 | 75 | 700 | 20 | 30 | 0 | 0 | 0 | 123 | 2.5 |')
  })
})

describe('a page with the table of faults', () => {
  it('has the new one in the place of the old one, and the rest as it was', () => {
    const page = '# Page\n\n<!-- the table: a command -->\n\n| old |\n\n<!-- end of the table -->\n\nMore.\n'
    const filled = withTable(page, '| $1 |')
    expect(filled).to.equal('# Page\n\n<!-- the table: a command -->\n\n| $1 |\n\n<!-- end of the table -->\n\nMore.\n')
    expect(withTable(filled, '| b |')).to.include('| b |').and.not.include('| $1 |')
  })

  it('is the table alone where there was none', () => {
    expect(withTable('', '| a |')).to.equal('| a |\n')
  })
})

describe('the list of faults', () => {
  const names = faults.map(({ name }) => name)

  it('has at least a hundred, each under a name of its own', () => {
    expect(names.length).to.be.at.least(100)
    expect(new Set([...names, noFault.name]).size).to.equal(names.length + 1)
    for (const name of names) expect(name.length, name).to.be.below(48)
  })

  it('has one of each kind for a quick run', () => {
    const quick = faults.filter(({ isQuick }) => isQuick).map(({ name }) => name)
    expect(quick).to.have.length(7)
    for (const kind of ['kill-', 'pause-', 'redis-', 'postgres-', 'half-open-', 'poison-', 'release-'])
      expect(
        quick.filter((name) => name.startsWith(kind)),
        kind,
      ).to.have.length(1)
  })
})
