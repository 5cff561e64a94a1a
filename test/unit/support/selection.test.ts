import { expect } from 'chai'
import { compiledFile, lanesOf, needServices, parseArguments, selectFiles, sourceFile } from '../../support/selection.js'

const sources = ['unit/kernel/decimal.test.ts', 'unit/local/procfile.test.ts', 'integration/local/redis.test.ts', 'support/run.ts']

describe('support/selection', () => {
  it('takes paths first and leaves everything from the first option on to mocha', () => {
    expect(parseArguments(['unit', './test/integration/local/', '--grep', 'unit', '--bail'])).to.deep.equal({
      filters: ['unit', 'integration/local'],
      mochaArguments: ['--grep', 'unit', '--bail'],
    })
  })

  for (const [title, filters, expected] of [
    ['everything', [], ['integration/local/redis.test.ts', 'unit/kernel/decimal.test.ts', 'unit/local/procfile.test.ts']],
    ['a folder', ['unit'], ['unit/kernel/decimal.test.ts', 'unit/local/procfile.test.ts']],
    ['a source file', ['test/unit/kernel/decimal.test.ts'], ['unit/kernel/decimal.test.ts']],
    ['a compiled file', ['dist/test/unit/kernel/decimal.test.js'], ['unit/kernel/decimal.test.ts']],
    ['nothing that exists', ['e2e'], []],
  ] as const)
    it(`selects ${title}`, () => {
      expect(selectFiles(sources, parseArguments(filters).filters)).to.deep.equal(expected)
    })

  it('starts services only for tests that are not unit tests', () => {
    expect(needServices(['unit/kernel/decimal.test.ts'])).to.equal(false)
    expect(needServices(['unit/kernel/decimal.test.ts', 'integration/local/redis.test.ts'])).to.equal(true)
  })

  it('has tests of records run beside the others, each test once', () => {
    expect(
      lanesOf(['e2e/story.test.ts', 'integration/billing/a.test.ts', 'integration/metering/c.test.ts', 'unit/b.test.ts']),
    ).to.deep.equal([['integration/metering/c.test.ts'], ['e2e/story.test.ts', 'unit/b.test.ts'], ['integration/billing/a.test.ts']])
    expect(lanesOf(['e2e/story.test.ts'])).to.deep.equal([['e2e/story.test.ts']])
  })

  it('finds the compiled test, and its source', () => {
    expect(compiledFile('/project', 'unit/a.test.ts')).to.equal('/project/dist/test/unit/a.test.js')
    expect(sourceFile('/project', '/project/dist/test/unit/a.test.js')).to.equal('unit/a.test.ts')
  })
})
