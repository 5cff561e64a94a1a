import { expect } from 'chai'
import { Problem } from '../../../src/kernel/problem.js'
import { decodeUtf8 } from '../../../src/kernel/utf8.js'

describe('UTF-8', () => {
  it('is read as it is', () => {
    for (const text of ['', 'a', 'Zürich', '客户', '😀', '\ufffd', '\0']) expect(decodeUtf8(Buffer.from(text), 'The body')).to.equal(text)
  })
  it('is refused where it is none, instead of guessed', () => {
    for (const bytes of [[0xff], [0x61, 0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80]])
      try {
        decodeUtf8(Buffer.from(bytes), 'The body')
        throw new Error(`${bytes} was read`)
      } catch (error) {
        expect(Problem.from(error)).to.include({ code: 'INVALID_ARGUMENT', message: 'The body is not UTF-8.' })
      }
  })
})
