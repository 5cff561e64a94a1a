import { expect } from 'chai'
import { failuresOf, headings, noiseMb, type Row, toJson, toLine } from './row.js'

const nothing: Row = {
  attack: 'brackets',
  tried: 40,
  refused: 40,
  granted: 0,
  faults: 0,
  errorLines: 0,
  linesWithKeys: 0,
  firstError: null,
  died: 0,
  longestDelayMs: 12,
  longestStepMs: 9,
  bodyStepMs: 12,
  longestCollectionMs: 14,
  memoryBeforeMb: 200,
  memoryMostMb: 320,
  memoryAfterMb: 201,
  otherLost: 0,
  otherP50Ms: 2,
  otherP99Ms: 18.5,
  bareP99Ms: 9,
  mustBeRefused: false,
}

describe('what an attack came to', () => {
  const cases: [what: string, change: Partial<Row>, failures: string[]][] = [
    ['nothing, when the others did not notice', {}, []],
    ['nothing, when others wait up to 100 ms', { otherP99Ms: 100, bareP99Ms: 1 }, []],
    ['nothing, when they wait as long as twice at a bare server', { otherP99Ms: 300, bareP99Ms: 150 }, []],
    ['nothing, when nothing took longer than 20 ms at a time, within 4', { longestStepMs: 24 }, []],
    ['a step, when something took longer', { longestStepMs: 25 }, ['step of 25 ms, 12 a body']],
    ['nothing, when a slow machine takes as long for one body', { longestStepMs: 70, bodyStepMs: 70 }, []],
    ['a step, when something took longer than that', { longestStepMs: 71, bodyStepMs: 70 }, ['step of 71 ms, 70 a body']],
    ['slowness, when they wait longer than both', { otherP99Ms: 301, bareP99Ms: 150 }, ['slow: p99 of 301 ms, 150 bare']],
    ['loss, when one call of another was not answered', { otherLost: 1 }, ['1 calls lost']],
    ['death, whatever else was', { died: 1, memoryAfterMb: Number.NaN }, ['1 died']],
    ['nothing, when the memory is back within a tenth', { memoryAfterMb: 220 + noiseMb }, []],
    ['memory, when more is kept', { memoryAfterMb: 221 + noiseMb }, ['memory']],
    ['nothing, when it holds less than before', { memoryAfterMb: 90 }, []],
    ['a hole, when what must be refused is let through', { mustBeRefused: true, refused: 38, granted: 2 }, ['2 let through']],
    ['faults, when the platform says that it is its own', { faults: 3 }, ['3 internal errors']],
    ['noise, when bad input makes error lines', { errorLines: 2 }, ['2 error lines']],
    ['a leak, when the logs carry keys', { linesWithKeys: 1 }, ['keys in the logs']],
    ['no proof, when nothing was tried', { tried: 0, refused: 0 }, ['nothing tried']],
  ]
  for (const [what, change, failures] of cases)
    it(`is ${what}`, () => expect(failuresOf({ ...nothing, ...change })).to.deep.equal(failures))

  it('is told in the figures that programs read', () => {
    expect(JSON.parse(toJson(nothing))).to.deep.equal({
      attack: 'brackets',
      tried: 40,
      refused: 40,
      died: 0,
      longestDelayMs: 12,
      longestStepMs: 9,
      bodyStepMs: 12,
      longestCollectionMs: 14,
      memoryBeforeMb: 200,
      memoryMostMb: 320,
      memoryAfterMb: 201,
      otherP50Ms: 2,
      otherP99Ms: 18.5,
      bareP99Ms: 9,
    })
  })

  it('is told in a line under the headings', () => {
    expect(toLine(nothing)).to.match(/^brackets +40 +40 +0 +12 +9 +12 +14 +200 +320 +201 +2 +18\.5 +9 {2}ok$/)
    expect(headings().indexOf('after') + 'after'.length).to.equal(toLine(nothing).indexOf('201') + '201'.length)
  })
})
