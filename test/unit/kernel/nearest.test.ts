import { expect } from 'chai'
import { nearest } from '../../../src/kernel/nearest.js'

describe('the nearest known word', () => {
  const cases: [word: string, candidates: string[], found: string | null][] = [
    ['displayname', ['displayName', 'description'], 'displayName'],
    ['metr', ['meter', 'type'], 'meter'],
    ['taem', ['free', 'team', 'steam'], 'team'],
    ['abdc', ['dcab', 'xyzw'], null],
    ['limitt', ['unlimited', 'limit'], 'limit'],
    ['name', ['displayName', 'refId'], 'displayName'],
    ['id', ['displayName', 'refId'], 'refId'],
    ['z', ['a', 'b'], null],
    ['colour', ['limit', 'unlimited'], null],
    ['x', [], null],
  ]
  for (const [word, candidates, found] of cases) {
    it(`of ${word} among ${candidates.join(', ') || 'none'} is ${found}`, () => expect(nearest(word, candidates)).to.equal(found))
  }
})
