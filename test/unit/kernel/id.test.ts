import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { checkRefId, newId } from '../../../src/kernel/id.js'
import { Problem } from '../../../src/kernel/problem.js'

const cases: { identifiers: string[]; acceptedIdentifiers: string[] } = JSON.parse(readFileSync('test/cases/refused.json', 'utf8'))
/** The cases write a long identifier as "x repeated 256 times". */
const written = (text: string): string => text.replace(/^x repeated (\d+) times$/, (_, times) => 'x'.repeat(Number(times)))

describe('id', () => {
  for (const identifier of [...cases.identifiers, 'a\ufffdb']) {
    it(`refuses ${JSON.stringify(identifier)} and names the field`, () => {
      expect(() => checkRefId(written(identifier), 'customerId'))
        .to.throw(Problem, 'customerId')
        .with.property('code', 'INVALID_ARGUMENT')
    })
  }

  for (const identifier of cases.acceptedIdentifiers) {
    it(`takes ${JSON.stringify(identifier)} as it is`, () => {
      expect(checkRefId(written(identifier), 'customerId')).to.equal(written(identifier))
    })
  }

  it('counts characters, not UTF-16 units', () => {
    expect(() => checkRefId('😀'.repeat(256), 'customerId')).to.throw('255')
    expect(checkRefId('😀'.repeat(255), 'customerId')).to.have.length(510)
  })

  it('makes identifiers that grow with time', () => {
    const ids = Array.from({ length: 100 }, newId)
    expect([...ids].sort()).to.deep.equal(ids)
  })
})
