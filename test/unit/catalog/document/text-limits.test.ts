import { expect } from 'chai'
import { parseCatalogText } from '../../../../src/catalog/document/parse.js'
import { maxCatalogBytes, maxCatalogDepth, textFault } from '../../../../src/catalog/document/text-limits.js'

const options = { current: null, archiveMissing: false }
const problemOf = (text: string) => {
  const read = parseCatalogText(text, options)
  return 'problems' in read ? read.problems[0]!.message : null
}

describe('the text of a catalog', () => {
  const isDeep = `nests deeper than ${maxCatalogDepth} levels`

  it('is refused at one look where the library would take long', () => {
    const start = performance.now()
    for (const text of ['['.repeat(200_000), '{'.repeat(200_000), '- '.repeat(200_000), '? '.repeat(200_000), `a: ${'[{'.repeat(60)}`])
      expect(problemOf(text), text.slice(0, 10)).to.equal(isDeep)
    expect(problemOf('x'.repeat(maxCatalogBytes + 1))).to.include(`more than ${maxCatalogBytes} bytes`)
    expect(problemOf('ä'.repeat(maxCatalogBytes / 2 + 1))).to.include(`more than ${maxCatalogBytes} bytes`)
    expect(performance.now() - start).to.be.below(1_000)
  })
  it('may be as deep and long as a catalog is', () => {
    const plans = Array.from({ length: 500 }, (_, n) => `  - { refId: p${n}, product: cloud, entitlements: [{ feature: a, limit: 1 }] }`)
    expect(textFault(['plans:', ...plans].join('\n'))).to.equal(null)
    expect(textFault(`description: "${':['.repeat(90)}"`)).to.equal(null)
    expect(textFault('- a\n'.repeat(10_000))).to.equal(null)
  })
  it('is measured as what its aliases make of it', () => {
    const nested = `a: &a ${'['.repeat(20)}${']'.repeat(20)}\nb: ${'['.repeat(20)}*a${']'.repeat(20)}`
    expect(problemOf(nested)).to.equal(isDeep)
    expect(problemOf(`a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(20)}]`)).to.include('bytes')
  })
})
