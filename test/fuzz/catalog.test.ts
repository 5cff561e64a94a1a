import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { Problem } from '../../src/kernel/problem.js'
import { packageRoot } from '../../src/web/pages/package-files.js'
import { type FrontDoor, openFrontDoor } from '../integration/web/front-door.js'
import { documents } from '../unit/catalog/arbitrary.js'
import { holds, timeoutOf } from './fuzz.js'
import { json, nearly, nearlyText, text, written } from './values.js'
import { expectNothingInternal, expectQuiet, soon, watchedLog } from './watch.js'

const exampleText = readFileSync(join(packageRoot, 'src/local/example-catalog.yaml'), 'utf8')
const example = parse(exampleText) as unknown

describe('catalog documents that nobody should write', () => {
  const { log, lines } = watchedLog()
  let door: FrontDoor

  before(async function () {
    this.timeout(30_000)
    door = await openFrontDoor({ log })
  })
  afterEach(async () => {
    // Nothing has changed, and what is right still is.
    expect(await door.app.catalog.apply(door.environmentId, example, { dryRun: true, archiveMissing: true })).to.deep.equal([])
  })
  after(async () => expect(await door.close()).to.deep.equal([]))

  async function tryOut(input: unknown, archiveMissing: boolean): Promise<void> {
    const about = typeof input === 'string' ? input : JSON.stringify(input)
    const applied = door.app.catalog.apply(door.environmentId, input, { dryRun: true, archiveMissing })
    await soon(about, applied).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw new Error(`${about.slice(0, 4_000)} throws`, { cause: error })
      expect(error.code, about).to.equal('INVALID_ARGUMENT')
      const told = [error.message, JSON.stringify(error.details)].join(' ')
      expectNothingInternal(told.replaceAll(/\\?"(?:[^"\\]|\\.)*\\?"/g, ''), `${about.slice(0, 2_000)}\n${told.slice(0, 2_000)}`)
    })
    expectQuiet(lines, about)
  }

  const values = fc.oneof(
    { arbitrary: nearly([example]), weight: 4 },
    { arbitrary: documents.chain((document) => nearly([document])), weight: 4 },
    { arbitrary: json, weight: 1 },
  )

  it('as values are refused with what is wrong', async () => {
    await holds(25, fc.tuple(values, fc.boolean()), ([value, archiveMissing]) => tryOut(JSON.parse(written(value)), archiveMissing))
  }).timeout(timeoutOf(25))

  it('as YAML or JSON text are refused with what is wrong', async () => {
    const anchors = fc.constantFrom(
      'a: &a [*a]',
      'a: &a [1]\nb: [*a, *a]',
      '<<: {a: 1}',
      '? {a: 1}\n: 2',
      '!!binary x',
      '!!set {a, b}',
      '--- a\n--- b',
      '%YAML 9.9\n---',
      '- - - - -',
      '{'.repeat(2_000),
      '[a: '.repeat(500),
      '"\\ud800"',
      'plans: !!float .nan',
      'plans: [0x7fffffffffffffffffff, .inf, 1_000, 0o7]',
      '? [a]\n: b',
    )
    const texts = fc.oneof(
      {
        arbitrary: nearlyText(
          fc.oneof(
            fc.constant(exampleText),
            documents.map((document) => stringify(document)),
            values.map(written),
          ),
        ),
        weight: 6,
      },
      { arbitrary: fc.tuple(anchors, fc.constantFrom('', exampleText)).map((parts) => parts.join('\n')), weight: 1 },
      { arbitrary: fc.oneof(anchors, text), weight: 1 },
    )
    await holds(20, fc.tuple(texts, fc.boolean()), ([given, archiveMissing]) => tryOut(given, archiveMissing))
  }).timeout(timeoutOf(20))
})
