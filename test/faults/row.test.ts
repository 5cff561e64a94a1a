import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { faults, noFault } from './faults.js'
import { countOf, fromJson, headings, isClean, type Row, toJson, toLine, toMarkdown, withTable } from './row.js'
import { linksOf, types } from './stage/process-types.js'

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

  it('is read from the lines that were written, and not from one that was cut off', () => {
    const read = fromJson(`${toJson(row)}\n${toJson({ ...row, fault: 'kill-sidecar', lost: 1 })}\n{"fault":"kill-w`)
    expect([...read.keys()]).to.deep.equal(['kill-web', 'kill-sidecar'])
    expect(toLine(read.get('kill-web')!)).to.equal(toLine(row))
    expect(isClean(read.get('kill-sidecar')!)).to.equal(false)
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

  it('has every kind for each process of the Procfile, which all run', () => {
    const procfile = readFileSync(new URL('../../../Procfile', import.meta.url), 'utf8')
    const processes = [...procfile.matchAll(/^([a-z-]+):/gm)].map(([, type]) => type!).filter((type) => type !== 'release')
    expect(processes).to.include.members(['webhook-delivery', 'alert-evaluation']).and.to.deep.equal(types)
    for (const type of processes) {
      const kinds = [`kill-${type}`, `kill-both-${type}`, ...[3, 10, 60].map((seconds) => `pause-${type}-${seconds}s`), `clock-${type}`]
      const links = linksOf(type).flatMap((link) => ['cut', 'half-open', 'slow'].map((kind) => `${kind}-${type}-${link}`))
      expect(links, type).to.not.deep.equal([])
      expect(names).to.include.members([...kinds, ...links])
      // A sidecar has no step that another one has to finish.
      if (type !== 'sidecar')
        expect(
          names.filter((name) => name.startsWith(`kill-${type}-`)),
          type,
        ).to.not.deep.equal([])
    }
  })

  it('has one of each kind for a quick run', () => {
    const quick = faults.filter(({ isQuick }) => isQuick).map(({ name }) => name)
    const kinds = ['pause-', 'redis-', 'postgres-', 'half-open-', 'poison-', 'release-']
    const kills = ['kill-usage-ingestion', 'kill-webhook-delivery']
    expect(quick).to.have.length(kinds.length + kills.length)
    for (const kind of [...kinds, ...kills])
      expect(
        quick.filter((name) => name.startsWith(kind)),
        kind,
      ).to.have.length(1)
  })
})
