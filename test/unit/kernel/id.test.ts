import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { checkRefId, identifierFault, newId } from '../../../src/kernel/id.js'
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

  it('counts halves of characters as characters, wherever they stand', () => {
    const [whole, high, low] = ['😀', '\ud83d', '\ude00'] as const
    for (const odd of [high, low, low + high, high + high, low + low, high + high + low])
      for (const rest of [252, 253, 254, 255])
        for (const value of [odd + whole.repeat(rest), whole.repeat(rest) + odd]) {
          const isLong = [...value].length > 255
          expect(identifierFault(value), `${JSON.stringify(odd)} and ${rest}`).to.match(
            isLong ? /^has \d+ characters/ : /control character/,
          )
        }
  })

  it('makes identifiers that grow with time', () => {
    const ids = Array.from({ length: 100 }, newId)
    expect([...ids].sort()).to.deep.equal(ids)
  })

  it('makes each identifier of its own chance, and of the time', () => {
    const before = Date.now()
    const ids = Array.from({ length: 1_000 }, newId)
    expect(new Set(ids.map((id) => id.slice(-12))).size).to.equal(1_000)
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const madeAt = Number.parseInt(ids.at(-1)!.replace('-', '').slice(0, 12), 16)
    expect(madeAt).to.be.within(before, Date.now())
  })

  it('names the field to programs, and says what is wrong with a blank one by its length', () => {
    for (const [value, fault] of [
      [' '.repeat(255), 'must not be empty'],
      [' '.repeat(256), 'has 256 characters'],
      ['\u0007', 'control character'],
    ] as const)
      expect(() => checkRefId(value, 'customerId'))
        .to.throw(Problem, fault)
        .with.property('details')
        .that.deep.equals({ field: 'customerId' })
  })
})
