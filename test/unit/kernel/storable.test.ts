import { expect } from 'chai'
import { isStorableText } from '../../../src/kernel/storable.js'

describe('text that can be stored', () => {
  it('has any whole characters', () => {
    for (const text of ['', 'team', 'ü', '\u{1f600}', '\u0001\t\n', '\ufffd'])
      expect(isStorableText(text), JSON.stringify(text)).to.equal(true)
  })

  it('has no U+0000, and no half of a character', () => {
    for (const text of ['\0', 'a\0b', '\ud83d', '\ude00', 'a\ud83db', '\ude00\ud83d'])
      expect(isStorableText(text), JSON.stringify(text)).to.equal(false)
  })
})
