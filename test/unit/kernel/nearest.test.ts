import { expect } from 'chai'
import {
  didYouMean,
  maxNameLength,
  maxNames,
  nearest,
  nearestName,
  Suggestions,
  shortened,
  suggestion,
} from '../../../src/kernel/nearest.js'

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
    ['ab', ['ad'], 'ad'],
    // Neighbours that are swapped are one change; letters that only look so are two.
    ['ab', ['ad', 'ba'], 'ad'],
    ['ab', ['ba'], 'ba'],
    ['ab', ['ca'], null],
    ['ab', ['bc'], null],
    // A letter before the word is a change too: of two that are as near the first is taken.
    ['abc', ['abd', 'xabc'], 'abd'],
    // What ends with the word, but not with a single letter; the first of several.
    ['d', ['refId'], null],
    ['id', ['refId', 'customerId'], 'refId'],
    // A near one is better than one that ends with it.
    ['limit', ['usageLimit', 'limits'], 'limits'],
  ]
  for (const [word, candidates, found] of cases) {
    it(`of ${word} among ${candidates.join(', ') || 'none'} is ${found}`, () => expect(nearest(word, candidates)).to.equal(found))
  }
})

describe('the nearest name of those that others chose', () => {
  it('is looked for among the first names, and the short ones', () => {
    expect(nearestName('taem', ['team'])).to.equal('team')
    const others = Array.from({ length: maxNames }, (_, index) => `${index}`)
    expect(nearestName('taem', [...others.slice(1), 'team'])).to.equal('team')
    expect(nearestName('taem', [...others, 'team'])).to.equal(null)
    const long = 'x'.repeat(maxNameLength)
    expect(nearestName(`${long.slice(1)}y`, [long])).to.equal(long)
    expect(nearestName(`${long}y`, [long])).to.equal(null)
    expect(nearestName(long, [`${long}y`])).to.equal(null)
  })

  it('is named for the first wrong names of a document, and then no more', () => {
    const suggestions = new Suggestions()
    expect(suggestions.of('taem', ['free'])).to.equal('')
    for (let wrong = 2; wrong <= 20; wrong++) expect(suggestions.of('taem', ['team'])).to.equal("; did you mean 'team'?")
    expect(suggestions.of('taem', ['team'])).to.equal('')
  })
})

describe('what is said of a wrong name', () => {
  it('is the one that was probably meant', () => {
    expect(didYouMean('team', 'see the list')).to.equal('did you mean "team"?')
    expect(didYouMean(null, 'see the list')).to.equal('see the list')
    expect(suggestion('taem', ['team'])).to.equal("; did you mean 'team'?")
    expect(suggestion('taem', ['free'])).to.equal('')
  })

  it('has its beginning when it is long', () => {
    expect(shortened('x'.repeat(80))).to.equal('x'.repeat(80))
    expect(shortened('x'.repeat(81))).to.equal(`${'x'.repeat(80)}…`)
  })
})
