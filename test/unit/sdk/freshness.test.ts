import { expect } from 'chai'
import { Problem } from '../../../src/kernel/problem.js'
import { checkFreshness } from '../../../src/sdk/freshness.js'
import type { Freshness } from '../../../src/sdk/types.js'

const refused = (freshness: object) => {
  try {
    checkFreshness(freshness as Freshness)
    return null
  } catch (error) {
    return Problem.from(error).details.path
  }
}

describe('how fresh an answer has to be', () => {
  it('is said by a word and an age, by either, or not at all', () => {
    for (const freshness of [{}, { consistency: 'strong' }, { consistency: 'cached', maxStalenessMs: 0 }, { maxStalenessMs: 0.5 }])
      expect(refused(freshness), JSON.stringify(freshness)).to.equal(null)
  })

  it('is not guessed from anything else', () => {
    for (const consistency of ['STRONG', '', null, true]) expect(refused({ consistency }), String(consistency)).to.equal('consistency')
    for (const maxStalenessMs of [-1, Number.NaN, '5', null, Symbol.iterator])
      expect(refused({ maxStalenessMs }), String(maxStalenessMs)).to.equal('maxStalenessMs')
  })
})
