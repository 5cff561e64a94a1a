import { expect } from 'chai'
import { parse } from 'graphql'
import { Problem } from '../../../../../src/kernel/problem.js'
import { checkText, mayHoldBrokenText } from '../../../../../src/web/graphql/door/text.js'

const refusedPath = (variables: unknown, query = '{ a }') => {
  try {
    checkText(variables, parse(query))
    return null
  } catch (error) {
    return Problem.from(error).details.path
  }
}

describe('text that no database can hold', () => {
  const broken = ['a\0b', '\ud800', 'a\udfffb', '\udfff\ud800']
  const whole = ['', 'ä', '😀', '\u0001', 'a\\u0000b', '\uffff']

  it('is refused wherever it is in the variables, and named', () => {
    for (const text of broken) {
      expect(refusedPath({ input: { name: text } }), JSON.stringify(text)).to.equal('variables.input.name')
      expect(refusedPath({ list: ['a', { b: text }] })).to.equal('variables.list[1].b')
      expect(refusedPath({ meta: { [text]: 1 } })).to.equal('variables.meta')
    }
  })
  it('is left to the check of each item where one bad item must not stand for all', () => {
    for (const list of ['usages', 'usageEvents']) {
      expect(refusedPath({ input: { [list]: [{ customerId: 'a\0b' }] } })).to.equal(null)
      expect(refusedPath({ input: { metadata: { [list]: 'a\0b' } } })).to.equal(`variables.input.metadata.${list}`)
    }
  })
  it('is refused in the document', () => {
    expect(refusedPath({}, '{ a(b: "\\u0000") }')).to.equal('query')
    expect(refusedPath({}, '{ a(b: {c: ["x\\u{0}"]}) }')).to.equal('query')
  })
  it('is not seen where there is none', () => {
    for (const text of whole)
      expect(refusedPath({ input: { name: text, [text]: 1, n: 1, none: null, yes: true } }), JSON.stringify(text)).to.equal(null)
    expect(refusedPath(undefined)).to.equal(null)
    expect(refusedPath(null, '{ a(b: "😀") }')).to.equal(null)
  })

  it('is looked for in every body that may hold it', () => {
    for (const text of broken) expect(mayHoldBrokenText(JSON.stringify({ variables: { a: text } })), JSON.stringify(text)).to.equal(true)
    for (const literal of ['\\u0000', '\\u{0}', '\\u{000}', '\\uD800', '\\u{d800}', '\\u{0dfff}'])
      expect(mayHoldBrokenText(JSON.stringify({ query: `{ a(b: "${literal}") }` })), literal).to.equal(true)
    expect(mayHoldBrokenText('')).to.equal(true)
  })
  it('is not looked for in others', () => {
    for (const text of ['ä', '😀', '\u0001', 'u0000']) expect(mayHoldBrokenText(JSON.stringify({ a: text }))).to.equal(false)
  })
})
