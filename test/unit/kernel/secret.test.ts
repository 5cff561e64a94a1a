import { inspect } from 'node:util'
import { expect } from 'chai'
import { Secret } from '../../../src/kernel/secret.js'

describe('a secret', () => {
  it('is revealed to who asks for it', () => {
    expect(new Secret('sk_live_123456789').reveal()).to.equal('sk_live_123456789')
  })

  for (const [value, shown] of [
    ['sk_live_123456789', '****6789'],
    ['123456789', '****6789'],
    // So little of it would be hidden that nothing is shown.
    ['12345678', '****'],
    ['', '****'],
  ] as const)
    it(`of ${value.length} characters is ${shown} wherever it is printed`, () => {
      const secret = new Secret(value)
      expect(`${secret}`).to.equal(shown)
      expect(JSON.stringify({ secret })).to.equal(JSON.stringify({ secret: shown }))
      expect(inspect({ secret })).to.equal(`{ secret: ${shown} }`)
    })
})
